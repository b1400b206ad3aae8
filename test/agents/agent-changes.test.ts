// Agents that are drained, taken out and given another setting while requests run on them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Agent } from '../../src/agents/agent.ts';
import { ok } from '../../src/lib/result.ts';
import { BAD, GOOD, healthyAgent, newAgent, SETTING } from './agent-under-test.ts';
import { reading } from './readings.ts';

describe('Agent.drain()', () => {
  it('lets what runs come to its end, and stays until it is resumed', () => {
    const { agent, changes } = healthyAgent();
    const release = agent.take();
    agent.drain();
    assert.deepEqual([agent.state, agent.active], ['draining', 1]);
    release?.();
    assert.deepEqual([agent.state, agent.active], ['draining', 0]);
    agent.resume();
    agent.reportProbe(GOOD);
    assert.deepEqual(changes, [
      'vllm-h-1: healthy → draining (drained by the admin API)',
      'vllm-h-1: draining → starting (resumed by the admin API)',
      'vllm-h-1: starting → healthy (probe answered)',
    ]);
  });

  it('keeps its models while it lasts, whatever probes say that were under way', () => {
    const { agent } = healthyAgent();
    agent.drain();
    agent.reportProbe(ok(['x']));
    assert.deepEqual(agent.models, ['m']);
  });
});

describe('Agent.resume()', () => {
  it('does nothing to an agent that does not drain, or that leaves', () => {
    const { agent, changes } = healthyAgent();
    agent.resume();
    assert.deepEqual(changes, []);
    agent.take();
    agent.leave();
    agent.resume();
    assert.equal(agent.state, 'draining');
  });
});

describe('Agent.leave()', () => {
  it('is gone at once when nothing runs', () => {
    const { agent, changes } = healthyAgent();
    agent.leave();
    agent.leave();
    agent.reportProbe(GOOD);
    assert.deepEqual(changes, ['vllm-h-1: healthy → gone (removed)']);
  });

  it('is gone with the end of its last request, and not before', () => {
    const { agent, changes } = healthyAgent();
    const releases = [agent.take(), agent.take()];
    agent.leave();
    releases[0]?.();
    assert.equal(agent.state, 'draining');
    releases[1]?.();
    assert.deepEqual(changes, [
      'vllm-h-1: healthy → draining (removed, requests are still running)',
      'vllm-h-1: draining → gone (removed)',
    ]);
  });

  it('is called off by another setting before the end', () => {
    const { agent } = healthyAgent();
    const release = agent.take();
    agent.leave();
    agent.reconfigure(SETTING);
    release?.();
    assert.deepEqual([agent.state, agent.isLeaving], ['starting', false]);
  });
});

describe('Agent.reconfigure()', () => {
  it('serves on when only capacity or metadata change, and a larger capacity is a vacancy', () => {
    const { agent, changes, vacancies } = newAgent();
    agent.reportProbe(GOOD);
    agent.take();
    agent.take();
    vacancies.length = 0;
    agent.reconfigure({ ...SETTING, capacity: 3, region: 'eu', tags: ['a'] });
    assert.equal(agent.state, 'healthy');
    assert.deepEqual(vacancies, ['vllm-h-1: 2 of 3']);
    assert.notEqual(agent.take(), undefined);
    assert.equal(agent.take(), undefined);
    assert.equal(changes.length, 1);
  });

  it('takes nothing away from what runs when the capacity shrinks', () => {
    const { agent } = healthyAgent();
    const releases = [agent.take(), agent.take()];
    agent.reconfigure({ ...SETTING, capacity: 1 });
    assert.deepEqual([agent.active, agent.load, agent.take()], [2, 2, undefined]);
    releases[0]?.();
    assert.equal(agent.take(), undefined);
    releases[1]?.();
    assert.notEqual(agent.take(), undefined);
  });

  for (const [what, change] of [
    ['address', { backendUrl: 'http://h:2' }],
    ['engine', { engine: 'sglang' }],
    ['capability', { capability: 'embedding' }],
    ['models', { models: ['x'] }],
    ['health path', { healthPath: '/up' }],
    ['key', { apiKey: 'secret' }],
    ['deployment', { deploymentId: 'd' }],
    ['replica', { replicaId: 'r' }],
  ] as const) {
    it(`starts anew with another ${what}, and keeps what runs`, () => {
      const { agent, changes } = healthyAgent();
      agent.take();
      agent.reconfigure({ ...SETTING, ...change });
      assert.deepEqual(changes, ['vllm-h-1: healthy → starting (configuration changed)']);
      assert.equal(agent.active, 1);
    });
  }

  it('serves its new pinned models only, and known ones until an engine lists its own', () => {
    const { agent } = healthyAgent();
    agent.reconfigure({ ...SETTING, models: ['x'] });
    assert.deepEqual([agent.serves('m', 'llm'), agent.serves('x', 'llm')], [false, true]);
    agent.reconfigure({ ...SETTING, backendUrl: 'http://h:2' });
    assert.deepEqual(agent.models, ['x']);
    agent.reportProbe(ok(['y']));
    assert.deepEqual(agent.models, ['y']);
  });

  it('tells a start of another engine from one of the engine before', () => {
    const { agent, changes } = newAgent();
    agent.reportProbe(BAD);
    agent.reconfigure({ ...SETTING, backendUrl: 'http://h:2' });
    assert.deepEqual([agent.state, agent.status.reason], ['starting', 'configuration changed']);
    agent.reportProbe(BAD);
    const failed = 'vllm-h-1: starting → starting (GET /health: status 503)';
    assert.deepEqual(changes, [failed, failed]);
  });

  it('starts anew with other pinned models that read the same when joined', () => {
    const { agent } = newAgent({ models: ['a', 'b'] });
    agent.reportProbe(ok(['a', 'b']));
    agent.reconfigure({ ...SETTING, models: ['ab'] });
    assert.equal(agent.state, 'starting');
  });

  it('does nothing for the same setting', () => {
    const { agent, changes, vacancies } = newAgent();
    const { setting } = agent;
    agent.reconfigure({ ...SETTING });
    assert.equal(agent.setting, setting);
    assert.deepEqual([changes, vacancies], [[], []]);
  });

  it('does not end a drain, and drops the metrics of another engine', () => {
    const { agent } = healthyAgent();
    agent.reportMetrics(reading({ runningRequests: 3 }), 0);
    agent.drain();
    agent.reconfigure({ ...SETTING, region: 'eu' });
    assert.equal(agent.metrics?.metrics.runningRequests, 3);
    agent.reconfigure({ ...SETTING, backendUrl: 'http://h:2' });
    assert.equal(agent.metrics, undefined);
    assert.equal(agent.state, 'draining');
  });

  it('tells of the end of what it was under the setting that it had', () => {
    const told: (string | undefined)[] = [];
    const events = {
      onStateChange: (of: Agent) => void told.push(of.setting.deploymentId),
      onVacancy: () => undefined,
    };
    const agent = new Agent({ ...SETTING, deploymentId: 'old' }, events);
    agent.reportProbe(GOOD);
    agent.reconfigure({ ...SETTING, deploymentId: 'new' });
    agent.reportProbe(GOOD);
    assert.deepEqual(told, ['old', 'old', 'new']);
  });
});
