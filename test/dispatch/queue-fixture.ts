// A queue before agents that are healthy at once, and requests that ask it for seats.

import type { Agent } from '../../src/agents/agent.ts';
import { AgentRegistry } from '../../src/agents/registry.ts';
import { AgentChoice } from '../../src/dispatch/agent-choice.ts';
import { type Seat, SeatQueue, type SeatSearch } from '../../src/dispatch/queue.ts';
import { ok } from '../../src/lib/result.ts';
import { planOf } from '../../src/policy/plan.ts';
import { BUILT_IN_POLICY, PLAIN_STEP, type Step } from '../../src/policy/policy.ts';
import { FakeTimers } from '../agents/fake-timers.ts';
import { endpointOf } from './test-site.ts';

export interface Asked {
  readonly number: number;
  readonly search: SeatSearch;
  readonly excluded: readonly Agent[];
  readonly step: Partial<Step>;
  readonly client: AbortController;
  /** Undefined while it waits. */
  outcome: { readonly seat: Seat | undefined } | undefined;
}

export interface QueueAgent {
  readonly models: readonly string[];
  readonly capacity: number;
  readonly region?: string;
}

/** A queue before healthy agents with these models and capacities, and what asks it for seats. */
export function queueBefore(agentSettings: readonly QueueAgent[], depth = 3) {
  const timers = new FakeTimers();
  const registry = new AgentRegistry(() => undefined, { nowMs: Date.now, monotonicMs: () => timers.monotonicMs() });
  const waits: (readonly [string, number])[] = [];
  const queue = new SeatQueue({ registry, timers, depth, onWaited: (...wait) => void waits.push(wait) });
  const agents = agentSettings.map(({ models, capacity, region }, index) => {
    const backendUrl = `http://engine-${index}`;
    const fixed = { engine: 'vllm', capability: 'llm' } as const;
    const agent = registry.add({ ...fixed, id: `agent-${index}`, backendUrl, models, capacity, region });
    agent.reportProbe(ok(models));
    return agent;
  });
  const all: Asked[] = [];
  /** Takes a seat for a request that has asked `excluded` already, by a policy with this one step. */
  const ask = (model: string, excluded: readonly Agent[] = [], step: Partial<Step> = {}): Asked => {
    const plan = planOf({ ...BUILT_IN_POLICY, steps: [{ ...PLAIN_STEP, ...step }] }, 3);
    const request = { model, endpoint: endpointOf('/v1/chat/completions'), headers: new Headers() };
    const search = new AgentChoice(request, { registry, timers, policies: { planFor: () => plan } });
    for (const planStep of plan.steps) {
      for (const agent of excluded) search.noteFailed({ agent, step: planStep }, false);
    }
    const asked: Asked = {
      number: all.length,
      search,
      excluded,
      step,
      client: new AbortController(),
      outcome: undefined,
    };
    all.push(asked);
    void Promise.resolve(queue.take(search, asked.client.signal)).then((seat) => {
      asked.outcome = { seat };
    });
    return asked;
  };
  return { timers, registry, queue, agents, waits, all, ask };
}

export const waiting = (all: readonly Asked[]) => all.filter(({ outcome }) => outcome === undefined);
