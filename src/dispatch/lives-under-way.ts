// The requests that are being dispatched, for the end of a shutdown. Apart from their lives, so that one listener stands
// for all of them: a signal searches its listeners each time that one comes or goes.

import type { Cut } from './request-life.ts';

/** What can be ended early. */
interface Cuttable {
  cutShort(cut: Cut): void;
}

export class LivesUnderWay {
  readonly #graceOver: AbortSignal;
  readonly #lives = new Set<Cuttable>();

  /** `graceOver`: aborted when the grace of a shutdown is over (E13). */
  constructor(graceOver: AbortSignal) {
    this.#graceOver = graceOver;
    graceOver.addEventListener('abort', () => {
      for (const life of this.#lives) life.cutShort('shutdown');
    });
  }

  get count(): number {
    return this.#lives.size;
  }

  /** Cut at once when the grace is over already. */
  add(life: Cuttable): void {
    this.#lives.add(life);
    if (this.#graceOver.aborted) life.cutShort('shutdown');
  }

  /** It is over. */
  delete(life: Cuttable): void {
    this.#lives.delete(life);
  }
}
