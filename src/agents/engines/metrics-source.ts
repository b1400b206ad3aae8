// Where an engine tells its figures, and how series become one figure. An engine's own file only names its metrics.

import { readNumber, readSamples, type Sample } from '../../lib/prometheus-text.ts';
import type { EngineReading, LatencyTotals } from '../engine-metrics.ts';

export interface MetricsSource {
  /** Answers GET with the Prometheus text format. */
  readonly path: string;
  /** Undefined when the text holds none of the engine's metrics. */
  readonly read: (text: string) => EngineReading | undefined;
}

/** The metrics that make up a latency. */
interface LatencyNames {
  readonly sumSeconds: string;
  readonly count: string;
  readonly bucket?: string;
}

/** Of several names the first that the text holds: engines rename their metrics, and old versions live long. */
export interface MetricNames {
  readonly kvCacheUse?: readonly string[];
  readonly runningRequests: readonly string[];
  readonly waitingRequests: readonly string[];
  readonly preemptionsTotal?: readonly string[];
  readonly generatedTokensPerSecond?: readonly string[];
  readonly promptTokensPerSecond?: readonly string[];
  readonly ttft?: readonly LatencyNames[];
  readonly itl?: readonly LatencyNames[];
  /**
   * The label that tells data-parallel ranks apart. Ranks and models are parts of one figure and are added, or averaged;
   * series that differ in any other label repeat it or break it down, and the largest counts.
   */
  readonly rankLabel?: string;
}

/** A histogram in seconds, by its family name. */
export function histogram(family: string): LatencyNames {
  return { sumSeconds: `${family}_sum`, count: `${family}_count`, bucket: `${family}_bucket` };
}

export function prometheusSource(names: MetricNames): MetricsSource {
  const wanted = new Set(allNames(names));
  return {
    path: '/metrics',
    read: (text) => {
      const found = byName(readSamples(text, wanted));
      return found.size === 0 ? undefined : readingOf(found, names);
    },
  };
}

type Found = ReadonlyMap<string, readonly Sample[]>;

function allNames(names: MetricNames): readonly string[] {
  const { rankLabel: _rankLabel, ttft = [], itl = [], ...gauges } = names;
  return [...Object.values(gauges).flat(), ...[...ttft, ...itl].flatMap((latency) => Object.values(latency))];
}

/** NaN and infinite values tell nothing (routing.md §10). */
function byName(samples: readonly Sample[]): Found {
  const found = new Map<string, Sample[]>();
  for (const sample of samples) {
    if (!Number.isFinite(sample.value)) continue;
    const series = found.get(sample.name);
    if (series === undefined) found.set(sample.name, [sample]);
    else series.push(sample);
  }
  return found;
}

function readingOf(found: Found, names: MetricNames): EngineReading {
  const parts = (candidates: readonly string[] = []) => partsOf(found, candidates, names);
  return {
    kvCacheUse: clampToShare(mean(parts(names.kvCacheUse))),
    runningRequests: sum(parts(names.runningRequests)),
    waitingRequests: sum(parts(names.waitingRequests)),
    preemptionsTotal: sum(parts(names.preemptionsTotal)),
    generatedTokensPerSecond: sum(parts(names.generatedTokensPerSecond)),
    promptTokensPerSecond: sum(parts(names.promptTokensPerSecond)),
    ttft: latencyOf(found, names.ttft),
    itl: latencyOf(found, names.itl),
  };
}

/** One value a rank and model. */
function partsOf(found: Found, candidates: readonly string[], names: MetricNames): readonly number[] {
  const series = candidates.map((name) => found.get(name)).find((samples) => samples !== undefined) ?? [];
  const parts = new Map<string, number>();
  for (const { labels, value } of series) {
    const key = JSON.stringify([labels.get('model_name'), labels.get(names.rankLabel ?? '')]);
    parts.set(key, Math.max(parts.get(key) ?? Number.NEGATIVE_INFINITY, value));
  }
  return [...parts.values()];
}

function sum(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((total, value) => total + value);
}

function mean(values: readonly number[]): number | undefined {
  const total = sum(values);
  return total === undefined ? undefined : total / values.length;
}

function clampToShare(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.min(1, Math.max(0, value));
}

/** Every series holds other observations, so all are added. */
function latencyOf(found: Found, candidates: readonly LatencyNames[] = []): LatencyTotals | undefined {
  const names = candidates.find(({ sumSeconds, count }) => found.has(sumSeconds) && found.has(count));
  if (names === undefined) return undefined;
  const total = (name: string) => (found.get(name) ?? []).reduce((all, { value }) => all + value, 0);
  const buckets = new Map<number, number>();
  for (const { labels, value } of found.get(names.bucket ?? '') ?? []) {
    const bound = readNumber(labels.get('le') ?? '');
    if (bound !== undefined) buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  return { sumSeconds: total(names.sumSeconds), count: total(names.count), buckets };
}
