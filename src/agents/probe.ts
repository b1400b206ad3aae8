// When each engine is probed: a healthy or unhealthy one every 5 s, a starting one every 250 ms, so that a router and
// its engines may start in any order and the first request is not long in coming.

import type { Agent } from './agent.ts';
import type { EngineFetch } from './engine-fetch.ts';
import { probeEngine } from './probe-engine.ts';
import type { AgentRegistry } from './registry.ts';
import type { Timers } from './timers.ts';

/** Period of a starting agent, and the grain of the other (decisions.md, "Agents", 1). */
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
  const turns = new Map<Agent, Turn>();
  const tick = (): void => {
    for (const agent of registry.all()) {
      const turn = turns.get(agent) ?? { ticksLeft: 0, running: undefined };
      turns.set(agent, turn);
      turn.ticksLeft -= 1;
      const isDue = turn.ticksLeft <= 0 || agent.state === 'starting';
      if (isDue && turn.running === undefined) void probe(agent, turn, ports);
    }
  };
  tick();
  const stopTicking = ports.timers.every(TICK_MS, tick);
  return () => {
    stopTicking();
    for (const turn of turns.values()) turn.running?.abort(STOPPED);
  };
}

async function probe(agent: Agent, turn: Turn, ports: ProbePorts): Promise<void> {
  const running = new AbortController();
  turn.ticksLeft = TICKS_PER_PROBE;
  turn.running = running;
  const cancelTimeout = ports.timers.after(PROBE_TIMEOUT_MS, () => running.abort());
  const result = await probeEngine(agent.setting, ports.fetch, running.signal);
  cancelTimeout();
  turn.running = undefined;
  if (running.signal.reason !== STOPPED) agent.reportProbe(result);
}
