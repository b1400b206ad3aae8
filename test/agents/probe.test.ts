import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RESTART_MS } from '../../src/agents/health.ts';
import { PROBE_TIMEOUT_MS } from '../../src/agents/probe.ts';
import { probing, settled } from './probing.ts';

describe('startProbing()', () => {
  it('probes at once, and a healthy agent again after 5 s, not before', async () => {
    const { probes, agents, pass } = probing({ a: 'up' });
    await settled();
    assert.equal(agents[0]?.state, 'healthy');
    await pass(4750);
    assert.equal(probes.length, 1);
    await pass(250);
    assert.equal(probes.length, 2);
    await pass(5000);
    assert.equal(probes.length, 3);
  });

  it('probes a starting agent every 250 ms until it answers', async () => {
    const { probes, moods, agents, pass } = probing({ a: 'down' });
    await pass(1000);
    assert.equal(probes.length, 5);
    assert.equal(agents[0]?.state, 'starting');
    moods.set('a', 'up');
    await pass(250);
    assert.equal(agents[0]?.state, 'healthy');
    await pass(4750);
    assert.equal(probes.length, 6);
  });

  it('probes an agent that has not answered for a minute every 5 s', async () => {
    const { probes, moods, agents, pass } = probing({ a: 'down' });
    await pass(RESTART_MS);
    const before = probes.length;
    assert.equal(before, RESTART_MS / 250);
    await pass(10_000);
    assert.equal(probes.length, before + 2);
    moods.set('a', 'up');
    await pass(5000);
    assert.equal(agents[0]?.state, 'healthy');
  });

  it('spreads agents that start together over the 5 s', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `a${index}`);
    for (const mood of ['up', 'down'] as const) {
      const { probes, pass } = probing(Object.fromEntries(ids.map((id) => [id, mood])));
      await pass(RESTART_MS);
      for (let tick = 0; tick < 40; tick += 1) {
        const before = probes.length;
        await pass(250);
        assert.equal(probes.length - before, 2, mood);
      }
    }
  });

  it('looks for no engine closely that is lost by its probes, however soon after its start', async () => {
    const { probes, moods, agents, pass } = probing({ a: 'up' });
    await settled();
    moods.set('a', 'down');
    await pass(15_000);
    assert.equal(agents[0]?.state, 'unhealthy');
    await pass(10_000);
    assert.equal(probes.length, 6);
  });

  it('needs three failed probes for unhealthy and two good ones for healthy, 5 s apart', async () => {
    const { moods, agents, pass } = probing({ a: 'up' });
    await settled();
    moods.set('a', 'down');
    await pass(14_750);
    assert.equal(agents[0]?.state, 'healthy');
    await pass(250);
    assert.equal(agents[0]?.state, 'unhealthy');
    moods.set('a', 'up');
    await pass(9750);
    assert.equal(agents[0]?.state, 'unhealthy');
    await pass(250);
    assert.equal(agents[0]?.state, 'healthy');
  });

  it('never has two probes of one agent in flight, and the next follows a timeout at once', async () => {
    const { probes, pass } = probing({ a: 'hanging' });
    await pass(PROBE_TIMEOUT_MS - 250);
    assert.equal(probes.length, 1);
    await pass(500);
    assert.equal(probes.length, 2);
  });

  it('ends a probe without an answer after its timeout and counts it as failed', async () => {
    const { moods, agents, pass } = probing({ a: 'up' });
    await settled();
    moods.set('a', 'hanging');
    await pass(15_000 + PROBE_TIMEOUT_MS - 250);
    assert.equal(agents[0]?.state, 'healthy');
    await pass(250);
    assert.equal(agents[0]?.state, 'unhealthy');
  });

  it('lets one hanging engine hold up no other', async () => {
    const { agents } = probing({ a: 'hanging', b: 'up' });
    await settled();
    assert.equal(agents[1]?.state, 'healthy');
  });

  it('probes an agent that was added later', async () => {
    const { add, pass } = probing({ a: 'up' });
    const late = add('late', 'up');
    await pass(250);
    assert.equal(late.state, 'healthy');
  });

  it('changes nothing for an engine that misses every other probe, ten times', async () => {
    const { moods, changes, pass } = probing({ a: 'up' });
    await pass(250);
    for (let flap = 0; flap < 10; flap += 1) {
      moods.set('a', 'down');
      await pass(5000);
      moods.set('a', 'up');
      await pass(5000);
    }
    assert.deepEqual(changes, ['starting healthy']);
  });

  it('changes once for an engine that flaps ten times after a refused connection', async () => {
    const { moods, changes, agents, pass } = probing({ a: 'up' });
    await pass(250);
    for (let flap = 0; flap < 10; flap += 1) {
      moods.set('a', 'down');
      agents[0]?.reportConnectionRefused();
      await pass(250);
      moods.set('a', 'up');
      await pass(250);
    }
    assert.deepEqual(changes, ['starting healthy', 'healthy unhealthy']);
  });

  it('finds an engine that was restarted within half a second of its return', async () => {
    const { probes, moods, agents, pass } = probing({ a: 'up' });
    await settled();
    agents[0]?.reportConnectionRefused();
    moods.set('a', 'down');
    await pass(10_000);
    assert.equal(probes.length, 1 + 40);
    moods.set('a', 'up');
    await pass(250);
    assert.equal(agents[0]?.state, 'unhealthy');
    await pass(250);
    assert.equal(agents[0]?.state, 'healthy');
  });

  it('looks for it every 5 s when it has been away for a minute', async () => {
    const { probes, moods, agents, pass } = probing({ a: 'up' });
    await settled();
    agents[0]?.reportConnectionRefused();
    moods.set('a', 'down');
    await pass(RESTART_MS + 5000);
    const before = probes.length;
    await pass(10_000);
    assert.equal(probes.length, before + 2);
  });

  it('leaves an agent alone while it drains, and probes it at once when it starts again', async () => {
    const { probes, agents, pass } = probing({ a: 'up' });
    await settled();
    agents[0]?.drain();
    await pass(10_000);
    assert.equal(probes.length, 1);
    agents[0]?.resume();
    await pass(250);
    assert.equal(agents[0]?.state, 'healthy');
  });

  it('ends with its agent: a probe in flight is ended, and no other follows', async () => {
    const { timers, probes, agents, pass } = probing({ a: 'hanging' });
    await settled();
    agents[0]?.leave();
    await pass(10_000);
    assert.equal(probes.length, 1);
    assert.equal(timers.pending, 1);
  });

  it('begins anew with another setting, and what was in flight counts for nothing', async () => {
    const { registry, probes, agents, pass } = probing({ a: 'hanging' });
    await settled();
    const [agent] = agents;
    if (agent === undefined) throw new Error('no agent');
    registry.put({ ...agent.setting, backendUrl: 'http://elsewhere' }, 'push');
    await pass(PROBE_TIMEOUT_MS - 250);
    assert.deepEqual(probes, ['a', 'elsewhere']);
    assert.equal(agent.status.reason, 'configuration changed');
  });

  it('does not count an answer of the engine that an agent had before', async () => {
    const { registry, agents, probes } = probing({ a: 'up' });
    const [agent] = agents;
    if (agent === undefined) throw new Error('no agent');
    registry.put({ ...agent.setting, backendUrl: 'http://elsewhere' }, 'push');
    await settled();
    assert.deepEqual(probes, ['a']);
    assert.equal(agent.state, 'starting');
  });

  it('stops: no further probe, no timer left, and a probe in flight counts for nothing', async () => {
    const { timers, probes, moods, agents, stop, pass } = probing({ a: 'up' });
    await settled();
    moods.set('a', 'down');
    await pass(10_000);
    moods.set('a', 'hanging');
    await pass(5000);
    stop();
    await settled();
    assert.equal(timers.pending, 0);
    await pass(10_000);
    assert.equal(probes.length, 4);
    assert.equal(agents[0]?.state, 'healthy');
  });
});
