import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settled } from '../dispatch/streaming.ts';
import { REQUEST_TIMEOUT_MS } from '../dispatch/test-site.ts';
import { endOf, holding, mapWith, placed, releaseSeat } from './hold-fixture.ts';

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

  it('leaves those their place who wait for a slot of an agent that is there, until the request timeout', async () => {
    const { ask, site, holds, timers, wake, wakes } = holding();
    const all = [ask('m'), ask('m'), ask('m')];
    const [first, second, last] = all;
    wake(1);
    await settled();
    site.map = mapWith(placed('m', { scale_from_zero: false }));
    timers.advance(50_000);
    wakes.splice(0);
    holds.mapReplaced();
    await settled();
    assert.deepEqual(all.map(endOf), ['ready', 'waits', 'waits']);
    releaseSeat(first ?? assert.fail());
    await settled();
    assert.deepEqual(all.map(endOf), ['ready', 'ready', 'waits']);
    timers.advance(30_000);
    holds.mapReplaced();
    timers.advance(REQUEST_TIMEOUT_MS - 30_100);
    await settled();
    assert.deepEqual(
      [endOf(last ?? assert.fail()), wakes],
      ['waits', []],
      'nobody is asked to wake a model that does not',
    );
    timers.advance(TICK_MS);
    await settled();
    assert.equal(endOf(last ?? assert.fail()), 'overdue');
    releaseSeat(second ?? assert.fail());
    assert.deepEqual([timers.pending, holds.isHolding], [0, false]);
  });

  it('lets go of those when that agent goes, and holds them once more by another map', async () => {
    const { ask, site, holds, timers, wake } = holding();
    ask('m');
    const waiting = ask('m');
    const agent = wake(1);
    const placements = site.map;
    site.map = mapWith();
    holds.mapReplaced();
    site.map = placements;
    holds.mapReplaced();
    timers.advance(REQUEST_TIMEOUT_MS + TICK_MS);
    await settled();
    assert.equal(endOf(waiting), 'waits', 'its own time counts again');
    site.map = mapWith();
    holds.mapReplaced();
    agent.reportConnectionRefused();
    timers.advance(TICK_MS);
    await settled();
    assert.equal(endOf(waiting), 'unplaced');
  });

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
