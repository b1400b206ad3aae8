// Work too long for one go, as steps: a core room decides where it can pause, and whoever drives it decides what happens
// meanwhile. So long work stops nobody else, and the core knows no timer.

/** Can pause at each `yield`, which it reaches every few milliseconds at most; what it returns is the outcome. */
export type Steps<Value> = Generator<undefined, Value, undefined>;

/** All the steps in one go: for work that is known to be short. */
export function complete<Value>(steps: Steps<Value>): Value {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}
