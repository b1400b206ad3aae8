// A queue before agents that are healthy at once, and requests that ask it for seats.

import type { Agent } from '../../src/agents/agent.ts';
import { AgentRegistry } from '../../src/agents/registry.ts';
import { type Seat, SeatQueue, type SeatSearch } from '../../src/dispatch/queue.ts';
import { ok } from '../../src/lib/result.ts';
import { FakeTimers } from '../agents/fake-timers.ts';

export interface Asked {
  readonly number: number;
  readonly search: SeatSearch;
  readonly excluded: readonly Agent[];
  readonly client: AbortController;
  /** Undefined while it waits. */
  outcome: { readonly seat: Seat | undefined } | undefined;
}

/** A queue before healthy agents with these models and capacities, and what asks it for seats. */
export function queueBefore(agentSettings: readonly { models: readonly string[]; capacity: number }[], depth = 3) {
  const timers = new FakeTimers();
  const registry = new AgentRegistry(() => undefined);
  const waits: (readonly [string, number])[] = [];
  const queue = new SeatQueue({ registry, timers, depth, onWaited: (...wait) => void waits.push(wait) });
  const agents = agentSettings.map(({ models, capacity }, index) => {
    const backendUrl = `http://engine-${index}`;
    const setting = { id: `agent-${index}`, engine: 'vllm', capability: 'llm', backendUrl, models, capacity } as const;
    const agent = registry.add(setting);
    agent.reportProbe(ok(models));
    return agent;
  });
  const all: Asked[] = [];
  /** Takes a seat for a request that has asked `excluded` already. */
  const ask = (model: string, excluded: readonly Agent[] = []): Asked => {
    const left = () => registry.candidates(model, 'llm').filter((agent) => !excluded.includes(agent));
    const search: SeatSearch = {
      model,
      capability: 'llm',
      hasAgents: () => left().length > 0,
      freeAgents: () => left().filter(({ load }) => load < 1),
      takeSeat: () => {
        for (const agent of left()) {
          const release = agent.take();
          if (release !== undefined) return { agent, release };
        }
        return undefined;
      },
    };
    const asked: Asked = { number: all.length, search, excluded, client: new AbortController(), outcome: undefined };
    all.push(asked);
    void queue.take(search, asked.client.signal).then((seat) => {
      asked.outcome = { seat };
    });
    return asked;
  };
  return { timers, registry, queue, agents, waits, all, ask };
}

export const waiting = (all: readonly Asked[]) => all.filter(({ outcome }) => outcome === undefined);
