// When each engine is probed: a healthy or unhealthy one every 5 s, a starting one and one that may just be restarting
// every 250 ms, so that a router and its engines may start in any order and the next request is not long in coming.

import type { Agent } from './agent.ts';
import type { AgentSetting } from './agent-setting.ts';
import type { EngineFetch } from './engine-fetch.ts';
import { probeEngine } from './probe-engine.ts';
import type { AgentRegistry } from './registry.ts';
import type { Timers } from './timers.ts';

/** Period of close probes, and the grain of the other (decisions.md, "Agents", 1). */
const TICK_MS = 250;
/** Period of any other agent, in ticks: 5 s. */
const TICKS_PER_PROBE = 20;
/** A probe that takes longer has failed. Below the period, so that a hanging engine is noticed after three of them. */
export const PROBE_TIMEOUT_MS = 4000;

export interface ProbePorts {
  readonly fetch: EngineFetch;
  readonly timers: Timers;
}

/** Why a probe was ended: its result is then no verdict on the engine. */
const STOPPED = 'stopped';

interface Turn {
  ticksLeft: number;
  /** The probe in flight; undefined when there is none. */
  running: AbortController | undefined;
}

/**
 * Probes every agent of the registry, also those added later, at once and then in its period; never two probes of one
 * agent at a time. Returns what stops it; probes in flight are ended and not counted.
 */
export function startProbing(registry: AgentRegistry, ports: ProbePorts): () => void {
  // By setting: one that was replaced is another engine, whose probes have to begin anew.
  const turns = new Map<AgentSetting, Turn>();
  const tick = (): void => {
    const agents = registry.all().filter((agent) => agent.isProbed);
    forgetOthers(turns, new Set(agents.map(({ setting }) => setting)));
    for (const agent of agents) {
      const turn = turns.get(agent.setting) ?? { ticksLeft: 0, running: undefined };
      turns.set(agent.setting, turn);
      turn.ticksLeft -= 1;
      const isDue = turn.ticksLeft <= 0 || agent.wantsCloseProbes;
      if (isDue && turn.running === undefined) void probe(agent, turn, ports);
    }
  };
  tick();
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

async function probe(agent: Agent, turn: Turn, ports: ProbePorts): Promise<void> {
  const { setting } = agent;
  const running = new AbortController();
  turn.ticksLeft = TICKS_PER_PROBE;
  turn.running = running;
  const cancelTimeout = ports.timers.after(PROBE_TIMEOUT_MS, () => running.abort());
  const result = await probeEngine(setting, ports.fetch, running.signal);
  cancelTimeout();
  turn.running = undefined;
  if (running.signal.reason !== STOPPED && agent.setting === setting) agent.reportProbe(result);
}
