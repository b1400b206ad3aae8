// How long work shares the event loop: a few milliseconds at a time, and between two of them a turn of the loop in which
// other requests come in. Long work takes its turns here, or ten listings at once would stop the router together; what does
// not is named in docs/architecture.md.

import type { Steps } from '../lib/steps.ts';

/** Work in one turn of the event loop, all tasks together. */
const TURN_MS = 5;

export class Turns {
  readonly #monotonicMs: () => number;
  /** In the order of their coming, at most one for each request under way. */
  readonly #waiting: (() => void)[] = [];
  #turnEndsMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** The outcome of `steps`, taken turn by turn; at once where the first is the last. */
  complete<Value>(steps: Steps<Value>): Value | Promise<Value> {
    const first = steps.next();
    return first.done === true ? first.value : this.#goOn(steps);
  }

  async #goOn<Value>(steps: Steps<Value>): Promise<Value> {
    for (;;) {
      await this.pause();
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** To be awaited between two pieces of work: resolves at once while the turn has time left, else in a turn to come. */
  async pause(): Promise<void> {
    if (this.#monotonicMs() < this.#turnEndsMs) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#callNext();
    });
  }

  /** By a timer, since nothing less lets requests in: promises never do, nor do Deno's immediates and Bun's messages. */
  #callNext(): void {
    setTimeout(() => {
      this.#turnEndsMs = this.#monotonicMs() + TURN_MS;
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#callNext();
    }, 0);
  }
}
