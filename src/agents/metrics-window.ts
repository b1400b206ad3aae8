// The last readings of one engine, so that its latencies are over half a minute: one scrape sees too few requests for a
// percentile, and the totals since the engine's start hide what happens now.

import { type EngineMetrics, type EngineReading, isRestarted, metricsBetween } from './engine-metrics.ts';

/** Latencies are over at most this time. */
export const WINDOW_MS = 30_000;
/** Between two readings that are kept, so that a window holds seven and not sixty. */
const STEP_MS = 5_000;

export interface TakenMetrics {
  readonly metrics: EngineMetrics;
  /** On the monotonic clock: whoever uses the metrics decides when they are too old. */
  readonly takenMs: number;
}

interface Taken {
  readonly reading: EngineReading;
  readonly takenMs: number;
}

export class MetricsWindow {
  /** Starts of windows, oldest first. */
  #starts: readonly Taken[] = [];
  #lastReading: EngineReading | undefined;
  #latest: TakenMetrics | undefined;

  /** Undefined before the first reading. */
  get latest(): TakenMetrics | undefined {
    return this.#latest;
  }

  /** `takenMs` never goes back. */
  add(reading: EngineReading, takenMs: number): void {
    const last = this.#lastReading;
    const isNewEngine = last !== undefined && isRestarted(last, reading);
    const starts = isNewEngine ? [] : this.#starts.filter((start) => takenMs - start.takenMs <= WINDOW_MS);
    this.#latest = { metrics: metricsBetween(starts[0]?.reading ?? reading, reading), takenMs };
    const isDue = takenMs - (starts.at(-1)?.takenMs ?? Number.NEGATIVE_INFINITY) >= STEP_MS;
    this.#starts = isDue ? [...starts, { reading, takenMs }] : starts;
    this.#lastReading = reading;
  }
}
