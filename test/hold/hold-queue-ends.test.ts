import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settled } from '../dispatch/streaming.ts';
import { endOf, holding, mapWith, placed } from './hold-fixture.ts';

const TICK_MS = 100;

describe('HoldQueue.mapReplaced()', () => {
  const gone = {
    'is gone': mapWith(placed('n')),
    'wakes no more': mapWith(placed('n'), placed('m', { scale_from_zero: false })),
    'is of another kind': mapWith(placed('n'), placed('m', { kind: 'embedding' })),
  };
  for (const [what, map] of Object.entries(gone)) {
    it(`lets go at once of those whose placement ${what}, and of nobody else`, async () => {
      const { ask, site, holds } = holding();
      const all = [ask('m'), ask('n'), ask('m')];
      await settled();
      site.map = map;
      holds.mapReplaced();
      assert.deepEqual(holds.counts(), [{ model: 'n', held: 1 }]);
      await settled();
      assert.deepEqual(all.map(endOf), ['unplaced', 'waits', 'unplaced']);
    });
  }

  it('moves nobody for a change of hints', async () => {
    const { ask, site, holds } = holding();
    const all = [ask('m'), ask('n')];
    site.map = mapWith(placed('m', { hint: { warm: true, load: 'full' } }), placed('n', { hint: { warm: false } }));
    holds.mapReplaced();
    await settled();
    assert.deepEqual(all.map(endOf), ['waits', 'waits']);
  });

  it('counts a new budget from the start of the hold, longer or shorter', async () => {
    const { ask, site, holds, timers } = holding();
    const [longer, shorter] = [ask('m'), ask('n')];
    timers.advance(60_000);
    site.map = mapWith(placed('m', { hold_budget: '180s' }), placed('n', { hold_budget: '61s' }));
    holds.mapReplaced();
    timers.advance(900);
    await settled();
    assert.deepEqual([endOf(longer), endOf(shorter)], ['waits', 'waits']);
    timers.advance(100);
    await settled();
    assert.deepEqual([endOf(longer), endOf(shorter)], ['waits', 'timeout']);
    timers.advance(118_900);
    await settled();
    assert.equal(endOf(longer), 'waits');
    timers.advance(100);
    await settled();
    assert.equal(endOf(longer), 'timeout');
  });

  it('ends those whose new budget has passed already', async () => {
    const { ask, site, holds, timers } = holding();
    const asked = ask('m');
    timers.advance(60_000);
    site.map = mapWith(placed('m', { hold_budget: '1s' }));
    holds.mapReplaced();
    timers.advance(TICK_MS);
    await settled();
    assert.equal(endOf(asked), 'timeout');
  });
});

describe('HoldQueue.stop()', () => {
  it('lets everybody go at once, and holds nobody any more', async () => {
    const { ask, holds, timers } = holding();
    const all = [ask('m'), ask('n')];
    await settled();
    holds.stop();
    assert.deepEqual([holds.isHolding, timers.pending], [false, 0]);
    all.push(ask('m'));
    await settled();
    assert.deepEqual(all.map(endOf), ['shutdown', 'shutdown', 'shutdown']);
  });
});
