import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RESTART_MS } from '../../src/agents/health.ts';
import { probing } from './probing.ts';

describe('startProbing() while a request is held', () => {
  it('probes an agent that is not healthy every 250 ms while a request is held, and one good probe is enough', async () => {
    const { probes, moods, agents, awaited, pass } = probing({ a: 'up', b: 'down' });
    await pass(RESTART_MS);
    moods.set('a', 'down');
    await pass(15_000);
    assert.deepEqual(
      agents.map(({ state }) => state),
      ['unhealthy', 'starting'],
    );
    awaited.isAny = true;
    const before = probes.length;
    await pass(1_000);
    assert.equal(probes.length - before, 8);
    moods.set('a', 'up').set('b', 'up');
    await pass(250);
    assert.deepEqual(
      agents.map(({ state }) => state),
      ['healthy', 'healthy'],
    );
  });

  it('probes a healthy agent closely while a request is held only if it lists its models itself', async () => {
    const { probes, awaited, add, pass } = probing({ pinned: 'up' });
    add('listing', 'up', []);
    await pass(1_000);
    awaited.isAny = true;
    const before = probes.length;
    await pass(1_000);
    assert.ok(probes.slice(before).every((id) => id === 'listing'));
    assert.ok(probes.length - before >= 4);
    awaited.isAny = false;
    const after = probes.length;
    await pass(2_000);
    assert.equal(probes.length, after, 'and no longer than that');
  });

  it('is not kept by a probe that hangs from seeing that the engine answers the next', async () => {
    const { probes, moods, agents, awaited, pass, outstanding } = probing({ a: 'hanging' });
    await pass(250);
    assert.equal(probes.length, 1, 'nobody waits');
    awaited.isAny = true;
    await pass(2_000);
    assert.equal(probes.length, 9);
    moods.set('a', 'up');
    await pass(250);
    assert.equal(agents[0]?.state, 'healthy');
    assert.equal(outstanding(), 0, 'what hung says nothing any more');
    awaited.isAny = false;
    await pass(4_000);
    assert.equal(agents[0]?.state, 'healthy');
  });

  it('has five probes out at most, and counts as failed only what has had its whole time', async () => {
    const { moods, agents, awaited, pass, outstanding } = probing({ a: 'hanging' });
    awaited.isAny = true;
    await pass(3_750);
    assert.deepEqual([outstanding(), agents[0]?.status.reason], [5, 'not probed yet']);
    await pass(250);
    assert.notEqual(agents[0]?.status.reason, 'not probed yet');
    moods.set('a', 'down');
    await pass(5_000);
    assert.equal(outstanding(), 0);
  });
});
