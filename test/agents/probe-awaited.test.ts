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
});
