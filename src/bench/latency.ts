// Latencies of many requests in a few numbers.

/** Milliseconds; of nothing measured, all are 0. */
export interface Latencies {
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

/** Sorts `samplesMs` in place. */
export function summarize(samplesMs: Float64Array): Latencies {
  samplesMs.sort();
  const at = (share: number) => percentile(samplesMs, share);
  return { p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99), p999Ms: at(0.999), maxMs: at(1) };
}

/** The smallest sample that at least `share` of all, 0 to 1, do not exceed (nearest rank); 0 of none. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[rank - 1] ?? 0;
}

/** Samples as they come, as many as memory for them was set aside: later ones are counted by nobody. */
export class Samples {
  readonly #values: Float64Array<ArrayBuffer>;
  #count = 0;

  constructor(max: number) {
    this.#values = new Float64Array(max);
  }

  add(value: number): void {
    if (this.#count === this.#values.length) return;
    this.#values[this.#count] = value;
    this.#count += 1;
  }

  /** A view of what there is. */
  get values(): Float64Array {
    return this.#values.subarray(0, this.#count);
  }
}
