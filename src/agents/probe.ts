// When each engine is probed: a healthy or unhealthy one every 5 s, one that may be there any moment every 250 ms, so that
// a router and its engines may start in any order and the next request is not long in coming. While a request is held
// until its model wakes, that is any engine which could bring it.

import type { EngineFetch } from './engine-fetch.ts';
import { Poller } from './poller.ts';
import { probeEngine } from './probe-engine.ts';
import type { AgentRegistry } from './registry.ts';
import type { Timers } from './timers.ts';

/** Period of close probes, and the grain of the other (decisions.md, "Agents", 1). */
const TICK_MS = 250;
/** Period of any other agent, in ticks: 5 s. */
const TICKS_PER_PROBE = 20;
/** The time of one that is sent while another is out: together with that one, at most five at a time. */
const BESIDE_TIMEOUT_MS = 1000;
/** A probe that takes longer has failed. Below the period, so that a hanging engine is noticed after three of them. */
export const PROBE_TIMEOUT_MS = 4000;

export interface ProbePorts {
  readonly fetch: EngineFetch;
  readonly timers: Timers;
  /** Whether a request waits for an engine to be there. */
  readonly isAwaited: () => boolean;
}

/**
 * Probes every agent of the registry, also those added later, at once and then in its period. Returns what stops it;
 * probes in flight are ended and not counted.
 */
export function startProbing(registry: AgentRegistry, { fetch, timers, isAwaited }: ProbePorts): () => void {
  const poller = new Poller<readonly string[]>(registry, timers, {
    tickMs: TICK_MS,
    timeoutMs: PROBE_TIMEOUT_MS,
    isAsked: (agent) => agent.isProbed,
    isUrgent: (agent) => agent.wantsCloseProbes || (isAwaited() && agent.mayServeMore),
    besideMs: (agent) => (isAwaited() && agent.mayServeMore ? BESIDE_TIMEOUT_MS : undefined),
    ask: (setting, signal) => probeEngine(setting, fetch, signal),
    onResult: (agent, result) => agent.reportProbe(result, isAwaited()),
    periodTicks: () => TICKS_PER_PROBE,
  });
  poller.tick();
  return poller.start();
}
