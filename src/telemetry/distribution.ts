// How observed values are spread over the buckets of a histogram.

export class Distribution {
  readonly #bounds: readonly number[];
  /** One for each bound; what lies beyond the last is in `count` alone. */
  readonly #inBucket: number[];
  #count = 0;
  #sum = 0;

  /** Upper bounds, inclusive, ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#inBucket = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.#count += 1;
    this.#sum += value;
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    if (bucket >= 0) this.#inBucket[bucket] = (this.#inBucket[bucket] ?? 0) + 1;
  }

  get count(): number {
    return this.#count;
  }

  get sum(): number {
    return this.#sum;
  }

  /** Each bound with how many values are no larger. */
  get cumulated(): readonly (readonly [bound: number, count: number])[] {
    let total = 0;
    return this.#bounds.map((bound, index) => {
      total += this.#inBucket[index] ?? 0;
      return [bound, total] as const;
    });
  }
}
