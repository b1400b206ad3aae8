// The metrics that a gate can look at: name, unit, where each comes from, and when it is too old to tell anything
// (routing.md §17). Percentages are shares of 1 here, whatever their name says.

import type { EngineFigures, HardwareFigures, PolicyAgent, RecordFigures, Taken } from './policy-agent.ts';

/** An engine or a machine that has told nothing for longer has told nothing. */
export const MEASURED_FRESH_MS = 10_000;

/**
 * An agent that was given nothing for longer has no record: whom a gate on its record shuts out gets one request after
 * this time, and its outcome is news again. Otherwise nothing could ever prove that the agent has recovered.
 */
export const RECORD_FRESH_MS = 30_000;

export type Unit = 'share' | 'milliseconds' | 'seconds' | 'count' | 'celsius';

/** Who tells it: this router of its own requests, the engine, or the engine's machine. */
type Source = 'router' | 'engine' | 'machine';

export interface Metric {
  readonly unit: Unit;
  readonly source: Source;
  /** Undefined when the agent does not tell it, or told it too long ago: then it passes every gate. */
  readonly read: (agent: PolicyAgent, nowMs: number) => number | undefined;
}

export const METRICS = {
  capacity_utilization: { unit: 'share', source: 'router', read: loadOf },
  success_rate: ofRecord('share', (record) => record.successRate),
  srtt: ofRecord('milliseconds', (record) => record.srttMs),
  consecutive_failures: ofRecord('count', (record) => record.consecutiveFailures),
  kv_cache_utilization: ofEngine('share', (engine) => engine.kvCacheUse),
  running_requests: ofEngine('count', (engine) => engine.runningRequests),
  waiting_requests: ofEngine('count', (engine) => engine.waitingRequests),
  avg_ttft_seconds: ofEngine('seconds', (engine) => seconds(engine.ttftMs)),
  p90_ttft_seconds: ofEngine('seconds', (engine) => seconds(engine.ttftP90Ms)),
  avg_itl_seconds: ofEngine('seconds', (engine) => seconds(engine.itlMs)),
  p90_itl_seconds: ofEngine('seconds', (engine) => seconds(engine.itlP90Ms)),
  gpu_temperature_c: ofHardware('celsius', ({ gpus }) => largest(gpus.map((gpu) => gpu.temperatureC))),
  gpu_util_percent: ofHardware('share', ({ gpus }) => largest(gpus.map((gpu) => gpu.utilPercent / 100))),
  gpu_vram_used_percent: ofHardware('share', ({ gpus }) =>
    largest(gpus.filter((gpu) => gpu.vramTotalBytes > 0).map((gpu) => gpu.vramUsedBytes / gpu.vramTotalBytes)),
  ),
  memory_used_percent: ofHardware('share', ({ memoryUsedPercent }) => share(memoryUsedPercent)),
  cpu_usage_percent: ofHardware('share', ({ cpuUsagePercent }) => share(cpuUsagePercent)),
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof METRICS;

/** Share of the slots in use, 0 to 1; an agent without slots is full. */
export function loadOf({ active, capacity }: PolicyAgent): number {
  return capacity > 0 ? active / capacity : 1;
}

/** Of the hottest or busiest one; undefined of none. */
function largest(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values);
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

function share(percent: number | undefined): number | undefined {
  return percent === undefined ? undefined : percent / 100;
}

type Figure<Figures> = (figures: Figures) => number | undefined;

function ofRecord(unit: Unit, figure: Figure<RecordFigures>): Metric {
  const read: Metric['read'] = ({ record }, nowMs) =>
    record === undefined || record.takenMs < nowMs - RECORD_FRESH_MS ? undefined : figure(record);
  return { unit, source: 'router', read };
}

function ofEngine(unit: Unit, figure: Figure<EngineFigures>): Metric {
  return {
    unit,
    source: 'engine',
    read: ({ engineMetrics }, nowMs) => fresh(engineMetrics, nowMs - MEASURED_FRESH_MS, figure),
  };
}

function ofHardware(unit: Unit, figure: Figure<HardwareFigures>): Metric {
  return {
    unit,
    source: 'machine',
    read: ({ hardware }, nowMs) => fresh(hardware, nowMs - MEASURED_FRESH_MS, figure),
  };
}

function fresh<Figures>(
  taken: Taken<Figures> | undefined,
  sinceMs: number,
  figure: Figure<Figures>,
): number | undefined {
  return taken === undefined || taken.takenMs < sinceMs ? undefined : figure(taken.metrics);
}
