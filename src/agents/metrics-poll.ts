// When each engine's metrics are read: every 500 ms while it is healthy, and more seldom while it gives none, for many
// engines have metrics only when told to. Nothing that happens here touches an agent's health.

import { fault, ok, type Result } from '../lib/result.ts';
import { decodeUtf8 } from '../lib/utf8.ts';
import type { Agent } from './agent.ts';
import type { AgentSetting } from './agent-setting.ts';
import type { EngineFetch } from './engine-fetch.ts';
import { getFromEngine } from './engine-get.ts';
import type { EngineReading } from './engine-metrics.ts';
import { ENGINES } from './engines/engines.ts';
import { Poller } from './poller.ts';
import type { AgentRegistry } from './registry.ts';
import type { Timers } from './timers.ts';

/** Period of a healthy agent (routing.md §15). */
const TICK_MS = 500;
/** A scrape that takes longer has failed (routing.md §10). */
export const SCRAPE_TIMEOUT_MS = 5000;
/** A vLLM with eight ranks exposes about 1 MB. */
export const EXPOSITION_MAX_BYTES = 4_194_304;
/** Failed scrapes in a row that are repeated at once; then the period doubles with each. */
const PATIENCE = 3;
/** Longest period, in ticks: 30 s. */
const PERIOD_MAX_TICKS = 60;

export interface MetricsPollPorts {
  readonly fetch: EngineFetch;
  readonly timers: Timers;
  /** Told when an engine's metrics fail, and with no reason when they are there again. */
  readonly onChange: (agent: Agent, reason: string | undefined) => void;
}

/**
 * Reads the metrics of every healthy agent whose engine has them, also of those added later. Returns what stops it;
 * scrapes in flight are ended.
 */
export function startMetricsPolling(
  registry: AgentRegistry,
  { fetch, timers, onChange }: MetricsPollPorts,
): () => void {
  const poller = new Poller<EngineReading>(registry, timers, {
    tickMs: TICK_MS,
    timeoutMs: SCRAPE_TIMEOUT_MS,
    isAsked: ({ setting, state }) => state === 'healthy' && ENGINES[setting.engine].metrics !== undefined,
    isUrgent: () => false,
    ask: (setting, signal) => scrape(setting, fetch, signal),
    onResult: (agent, reading, failuresBefore) => {
      if (reading.ok) agent.reportMetrics(reading.value, timers.monotonicMs());
      if (reading.ok && failuresBefore > 0) onChange(agent, undefined);
      if (!reading.ok && failuresBefore === 0) onChange(agent, reading.fault);
    },
    periodTicks,
  });
  return poller.start();
}

function periodTicks(failures: number): number {
  return Math.min(2 ** Math.max(0, failures - PATIENCE), PERIOD_MAX_TICKS);
}

async function scrape(
  setting: AgentSetting,
  fetch: EngineFetch,
  signal: AbortSignal,
): Promise<Result<EngineReading, string>> {
  const source = ENGINES[setting.engine].metrics;
  if (source === undefined) return fault(`${setting.engine} has no metrics`);
  const body = await getFromEngine(setting, { path: source.path, maxBytes: EXPOSITION_MAX_BYTES }, fetch, signal);
  if (!body.ok) return body;
  const reading = source.read(decodeUtf8(body.value) ?? '');
  return reading === undefined ? fault(`GET ${source.path}: none of the engine's metrics`) : ok(reading);
}
