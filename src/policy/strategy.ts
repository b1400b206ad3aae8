// Which of the agents that a step lets through comes first. None of the strategies depends on the order in which the
// agents are listed.

import { homeAgent } from './affinity.ts';
import { fixedBarOf } from './gates.ts';
import { loadOf, METRICS } from './metric.ts';
import type { Step } from './policy.ts';
import type { PolicyAgent, Standing } from './policy-agent.ts';

export interface Choosing<Agent extends PolicyAgent> {
  readonly step: Pick<Step, 'match' | 'strategy'>;
  /** All agents of the model. */
  readonly agents: readonly Agent[];
  /** Those that may serve the request now. */
  readonly candidates: readonly Agent[];
  /** The raw value of `X-Session-ID`; undefined or empty without one. */
  readonly session: Uint8Array | undefined;
  readonly nowMs: number;
}

/**
 * The candidate that the step's strategy puts first; undefined when there is none. Whatever the strategy, an agent that is
 * due for a trial comes first, and one that is passed over last (E7, half-open): none is left out for its failures.
 */
export function choose<Agent extends PolicyAgent>(choosing: Choosing<Agent>): Agent | undefined {
  // No strategy has a choice there.
  if (choosing.candidates.length <= 1) return choosing.candidates[0];
  const foremost = foremostOf(choosing.candidates);
  switch (choosing.step.strategy) {
    case 'least-loaded':
      return leastLoaded(foremost);
    case 'lowest-latency':
      return lowestLatency(foremost, choosing.nowMs);
    case 'session-affinity':
      return ofSession(choosing, foremost) ?? leastLoaded(foremost);
  }
}

const RANKS: Readonly<Record<Standing, number>> = { trial: 0, trusted: 1, passed_over: 2 };

/** Those of the best standing that there is. */
function foremostOf<Agent extends PolicyAgent>(candidates: readonly Agent[]): readonly Agent[] {
  const ranks = candidates.map(({ standing }) => RANKS[standing]);
  const best = Math.min(...ranks);
  return candidates.filter((_, index) => ranks[index] === best);
}

/** The smallest share of slots in use; of several, the one whose last turn is longest ago (E7). */
function leastLoaded<Agent extends PolicyAgent>(candidates: readonly Agent[]): Agent | undefined {
  return smallest(candidates, loadOf);
}

/**
 * The smallest product of latency and the load that the request would make: equally quick agents share as by load, and
 * one that is twice as quick gets twice the load before another is preferred. An agent without a fresh latency counts
 * as quick as the quickest, so that it is soon measured, and not by everybody at once.
 */
function lowestLatency<Agent extends PolicyAgent>(candidates: readonly Agent[], nowMs: number): Agent | undefined {
  const latencies = candidates.flatMap((agent) => METRICS.srtt.read(agent, nowMs) ?? []);
  const quickest = latencies.length === 0 ? 1 : Math.min(...latencies);
  // A latency below 1 ms is noise of the clock, and 0 would hide the load.
  const latencyOf = (agent: Agent) => Math.max(METRICS.srtt.read(agent, nowMs) ?? quickest, 1);
  return smallest(candidates, (agent) => (latencyOf(agent) * (agent.active + 1)) / agent.capacity);
}

/**
 * The home agent of the session, if it may serve now. Home is found among all agents that belong to the step, free or
 * not: a session that had to go elsewhere once comes back. No trial of another agent draws it away from home.
 */
function ofSession<Agent extends PolicyAgent>(
  { step, agents, candidates, session }: Choosing<Agent>,
  foremost: readonly Agent[],
): Agent | undefined {
  if (session === undefined || session.length === 0) return undefined;
  const home = homeAgent(
    session,
    agents.filter((agent) => fixedBarOf(step, agent) === undefined),
  );
  const eligible = candidates.find((agent) => agent.id === home?.id);
  if (eligible === undefined) return undefined;
  return eligible.standing !== 'passed_over' || foremost.includes(eligible) ? eligible : undefined;
}

function smallest<Agent extends PolicyAgent>(
  candidates: readonly Agent[],
  cost: (agent: Agent) => number,
): Agent | undefined {
  return candidates.reduce<Agent | undefined>((best, next) => {
    if (best === undefined) return next;
    const difference = cost(next) - cost(best) || next.lastTaken - best.lastTaken;
    return difference < 0 || (difference === 0 && next.id < best.id) ? next : best;
  }, undefined);
}
