import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Agent } from '../../src/agents/agent.ts';
import { ok } from '../../src/lib/result.ts';
import { BAD, GOOD, healthyAgent, newAgent, SETTING } from './agent-under-test.ts';
import { FakeClocks } from './fake-clocks.ts';

function unhealthyAgent() {
  const { agent, changes } = healthyAgent();
  agent.reportConnectionRefused();
  changes.length = 0;
  return { agent, changes };
}

describe('Agent state', () => {
  it('becomes healthy at the first good probe after its start', () => {
    const { agent, changes } = newAgent();
    assert.equal(agent.state, 'starting');
    agent.reportProbe(GOOD);
    assert.equal(agent.state, 'healthy');
    assert.deepEqual(changes, ['vllm-h-1: starting → healthy (probe answered)']);
  });

  it('stays starting however many probes fail, since loading a model takes minutes', () => {
    const { agent } = newAgent();
    for (let probe = 0; probe < 100; probe += 1) agent.reportProbe(BAD);
    assert.equal(agent.state, 'starting');
    agent.reportProbe(GOOD);
    assert.equal(agent.state, 'healthy');
  });

  it('tells of the first failed probe of its start, and of no other', () => {
    const { agent, changes } = newAgent();
    for (let probe = 0; probe < 100; probe += 1) agent.reportProbe(BAD);
    agent.reportProbe(GOOD);
    assert.equal(changes.length, 2);
    assert.match(changes[0] ?? '', /^vllm-h-1: starting → starting \(/);
  });

  it('becomes unhealthy at the third failed probe in a row, not at the second', () => {
    const { agent, changes } = healthyAgent();
    agent.reportProbe(BAD);
    agent.reportProbe(BAD);
    assert.equal(agent.state, 'healthy');
    agent.reportProbe(BAD);
    assert.equal(agent.state, 'unhealthy');
    assert.deepEqual(changes, ['vllm-h-1: healthy → unhealthy (GET /health: status 503)']);
  });

  it('counts failures anew after a good probe', () => {
    const { agent, changes } = healthyAgent();
    for (const probe of [BAD, BAD, GOOD, BAD, BAD, GOOD, BAD, BAD]) agent.reportProbe(probe);
    assert.equal(agent.state, 'healthy');
    assert.deepEqual(changes, []);
  });

  it('becomes healthy again at the second good probe in a row, not at the first', () => {
    const { agent, changes } = unhealthyAgent();
    for (const probe of [GOOD, BAD, GOOD]) agent.reportProbe(probe);
    assert.equal(agent.state, 'unhealthy');
    agent.reportProbe(GOOD);
    assert.equal(agent.state, 'healthy');
    assert.equal(changes.length, 1);
  });

  it('becomes unhealthy at once when a request finds nobody listening', () => {
    const { agent, changes } = healthyAgent();
    agent.reportConnectionRefused();
    agent.reportConnectionRefused();
    assert.equal(agent.state, 'unhealthy');
    assert.deepEqual(changes, ['vllm-h-1: healthy → unhealthy (connection refused)']);
  });

  it('does not count good probes from before a refused connection', () => {
    const { agent } = healthyAgent();
    agent.reportProbe(GOOD);
    agent.reportConnectionRefused();
    agent.reportProbe(GOOD);
    assert.equal(agent.state, 'unhealthy');
  });

  it('does not end its start because of a refused connection', () => {
    const { agent } = newAgent();
    agent.reportConnectionRefused();
    assert.equal(agent.state, 'starting');
  });
});

describe('Agent.models', () => {
  it('are the pinned ones before any probe', () => {
    assert.deepEqual(newAgent({ models: ['a', 'b'] }).agent.models, ['a', 'b']);
  });

  it('follow each good probe and outlive failed ones', () => {
    const { agent } = newAgent();
    assert.deepEqual(agent.models, []);
    agent.reportProbe(ok(['a', 'b']));
    agent.reportProbe(ok(['b', 'c']));
    agent.reportProbe(BAD);
    assert.deepEqual(agent.models, ['b', 'c']);
  });

  it('are served for the agent’s own capability only, by their exact name', () => {
    const { agent } = newAgent({ models: ['Bge-M3'] });
    assert.equal(agent.serves('Bge-M3', 'llm'), true);
    assert.equal(agent.serves('bge-m3', 'llm'), false);
    assert.equal(agent.serves('Bge-M3', 'embedding'), false);
  });
});

describe('Agent.take()', () => {
  it('gives exactly as many slots as the capacity', () => {
    const { agent } = newAgent({ capacity: 2 });
    assert.notEqual(agent.take(), undefined);
    assert.notEqual(agent.take(), undefined);
    assert.equal(agent.take(), undefined);
    assert.equal(agent.active, 2);
    assert.equal(agent.load, 1);
  });

  it('returns a slot only once, however often it is given back (E7)', () => {
    const { agent } = newAgent({ capacity: 2 });
    const release = agent.take();
    agent.take();
    release?.();
    release?.();
    assert.equal(agent.active, 1);
    assert.notEqual(agent.take(), undefined);
    assert.equal(agent.take(), undefined);
  });

  it('tells of every slot that comes free, once', () => {
    const { agent, vacancies } = newAgent();
    const release = agent.take();
    agent.take();
    assert.deepEqual(vacancies, []);
    release?.();
    release?.();
    assert.deepEqual(vacancies, ['vllm-h-1: 1 of 2']);
  });

  it('tells of a vacancy as it turns healthy, not before', () => {
    const { agent, vacancies } = newAgent();
    agent.reportProbe(BAD);
    assert.deepEqual(vacancies, []);
    agent.reportProbe(GOOD);
    assert.deepEqual(vacancies, ['vllm-h-1: 0 of 2']);
  });
});

describe('Agent.record', () => {
  it('counts each loss once, by its cause', () => {
    const { agent } = healthyAgent();
    for (let probe = 0; probe < 5; probe += 1) agent.reportProbe(BAD);
    assert.deepEqual(agent.record.losses, { probes: 1, refused: 0 });
    agent.reportProbe(GOOD);
    agent.reportProbe(GOOD);
    agent.reportConnectionRefused();
    agent.reportConnectionRefused();
    assert.deepEqual(agent.record.losses, { probes: 1, refused: 1 });
  });

  it('outlives the engine’s restart and another setting', () => {
    const { agent } = healthyAgent();
    agent.record.succeeded({ inputTokens: 3, outputTokens: 4 });
    agent.record.sample(100);
    agent.reportConnectionRefused();
    agent.reportProbe(GOOD);
    agent.reportProbe(GOOD);
    agent.reconfigure({ ...SETTING, backendUrl: 'http://other:1', models: ['x'] });
    const { successes, outputTokens, srttMs } = agent.record;
    assert.deepEqual([successes, outputTokens, srttMs], [1, 4, 100]);
  });
});

describe('Agent.lastSeenMs', () => {
  it('is the wall time of the last good probe', () => {
    const clocks = new FakeClocks();
    const agent = new Agent(SETTING, { onStateChange: () => undefined, onVacancy: () => undefined }, clocks);
    assert.equal(agent.lastSeenMs, undefined);
    clocks.elapsedMs = 5;
    agent.reportProbe(GOOD);
    clocks.elapsedMs = 6;
    agent.reportProbe(BAD);
    assert.equal(agent.lastSeenMs, 5);
  });
});
