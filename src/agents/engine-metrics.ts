// An engine's figures in the router's units, whatever the engine calls them, and what two readings of its counters say
// of the time between them.

/** How long something took, so far: the totals of a histogram over all its series. */
export interface LatencyTotals {
  readonly sumSeconds: number;
  readonly count: number;
  /** Cumulative counts by upper bound in seconds, `Infinity` among them; empty when the engine tells none. */
  readonly buckets: ReadonlyMap<number, number>;
}

/** What holds at the moment of a reading; undefined is what the engine does not tell. */
interface Gauges {
  /** Share of the KV cache in use, 0 to 1; the mean of the ranks. */
  readonly kvCacheUse: number | undefined;
  /** Requests in the engine's batch; the sum of the ranks. */
  readonly runningRequests: number | undefined;
  /** Requests that wait inside the engine; the sum of the ranks. */
  readonly waitingRequests: number | undefined;
  /** Requests that lost their KV cache and had to begin again, since the engine's start; the sum of the ranks. */
  readonly preemptionsTotal: number | undefined;
  /** Tokens a second, as the engine measures them itself. */
  readonly generatedTokensPerSecond: number | undefined;
  readonly promptTokensPerSecond: number | undefined;
}

/** One reading, its latencies still as totals since the engine's start. */
export interface EngineReading extends Gauges {
  readonly ttft: LatencyTotals | undefined;
  readonly itl: LatencyTotals | undefined;
}

/** Latencies are over the time between two readings, and undefined when nothing was observed in it. */
export interface EngineMetrics extends Gauges {
  /** Time to first token: the mean, and what nine of ten requests stay below. */
  readonly ttftMs: number | undefined;
  readonly ttftP90Ms: number | undefined;
  /** Time between two tokens. */
  readonly itlMs: number | undefined;
  readonly itlP90Ms: number | undefined;
}

export function metricsBetween(earlier: EngineReading, later: EngineReading): EngineMetrics {
  const { ttft, itl, ...gauges } = later;
  const ttftOver = latencyBetween(earlier.ttft, ttft);
  const itlOver = latencyBetween(earlier.itl, itl);
  return {
    ...gauges,
    ttftMs: ttftOver?.meanMs,
    ttftP90Ms: ttftOver?.p90Ms,
    itlMs: itlOver?.meanMs,
    itlP90Ms: itlOver?.p90Ms,
  };
}

/** Whether a counter went back: the engine was restarted, and both readings have nothing to do with each other. */
export function isRestarted(earlier: EngineReading, later: EngineReading): boolean {
  return hasShrunk(earlier.ttft, later.ttft) || hasShrunk(earlier.itl, later.itl);
}

function hasShrunk(earlier: LatencyTotals | undefined, later: LatencyTotals | undefined): boolean {
  if (earlier === undefined || later === undefined) return false;
  return later.count < earlier.count || later.sumSeconds < earlier.sumSeconds;
}

interface Latency {
  readonly meanMs: number;
  readonly p90Ms: number | undefined;
}

/** A histogram with labels is not told before its first observation: until then nothing was observed. */
const NOTHING: LatencyTotals = { sumSeconds: 0, count: 0, buckets: new Map() };

function latencyBetween(earlier = NOTHING, later = NOTHING): Latency | undefined {
  const count = later.count - earlier.count;
  if (count <= 0) return undefined;
  const buckets = [...later.buckets].map(
    ([bound, total]) => [bound, total - (earlier.buckets.get(bound) ?? 0)] as const,
  );
  const p90Seconds = quantile(0.9, buckets);
  return {
    meanMs: ((later.sumSeconds - earlier.sumSeconds) / count) * 1000,
    p90Ms: p90Seconds === undefined ? undefined : p90Seconds * 1000,
  };
}

/**
 * As PromQL's `histogram_quantile` (routing.md §10): linear within a bucket, the first one from 0, and beyond the last
 * finite bound that bound. Undefined without observations or finite bounds.
 */
function quantile(
  share: number,
  buckets: readonly (readonly [bound: number, cumulative: number])[],
): number | undefined {
  const sorted = buckets.toSorted(([a], [b]) => a - b);
  const rank = share * (sorted.at(-1)?.[1] ?? 0);
  if (rank <= 0) return undefined;
  let [lowerBound, lowerCount] = [0, 0];
  for (const [bound, cumulative] of sorted) {
    if (!Number.isFinite(bound)) break;
    if (cumulative >= rank)
      return lowerBound + ((bound - lowerBound) * (rank - lowerCount)) / (cumulative - lowerCount);
    [lowerBound, lowerCount] = [bound, Math.max(lowerCount, cumulative)];
  }
  return lowerBound > 0 ? lowerBound : undefined;
}
