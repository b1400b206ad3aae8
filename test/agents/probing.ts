// A registry whose engines answer probes by the mood that the test sets, on timers that it moves.

import type { EngineFetch } from '../../src/agents/engine-fetch.ts';
import { startProbing } from '../../src/agents/probe.ts';
import { AgentRegistry } from '../../src/agents/registry.ts';
import { FakeTimers } from './fake-timers.ts';

type Mood = 'up' | 'down' | 'hanging';

/** A registry under probing, with engines that answer by the mood the test sets. */
export function probing(initial: Readonly<Record<string, Mood>>) {
  const timers = new FakeTimers();
  const changes: string[] = [];
  const clocks = { nowMs: () => timers.monotonicMs(), monotonicMs: () => timers.monotonicMs() };
  const registry = new AgentRegistry((_agent, from, to) => {
    if (from !== to) changes.push(`${from} ${to}`);
  }, clocks);

  const moods = new Map<string, Mood>();
  const probes: string[] = [];
  let out = 0;
  const add = (id: string, mood: Mood, models = ['m']) => {
    moods.set(id, mood);
    return registry.add({
      id,
      engine: 'custom',
      capability: 'llm',
      backendUrl: `http://${id}`,
      models,
      capacity: 1,
    });
  };
  const fetch: EngineFetch = (url, init) => {
    const { hostname } = new URL(url);
    probes.push(hostname);
    out += 1;
    return answer(moods.get(hostname), init.signal).finally(() => {
      out -= 1;
    });
  };
  const agents = Object.entries(initial).map(([id, mood]) => add(id, mood));
  const awaited = { isAny: false };
  const stop = startProbing(registry, { fetch, timers, isAwaited: () => awaited.isAny });
  /** Lets time pass in ticks, and probes answer after each. */
  const pass = async (ms: number) => {
    await settled();
    for (let passed = 0; passed < ms; passed += 250) {
      timers.advance(250);
      await settled();
    }
  };
  return { timers, registry, changes, moods, probes, agents, awaited, add, stop, pass, outstanding: () => out };
}

async function answer(mood: Mood | undefined, signal: AbortSignal | null | undefined): Promise<Response> {
  if (mood === 'up') return Response.json({ data: [{ id: 'm' }] });
  if (mood === 'down') return new Response('', { status: 503 });
  return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
}

/** Until every promise that can be settled is. */
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
