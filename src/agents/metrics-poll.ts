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
import type { MetricsSource } from './engines/metrics-source.ts';
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

const STOPPED = 'stopped';

interface Turn {
  ticksLeft: number;
  /** Failed scrapes in a row. */
  failures: number;
  /** The scrape in flight; undefined when there is none. */
  running: AbortController | undefined;
}

/**
 * Reads the metrics of every healthy agent whose engine has them, also of those added later; never two scrapes of one
 * agent at a time. Returns what stops it; scrapes in flight are ended.
 */
export function startMetricsPolling(registry: AgentRegistry, ports: MetricsPollPorts): () => void {
  // By setting: one that was replaced is another engine, which may have metrics.
  const turns = new Map<AgentSetting, Turn>();
  const tick = (): void => {
    const agents = registry.all();
    forgetOthers(turns, new Set(agents.map(({ setting }) => setting)));
    for (const agent of agents) {
      const source = ENGINES[agent.setting.engine].metrics;
      if (source === undefined || agent.state !== 'healthy') continue;
      const turn = turns.get(agent.setting) ?? { ticksLeft: 0, failures: 0, running: undefined };
      turns.set(agent.setting, turn);
      turn.ticksLeft -= 1;
      if (turn.ticksLeft <= 0 && turn.running === undefined) void poll({ agent, source }, turn, ports);
    }
  };
  const stopTicking = ports.timers.every(TICK_MS, tick);
  return () => {
    stopTicking();
    forgetOthers(turns, new Set());
  };
}

function forgetOthers(turns: Map<AgentSetting, Turn>, kept: ReadonlySet<AgentSetting>): void {
  for (const [setting, turn] of turns) {
    if (kept.has(setting)) continue;
    turn.running?.abort(STOPPED);
    turns.delete(setting);
  }
}

interface Polled {
  readonly agent: Agent;
  readonly source: MetricsSource;
}

async function poll({ agent, source }: Polled, turn: Turn, ports: MetricsPollPorts): Promise<void> {
  const { setting } = agent;
  const running = new AbortController();
  turn.running = running;
  const cancelTimeout = ports.timers.after(SCRAPE_TIMEOUT_MS, () => running.abort());
  const reading = await scrape({ agent, source }, ports.fetch, running.signal);
  cancelTimeout();
  turn.running = undefined;
  if (running.signal.reason === STOPPED || agent.setting !== setting) return;
  const failuresBefore = turn.failures;
  turn.failures = reading.ok ? 0 : failuresBefore + 1;
  turn.ticksLeft = periodTicks(turn.failures);
  if (reading.ok) agent.reportMetrics(reading.value, ports.timers.monotonicMs());
  if (reading.ok && failuresBefore > 0) ports.onChange(agent, undefined);
  if (!reading.ok && failuresBefore === 0) ports.onChange(agent, reading.fault);
}

function periodTicks(failures: number): number {
  return Math.min(2 ** Math.max(0, failures - PATIENCE), PERIOD_MAX_TICKS);
}

async function scrape(
  { agent, source }: Polled,
  fetch: EngineFetch,
  signal: AbortSignal,
): Promise<Result<EngineReading, string>> {
  const ask = { path: source.path, maxBytes: EXPOSITION_MAX_BYTES };
  const body = await getFromEngine(agent.setting, ask, fetch, signal);
  if (!body.ok) return body;
  const reading = source.read(decodeUtf8(body.value) ?? '');
  return reading === undefined ? fault(`GET ${source.path}: none of the engine's metrics`) : ok(reading);
}
