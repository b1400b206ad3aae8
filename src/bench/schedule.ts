// When the requests of a fixed rate are due. They are due whether or not the ones before them were answered: a client that
// waits for an answer before it asks again would leave out the very requests that a stall delays (coordinated omission).

export class Schedule {
  readonly #periodMs: number;
  readonly #total: number;
  #released = 0;

  /** `perSecond` requests a second for `durationMs`, the first one at 0; at least one. */
  constructor(perSecond: number, durationMs: number) {
    this.#periodMs = 1_000 / perSecond;
    this.#total = Math.max(1, Math.floor((perSecond * durationMs) / 1_000));
  }

  get total(): number {
    return this.#total;
  }

  get isOver(): boolean {
    return this.#released === this.#total;
  }

  /** When the next request was or will be due, in ms since the start; undefined after the last. */
  nextDueMs(): number | undefined {
    return this.isOver ? undefined : this.#released * this.#periodMs;
  }

  /** Takes the next request if it is due at `nowMs`, and says since when it is. */
  take(nowMs: number): number | undefined {
    const dueMs = this.nextDueMs();
    if (dueMs === undefined || dueMs > nowMs) return undefined;
    this.#released += 1;
    return dueMs;
  }
}
