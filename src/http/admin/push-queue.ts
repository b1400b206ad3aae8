// Pushes one after another, in the order in which their bodies were complete: two at once would take twice the memory,
// and each is accepted or refused as if the ones before it had come earlier.

/** Pushes under way, the one that is read included. */
export const PUSHES_MAX = 64;
/** Bytes of all their bodies: four of the largest. */
export const PUSHED_BYTES_MAX = 64 * 1024 * 1024;

export class PushQueue {
  #last: Promise<unknown> = Promise.resolve();
  #pushes = 0;
  #bytes = 0;

  /** What `read` makes of a push with a body of `bytes`, once all before it are done; undefined when too many are. */
  async run<Outcome>(bytes: number, read: () => Promise<Outcome>): Promise<Outcome | undefined> {
    if (this.#pushes === PUSHES_MAX || this.#bytes + bytes > PUSHED_BYTES_MAX) return undefined;
    this.#pushes += 1;
    this.#bytes += bytes;
    const turn = this.#last.then(read);
    // One that throws holds up none that follow.
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#pushes -= 1;
      this.#bytes -= bytes;
    }
  }
}
