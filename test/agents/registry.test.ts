import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentSetting } from '../../src/agents/agent-setting.ts';
import { AgentRegistry } from '../../src/agents/registry.ts';
import { TRIAL_PAUSE_MS } from '../../src/agents/standing.ts';
import { ok } from '../../src/lib/result.ts';
import { FakeClocks } from './fake-clocks.ts';

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

/** Healthy agents whose time the test moves, and what makes one of them fail `count` tries. */
function registryWithClocks(...settings: readonly AgentSetting[]) {
  const clocks = new FakeClocks();
  const registry = new AgentRegistry(() => undefined, clocks);
  for (const one of settings) registry.add(one).reportProbe(ok(one.models));
  const fail = (id: string, count: number) => {
    for (let failed = 0; failed < count; failed += 1) registry.get(id)?.record.failed();
  };
  const order = () => ids(registry.candidates('m', 'llm'));
  return { clocks, registry, fail, order };
}

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

describe('AgentRegistry.candidates() of agents that fail though their probes are good', () => {
  it('come after the others, loaded as these may be, but before full ones', () => {
    const { registry, fail, order } = registryWithClocks(
      setting('bad'),
      setting('busy'),
      setting('full', { capacity: 1 }),
    );
    fail('bad', 3);
    registry.get('busy')?.take();
    registry.get('full')?.take();
    assert.deepEqual(order(), ['busy', 'bad', 'full']);
  });

  it('are still there when they are all there is, and count as present (R-024)', () => {
    const { registry, fail, order } = registryWithClocks(setting('a'), setting('b'));
    fail('a', 1000);
    fail('b', 3);
    assert.equal(order().length, 2);
    assert.equal(registry.presence('m', 'llm'), 'healthy');
  });

  it('are given one request after a pause, and a success makes them equal again', () => {
    const { clocks, registry, fail, order } = registryWithClocks(setting('bad'), setting('good'));
    fail('bad', 3);
    clocks.elapsedMs = TRIAL_PAUSE_MS - 1;
    assert.deepEqual(order(), ['good', 'bad']);
    clocks.elapsedMs = TRIAL_PAUSE_MS;
    assert.deepEqual(order(), ['bad', 'good']);
    const release = registry.get('bad')?.take();
    assert.deepEqual(order(), ['good', 'bad']);
    registry.get('bad')?.record.succeeded();
    release?.();
    registry.get('good')?.take();
    assert.deepEqual(order(), ['bad', 'good']);
  });

  it('are given no second one while the trial hangs, however long', () => {
    const { clocks, registry, fail, order } = registryWithClocks(setting('hangs'), setting('good'));
    const before = registry.get('hangs')?.take();
    clocks.elapsedMs = 1;
    fail('hangs', 3);
    clocks.elapsedMs += TRIAL_PAUSE_MS;
    assert.deepEqual(order(), ['hangs', 'good'], 'what ran before the failure is no trial');
    const trial = registry.get('hangs')?.take();
    clocks.elapsedMs += 100 * TRIAL_PAUSE_MS;
    assert.deepEqual(order(), ['good', 'hangs']);
    before?.();
    assert.deepEqual(order(), ['good', 'hangs']);
    trial?.();
    assert.deepEqual(order(), ['hangs', 'good']);
  });

  it('wait twice as long after a trial that failed', () => {
    const { clocks, registry, fail, order } = registryWithClocks(setting('bad'), setting('good'));
    fail('bad', 3);
    clocks.elapsedMs = TRIAL_PAUSE_MS;
    registry.get('bad')?.take()?.();
    fail('bad', 1);
    clocks.elapsedMs += 2 * TRIAL_PAUSE_MS - 1;
    assert.deepEqual(order(), ['good', 'bad']);
    clocks.elapsedMs += 1;
    assert.deepEqual(order(), ['bad', 'good']);
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
    assert.deepEqual(registry.candidates('m', 'llm'), []);
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
