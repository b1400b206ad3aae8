import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import type { Agent } from '../../src/agents/agent.ts';
import type { AgentSetting } from '../../src/agents/agent-setting.ts';
import { AgentRegistry } from '../../src/agents/registry.ts';
import { TRIAL_PAUSE_MS } from '../../src/agents/standing.ts';
import { AgentChoice } from '../../src/dispatch/agent-choice.ts';
import { ok } from '../../src/lib/result.ts';
import { homeAgent } from '../../src/policy/affinity.ts';
import { parsePolicy } from '../../src/policy/document.ts';
import { STRATEGIES } from '../../src/policy/policy.ts';
import { BUILT_IN_POLICIES, PolicyStore } from '../../src/policy/store.ts';
import { FakeTimers } from '../agents/fake-timers.ts';
import { reading } from '../agents/readings.ts';
import { endpointOf } from './test-site.ts';

function setting(id: string, more: Partial<AgentSetting> = {}): AgentSetting {
  return { id, engine: 'vllm', capability: 'llm', backendUrl: `http://${id}`, models: ['m'], capacity: 10, ...more };
}

/** Healthy agents whose time the test moves, under the built-in policy or the one that `text` says. */
function siteOf(settings: readonly AgentSetting[], text?: string) {
  const timers = new FakeTimers();
  const registry = new AgentRegistry(() => undefined, { nowMs: () => 0, monotonicMs: () => timers.monotonicMs() });
  for (const one of settings) registry.add(one).reportProbe(ok(one.models));
  const policies = new PolicyStore();
  if (text !== undefined) {
    const policy = parsePolicy(text, 'global', new Set());
    assert.ok(policy.ok);
    policies.replaceGlobal(policy.value);
  }
  const choiceFor = (model = 'm', headers = new Headers(), path = '/v1/chat/completions') =>
    new AgentChoice({ model, endpoint: endpointOf(path), headers }, { registry, policies, timers });
  /** The ID of the agent that a new request is given to; else why there is none. */
  const next = (model?: string, headers?: Headers, path?: string): string => {
    const chosen = choiceFor(model, headers, path).choose();
    return typeof chosen === 'string' ? chosen : chosen.agent.setting.id;
  };
  const agent = (id: string): Agent => {
    const found = registry.get(id);
    assert.ok(found !== undefined);
    return found;
  };
  const fail = (id: string, count: number) => {
    for (let failed = 0; failed < count; failed += 1) agent(id).record.failed();
  };
  return { timers, registry, policies, choiceFor, next, agent, fail };
}

describe('AgentChoice.choose() by the built-in policy', () => {
  it('is an agent of model and capability that is healthy', () => {
    const site = siteOf([
      setting('down'),
      setting('other-model', { models: ['x'] }),
      setting('embedder', { capability: 'embedding' }),
    ]);
    site.agent('down').reportConnectionRefused();
    site.registry.add(setting('starting'));
    assert.equal(site.next(), 'none');
    site.registry.add(setting('z')).reportProbe(ok(['m']));
    assert.equal(site.next(), 'z');
  });

  it('is the agent with the smallest share of slots in use, not the smallest number', () => {
    const site = siteOf([setting('small', { capacity: 2 }), setting('large', { capacity: 8 })]);
    site.agent('small').take();
    for (let slot = 0; slot < 3; slot += 1) site.agent('large').take();
    assert.equal(site.next(), 'large');
  });

  it('passes over full ones, and is `full` when all are', () => {
    const site = siteOf([setting('one', { capacity: 1 }), setting('ten')]);
    site.agent('one').take();
    for (let slot = 0; slot < 9; slot += 1) site.agent('ten').take();
    assert.equal(site.next(), 'ten');
    site.agent('ten').take();
    assert.equal(site.next(), 'full');
  });

  it('rotates among equally loaded agents, also when each request ends before the next (E7)', () => {
    const site = siteOf([setting('a'), setting('b'), setting('c')]);
    const turns = Array.from({ length: 6 }, () => {
      const id = site.next();
      site.agent(id).take()?.();
      return id;
    });
    assert.deepEqual(turns, ['a', 'b', 'c', 'a', 'b', 'c']);
  });

  it('rotates for each model by itself, so that alternating models do not pin each to one agent', () => {
    const site = siteOf(['a1', 'a2', 'b1', 'b2'].map((id) => setting(id, { models: [id.slice(0, 1)] })));
    const turns = ['a', 'b', 'a', 'b', 'a', 'b'].map((model) => {
      const id = site.next(model);
      site.agent(id).take();
      return id;
    });
    assert.deepEqual(turns, ['a1', 'b1', 'a2', 'b2', 'a1', 'b1']);
  });
});

describe('AgentChoice.choose() among agents that fail though their probes are good', () => {
  it('takes them after the others, loaded as these may be, and rather than wait', () => {
    const site = siteOf([setting('bad'), setting('busy', { capacity: 2 })]);
    site.fail('bad', 3);
    site.agent('busy').take();
    assert.equal(site.next(), 'busy');
    site.agent('busy').take();
    assert.equal(site.next(), 'bad');
  });

  it('still takes one when they are all there is (R-024)', () => {
    const site = siteOf([setting('a'), setting('b')]);
    site.fail('a', 1000);
    site.fail('b', 3);
    site.agent('b').take();
    assert.equal(site.next(), 'a');
    assert.equal(site.registry.presence('m', 'llm'), 'healthy');
  });

  it('gives one request to them after a pause, and a success makes them equal again', () => {
    const site = siteOf([setting('bad'), setting('good')]);
    site.fail('bad', 3);
    site.timers.advance(TRIAL_PAUSE_MS - 1);
    assert.equal(site.next(), 'good');
    site.timers.advance(1);
    assert.equal(site.next(), 'bad');
    const release = site.agent('bad').take();
    assert.equal(site.next(), 'good');
    site.agent('bad').record.succeeded();
    release?.();
    site.agent('good').take();
    assert.equal(site.next(), 'bad');
  });

  for (const strategy of STRATEGIES) {
    it(`gives them no second one while the trial hangs, however long: ${strategy}`, () => {
      const settings = [setting('hangs'), setting('good')];
      const site = siteOf(settings, `routing_policy: {strategy: ${strategy}}`);
      const sessions = Array.from({ length: 20 }, (_, index) => `s${index}`);
      const session = sessions.find((each) => homeAgent(Buffer.from(each), settings)?.id === 'hangs');
      const next = () => site.next('m', new Headers({ 'x-session-id': session ?? '' }));
      const before = site.agent('hangs').take();
      for (let slot = 0; slot < 5; slot += 1) site.agent('good').take();
      site.timers.advance(1);
      site.fail('hangs', 3);
      site.timers.advance(TRIAL_PAUSE_MS);
      assert.equal(next(), 'hangs', 'what ran before the failure is no trial');
      const trial = site.agent('hangs').take();
      site.timers.advance(100 * TRIAL_PAUSE_MS);
      assert.equal(next(), 'good');
      before?.();
      assert.equal(next(), 'good');
      trial?.();
      assert.equal(next(), 'hangs');
    });
  }

  it('waits twice as long after a trial that failed', () => {
    const site = siteOf([setting('bad'), setting('good')]);
    site.fail('bad', 3);
    site.timers.advance(TRIAL_PAUSE_MS);
    site.agent('bad').take()?.();
    site.fail('bad', 1);
    site.timers.advance(2 * TRIAL_PAUSE_MS - 1);
    assert.equal(site.next(), 'good');
    site.timers.advance(1);
    assert.equal(site.next(), 'bad');
  });
});

describe('AgentChoice.choose() by a policy', () => {
  it('sees every label that an agent has', () => {
    const labels = { region: 'r', organization: 'o', machine: 'h', gpuModel: 'g', tags: ['t', 'u'] };
    for (const match of [
      'region: r',
      'organization: o',
      'machine: h',
      'gpu_model: g',
      'tags: [u, t]',
      'engine: sglang',
    ]) {
      const text = `routing_policy: {match: {${match}}}`;
      assert.equal(siteOf([setting('a'), setting('b', { ...labels, engine: 'sglang' })], text).next(), 'b', match);
      assert.equal(siteOf([setting('a')], text).next(), 'none', match);
    }
  });

  it('sees the figures of the engine and of the record, and when they were taken', () => {
    for (const [gate, ageMs] of [
      ['waiting_requests: {gte: 4}', 10_000],
      ['consecutive_failures: {gte: 2}', 30_000],
      ['success_rate: {lt: 0.5}', 30_000],
      ['srtt: {gt: 90}', 30_000],
    ] as const) {
      const site = siteOf([setting('a')], `routing_policy: {exclude_if: {${gate}}}`);
      assert.equal(site.next(), 'a', 'a figure that is missing excludes nobody');
      const agent = site.agent('a');
      const release = agent.take();
      agent.reportMetrics(reading({ waitingRequests: 4 }), site.timers.monotonicMs());
      agent.record.sample(100);
      site.fail('a', 2);
      assert.equal(site.next(), 'none', gate);
      site.timers.advance(5_000);
      release?.();
      const isRecord = ageMs === 30_000;
      site.timers.advance(ageMs - (isRecord ? 0 : 5_000));
      assert.equal(site.next(), 'none', `${gate}: the end of a request is news too`);
      site.timers.advance(1);
      assert.equal(site.next(), 'a', gate);
      agent.take();
      assert.equal(site.next(), isRecord ? 'none' : 'a', `${gate}: one request tries it, and no second one`);
    }
  });

  it('keeps a session on its agent while that has a slot (X-Session-ID)', () => {
    const settings = ['a', 'b', 'c', 'd'].map((id) => setting(id, { capacity: 1 }));
    const site = siteOf(settings, 'routing_policy: {strategy: session-affinity}');
    // As a header comes in: bytes as Latin-1 characters.
    const headers = new Headers({ 'x-session-id': 'caf\u00c3\u00a9' });
    const home = site.next('m', headers);
    assert.equal(home, homeAgent(Buffer.from('café'), settings)?.id);
    const release = site.agent(home).take();
    assert.notEqual(site.next('m', headers), home);
    release?.();
    for (const { id } of settings) site.agent(id).take()?.();
    assert.equal(site.next('m', headers), home, 'whose turn it is does not count');
    const homes = Array.from({ length: 40 }, (_, index) =>
      site.next('m', new Headers({ 'x-session-id': `s${index}` })),
    );
    assert.equal(new Set(homes).size, 4);
  });

  it('holds to the policy that was there when the request came', () => {
    const site = siteOf([setting('a', { region: 'r' }), setting('b')], 'routing_policy: {match: {region: r}}');
    const old = site.choiceFor();
    site.policies.replaceAll(BUILT_IN_POLICIES);
    site.agent('a').take();
    const chosen = old.choose();
    assert.equal(typeof chosen === 'string' ? chosen : chosen.agent.setting.id, 'a');
    assert.equal(site.next(), 'b');
  });

  it('is none where no engine has the endpoint, which is no lack of agents', () => {
    const site = siteOf([setting('a', { engine: 'infinity' })]);
    const choice = site.choiceFor('m', new Headers(), '/v1/messages');
    assert.deepEqual([choice.choose(), choice.hasNoEngine()], ['none', true]);
    site.agent('a').reportConnectionRefused();
    assert.equal(choice.hasNoEngine(), true);
    site.registry.add(setting('b'));
    assert.equal(choice.hasNoEngine(), false, 'one that is not healthy yet has it');
  });
});
