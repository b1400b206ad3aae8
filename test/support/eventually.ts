// Waits for a state that no line or event announces: looks again and again until it is there, up to a deadline.

const PERIOD_MS = 15;

/**
 * The first value of `look` that is not undefined. Rejects with `what` in the message after `deadlineMs`; an error of
 * `look` counts as "not yet" and is told then.
 */
export async function eventually<Value>(
  what: string,
  look: () => Promise<Value | undefined> | Value | undefined,
  deadlineMs = 5000,
): Promise<Value> {
  const endMs = performance.now() + deadlineMs;
  for (let fault: unknown; ; ) {
    try {
      const value = await look();
      if (value !== undefined) return value;
      fault = undefined;
    } catch (error) {
      fault = error;
    }
    if (performance.now() > endMs) throw new Error(`Not within ${deadlineMs} ms: ${what}`, { cause: fault });
    await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
  }
}
