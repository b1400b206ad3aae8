import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holding } from './hold-fixture.ts';

const TICK_MS = 100;

describe('WakeSignal of a queue', () => {
  it('at once, every ten seconds while anybody waits, and that nobody does', async () => {
    const { ask, site, timers, wakes } = holding();
    site.nowMs = 1_000;
    const first = ask('m');
    const of = { model: 'm', kind: 'chat', sinceMs: 1_000 };
    assert.deepEqual(wakes.splice(0), [
      ['wake_wanted', { ...of, held: 1 }],
      ['call', { ...of, held: 1 }],
    ]);
    site.nowMs = 2_000;
    const second = ask('m');
    timers.advance(9_900);
    assert.equal(wakes.length, 0);
    timers.advance(100);
    assert.deepEqual(wakes.splice(0), [
      ['wake_wanted', { ...of, held: 2 }],
      ['call', { ...of, held: 2 }],
    ]);
    first.client.abort();
    timers.advance(10_000);
    assert.deepEqual(wakes.splice(0), [
      ['wake_wanted', { ...of, held: 1 }],
      ['call', { ...of, held: 1 }],
    ]);
    second.client.abort();
    assert.deepEqual(wakes.splice(0), [['wake_done', { ...of, held: 0 }]]);
    timers.advance(60_000);
    assert.equal(wakes.length, 0);
    site.nowMs = 3_000;
    ask('m');
    assert.deepEqual(
      wakes.map(([, { sinceMs }]) => sinceMs),
      [3_000, 3_000],
      'a wait of its own',
    );
  });

  it('calls again as soon as the call before has ended', () => {
    const { ask, site, timers, wakes } = holding();
    site.isCallUnderWay = true;
    ask('m');
    timers.advance(25_000);
    assert.deepEqual(
      wakes.map(([what]) => what),
      ['wake_wanted', 'wake_wanted', 'wake_wanted'],
    );
    site.isCallUnderWay = false;
    timers.advance(TICK_MS);
    assert.equal(wakes.at(-1)?.[0], 'call');
    timers.advance(9_900);
    assert.equal(wakes.filter(([what]) => what === 'call').length, 1);
    timers.advance(TICK_MS);
    assert.equal(wakes.filter(([what]) => what === 'call').length, 2);
  });
});
