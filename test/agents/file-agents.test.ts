import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentSetting } from '../../src/agents/agent-setting.ts';
import { replaceFileAgents } from '../../src/agents/file-agents.ts';
import { AGENTS_MAX, AgentRegistry } from '../../src/agents/registry.ts';
import { fault, ok } from '../../src/lib/result.ts';

function setting(id: string, more: Partial<AgentSetting> = {}): AgentSetting {
  return { id, engine: 'vllm', capability: 'llm', backendUrl: `http://${id}`, models: ['m'], capacity: 10, ...more };
}

/** A registry with healthy agents of the file. */
function registryWith(...settings: readonly AgentSetting[]) {
  const changes: string[] = [];
  const registry = new AgentRegistry((agent, from, to) => void changes.push(`${agent.setting.id} ${from} ${to}`));
  for (const one of settings) registry.add(one, 'file').reportProbe(ok(one.models));
  changes.length = 0;
  return { registry, changes };
}

describe('replaceFileAgents()', () => {
  it('adds, changes and removes, and does not touch what stayed', () => {
    const { registry, changes } = registryWith(setting('same'), setting('other'), setting('old'));
    const release = registry.get('same')?.take();
    const wanted = [setting('same'), setting('other', { capacity: 1 }), setting('new')];
    assert.deepEqual(replaceFileAgents(registry, wanted), ok({ count: 3, added: 1, changed: 1, removed: 1 }));
    assert.deepEqual(changes, ['old healthy gone']);
    assert.equal(registry.get('same')?.active, 1);
    assert.equal(registry.get('other')?.setting.capacity, 1);
    assert.equal(registry.ownerOf('new'), 'file');
    release?.();
    assert.deepEqual(replaceFileAgents(registry, wanted), ok({ count: 3, added: 0, changed: 0, removed: 0 }));
  });

  it('lets a removed agent finish, and has it back when the file has it again', () => {
    const { registry } = registryWith(setting('a'));
    const agent = registry.get('a');
    const release = agent?.take();
    replaceFileAgents(registry, []);
    assert.equal(agent?.state, 'draining');
    assert.deepEqual(replaceFileAgents(registry, [setting('a')]), ok({ count: 1, added: 1, changed: 0, removed: 0 }));
    release?.();
    assert.equal(registry.get('a'), agent);
    assert.equal(agent?.state, 'starting');
  });

  it('keeps a drain that an operator asked for', () => {
    const { registry } = registryWith(setting('a'));
    registry.get('a')?.drain();
    replaceFileAgents(registry, [setting('a', { region: 'eu' })]);
    assert.equal(registry.get('a')?.state, 'draining');
  });

  it('refuses an ID of another origin with everything that is wrong, and changes nothing', () => {
    const { registry, changes } = registryWith(setting('old'));
    registry.add(setting('e'), 'engine');
    registry.add(setting('p'), 'push');
    assert.deepEqual(
      replaceFileAgents(registry, [setting('e'), setting('p'), setting('new')]),
      fault([
        'agent "e": the ID is that of an --engine already',
        'agent "p": the ID is that of a pushed agent already',
      ]),
    );
    assert.deepEqual(changes, []);
    assert.equal(registry.get('new'), undefined);
  });

  it('leaves agents of other origins alone', () => {
    const { registry, changes } = registryWith();
    registry.add(setting('e'), 'engine');
    registry.add(setting('p'), 'push');
    replaceFileAgents(registry, []);
    assert.deepEqual(changes, []);
    assert.equal(registry.all().length, 2);
  });

  it('counts none of its own that are leaving against the bound', () => {
    const { registry } = registryWith(setting('old'));
    registry.get('old')?.take();
    assert.equal(replaceFileAgents(registry, []).ok, true);
    assert.equal(registry.get('old')?.isLeaving, true);
    const many = Array.from({ length: AGENTS_MAX }, (_, index) => setting(`a${index}`));
    assert.equal(replaceFileAgents(registry, many).ok, true);
  });

  it('bounds the agents of all origins', () => {
    const { registry } = registryWith();
    registry.add(setting('e'), 'engine');
    const many = Array.from({ length: AGENTS_MAX }, (_, index) => setting(`a${index}`));
    assert.equal(replaceFileAgents(registry, many).ok, false);
    assert.equal(registry.all().length, 1);
    assert.equal(replaceFileAgents(registry, many.slice(1)).ok, true);
  });
});
