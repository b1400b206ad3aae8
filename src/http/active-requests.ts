// How many requests are under way, from head to last byte, as the metric and the log of a shutdown tell it.

export class ActiveRequests {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
  }
}
