// Readings of an engine's metrics, with nothing told but what a test names.

import type { EngineReading, LatencyTotals } from '../../src/agents/engine-metrics.ts';

export function reading(told: Partial<EngineReading>): EngineReading {
  return {
    kvCacheUse: undefined,
    runningRequests: undefined,
    waitingRequests: undefined,
    preemptionsTotal: undefined,
    generatedTokensPerSecond: undefined,
    promptTokensPerSecond: undefined,
    ttft: undefined,
    itl: undefined,
    ...told,
  };
}

export function latency(
  count: number,
  sumSeconds: number,
  buckets: readonly (readonly [bound: number, cumulative: number])[] = [],
): LatencyTotals {
  return { count, sumSeconds, buckets: new Map(buckets) };
}
