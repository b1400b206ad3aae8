import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentSetting } from '../../src/agents/agent-setting.ts';
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

describe('AgentRegistry.onAdded()', () => {
  it('tells of every agent once, of those that are there and of those to come', () => {
    const registry = registryOf(setting('a'));
    const seen: string[] = [];
    registry.onAdded((agent) => seen.push(agent.setting.id));
    registry.add(setting('b'));
    registry.put(setting('c'), 'push');
    registry.put(setting('c', { capacity: 1 }), 'push');
    assert.deepEqual(seen, ['a', 'b', 'c']);
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

describe('AgentRegistry.serving()', () => {
  it('is every agent of model and capability, healthy or not', () => {
    const registry = registryOf(
      setting('a'),
      setting('down'),
      setting('other-model', { models: ['x'] }),
      setting('embedder', { capability: 'embedding' }),
    );
    registry.get('down')?.reportConnectionRefused();
    registry.add(setting('starting'));
    assert.deepEqual(ids(registry.serving('m', 'llm')), ['a', 'down', 'starting']);
  });
});

describe('AgentRegistry.put()', () => {
  it('adds an agent, and changes the one of its ID with what runs on it', () => {
    const registry = registryOf();
    const agent = registry.put(setting('a'), 'push');
    agent.take();
    assert.equal(registry.put(setting('a', { models: ['x'], capacity: 3 }), 'push'), agent);
    assert.deepEqual([agent.active, agent.setting.capacity], [1, 3]);
    assert.equal(registry.all().length, 1);
  });

  it('leaves nothing behind under the models that an agent had (routing.md §30, 11)', () => {
    const registry = registryOf(setting('a', { models: ['old'] }));
    registry.put(setting('a', { models: ['new'] }), 'push').reportProbe(ok(['new']));
    assert.deepEqual(
      registry.models().map(({ id }) => id),
      ['new'],
    );
    assert.equal(registry.presence('old', 'llm'), 'none');
    assert.equal(registry.presence('new', 'llm'), 'healthy');
  });
});

describe('AgentRegistry.ownerOf()', () => {
  it('is who brought the agent in, until it leaves', () => {
    const registry = registryOf();
    const agent = registry.add(setting('a'), 'file');
    registry.add(setting('b'));
    assert.deepEqual(
      [registry.ownerOf('a'), registry.ownerOf('b'), registry.ownerOf('c')],
      ['file', 'engine', undefined],
    );
    agent.take();
    agent.leave();
    assert.equal(registry.ownerOf('a'), undefined);
    registry.put(setting('a'), 'push');
    assert.equal(registry.ownerOf('a'), 'push');
    assert.equal(registry.originOf(agent), 'push');
  });
});

describe('AgentRegistry of an agent that leaves', () => {
  it('has it until nothing runs, and gives it no new work', () => {
    const gone: string[] = [];
    const registry = new AgentRegistry((agent, _from, to) => void gone.push(`${agent.setting.id} ${to}`));
    const agent = registry.add(setting('a'));
    agent.reportProbe(ok(['m']));
    const release = agent.take();
    agent.leave();
    assert.equal(registry.presence('m', 'llm'), 'unhealthy');
    release?.();
    assert.equal(registry.get('a'), undefined);
    assert.equal(registry.presence('m', 'llm'), 'none');
    assert.deepEqual(gone, ['a healthy', 'a draining', 'a gone']);
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
