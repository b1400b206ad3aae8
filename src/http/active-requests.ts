// How many requests are under way, from head to last byte: for the metric, and for a shutdown that ends as soon as
// nothing runs. The runtime's own stop would wait for every idle connection that a client keeps.

export class ActiveRequests {
  #count = 0;
  #onNone: (() => void)[] = [];

  get count(): number {
    return this.#count;
  }

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) for (const resolve of this.#onNone.splice(0)) resolve();
  }

  /** Resolves when none is under way, at once if so. */
  whenNone(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onNone.push(resolve));
  }
}
