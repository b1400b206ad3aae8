import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentSetting } from '../../src/agents/agent.ts';
import { AgentRegistry } from '../../src/agents/registry.ts';
import { ok } from '../../src/lib/result.ts';

function setting(id: string, more: Partial<AgentSetting> = {}): AgentSetting {
  return { id, engine: 'vllm', capability: 'llm', backendUrl: `http://${id}`, models: ['m'], capacity: 10, ...more };
}

/** A registry of healthy agents. */
function registryOf(...settings: readonly AgentSetting[]) {
  const registry = new AgentRegistry(() => undefined);
  for (const one of settings) registry.add(one).reportProbe(ok(one.models));
  return registry;
}

const ids = (agents: readonly { readonly setting: AgentSetting }[]) => agents.map((agent) => agent.setting.id);

/** Takes a slot on the first candidate and tells which agent that was. */
function takeNext(registry: AgentRegistry, model = 'm'): string | undefined {
  const [agent] = registry.candidates(model, 'llm');
  agent?.take();
  return agent?.setting.id;
}

describe('AgentRegistry.add()', () => {
  it('throws for an ID that is taken and keeps the first agent', () => {
    const registry = registryOf(setting('a'));
    assert.throws(() => registry.add(setting('a', { capacity: 1 })), /Cannot add agent "a": the ID is taken/);
    assert.deepEqual(
      registry.all().map((agent) => agent.setting.capacity),
      [10],
    );
  });

  it('passes changes of state on with their agent', () => {
    const seen: string[] = [];
    const registry = new AgentRegistry((agent, from, to) => seen.push(`${agent.setting.id} ${from} ${to}`));
    registry.add(setting('a'));
    registry.add(setting('b')).reportProbe(ok(['m']));
    assert.deepEqual(seen, ['b starting healthy']);
  });
});

describe('AgentRegistry.presence()', () => {
  it('is healthy when one of the serving agents is', () => {
    const registry = registryOf(setting('a'), setting('b'));
    registry.all()[0]?.reportConnectionRefused();
    assert.equal(registry.presence('m', 'llm'), 'healthy');
  });

  it('is unhealthy when all that serve the model are down or starting', () => {
    const registry = registryOf(setting('a'), setting('other', { models: ['x'] }));
    registry.all()[0]?.reportConnectionRefused();
    registry.add(setting('b'));
    assert.equal(registry.presence('m', 'llm'), 'unhealthy');
  });

  it('is none for an unknown model, another capability and another spelling (R-016)', () => {
    const registry = registryOf(setting('a', { capability: 'embedding' }));
    assert.equal(registry.presence('x', 'embedding'), 'none');
    assert.equal(registry.presence('m', 'llm'), 'none');
    assert.equal(registry.presence('M', 'embedding'), 'none');
  });
});

describe('AgentRegistry.candidates()', () => {
  it('are the healthy agents of model and capability', () => {
    const registry = registryOf(
      setting('a'),
      setting('down'),
      setting('other-model', { models: ['x'] }),
      setting('embedder', { capability: 'embedding' }),
    );
    registry.all()[1]?.reportConnectionRefused();
    registry.add(setting('starting'));
    assert.deepEqual(ids(registry.candidates('m', 'llm')), ['a']);
  });

  it('come by their share of slots in use, not by their number', () => {
    const registry = registryOf(setting('small', { capacity: 2 }), setting('large', { capacity: 8 }));
    const [small, large] = registry.all();
    small?.take();
    for (let slot = 0; slot < 3; slot += 1) large?.take();
    assert.deepEqual(ids(registry.candidates('m', 'llm')), ['large', 'small']);
  });

  it('have the full ones last', () => {
    const registry = registryOf(setting('full', { capacity: 1 }), setting('free', { capacity: 10 }));
    const [full, free] = registry.all();
    full?.take();
    for (let slot = 0; slot < 9; slot += 1) free?.take();
    assert.deepEqual(ids(registry.candidates('m', 'llm')), ['free', 'full']);
  });

  it('rotate among equally loaded agents, also when each request ends before the next (E7)', () => {
    const registry = registryOf(setting('a'), setting('b'), setting('c'));
    const turns = Array.from({ length: 6 }, () => {
      const [agent] = registry.candidates('m', 'llm');
      agent?.take()?.();
      return agent?.setting.id;
    });
    assert.deepEqual(turns, ['a', 'b', 'c', 'a', 'b', 'c']);
  });

  it('rotate for each model by itself, so that alternating models do not pin each to one agent', () => {
    const registry = registryOf(
      setting('a1', { models: ['a'] }),
      setting('a2', { models: ['a'] }),
      setting('b1', { models: ['b'] }),
      setting('b2', { models: ['b'] }),
    );
    const turns = ['a', 'b', 'a', 'b', 'a', 'b'].map((model) => takeNext(registry, model));
    assert.deepEqual(turns, ['a1', 'b1', 'a2', 'b2', 'a1', 'b1']);
  });

  it('spread requests and streams under way evenly', () => {
    const registry = registryOf(setting('a', { capacity: 3 }), setting('b', { capacity: 3 }));
    for (let request = 0; request < 4; request += 1) takeNext(registry);
    assert.deepEqual(
      registry.all().map((agent) => agent.active),
      [2, 2],
    );
  });
});

describe('AgentRegistry.models()', () => {
  it('lists every name once with all its agents, healthy or not', () => {
    const registry = registryOf(
      setting('a', { models: ['m', 'n'] }),
      setting('b', { models: ['n'], capability: 'embedding' }),
    );
    registry.all()[1]?.reportConnectionRefused();
    assert.deepEqual(
      registry.models().map(({ id, capability, agents }) => [id, capability, ids(agents)]),
      [
        ['m', 'llm', ['a']],
        ['n', 'llm', ['a', 'b']],
      ],
    );
  });
});

describe('AgentRegistry.onVacancy()', () => {
  it('tells of every agent until the listener has had enough', () => {
    const registry = registryOf(setting('a'), setting('b'));
    const seen: string[] = [];
    const end = registry.onVacancy((agent) => seen.push(agent.setting.id));
    for (const agent of registry.all()) agent.take()?.();
    end();
    registry.all()[0]?.take()?.();
    assert.deepEqual(seen, ['a', 'b']);
  });
});
