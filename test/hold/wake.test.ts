import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REMEMBERED_MAX, SaidWords } from '../../src/hold/wake.ts';
import { settled } from '../dispatch/streaming.ts';
import { holding, releaseSeat } from './hold-fixture.ts';

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

  const said = (wakes: readonly (readonly [string, unknown])[]) => wakes.map(([what]) => what);

  it('says nothing twice within ten seconds because clients come and go', () => {
    const { ask, timers, wakes } = holding();
    for (let count = 0; count < 99; count += 1) {
      ask('m').client.abort();
      timers.advance(TICK_MS);
    }
    assert.deepEqual(said(wakes.splice(0)), ['wake_wanted', 'call', 'wake_done']);
    const [of_m, of_n] = [ask('m'), ask('n')];
    assert.deepEqual(said(wakes.splice(0)), ['wake_wanted', 'call'], 'another model is another matter');
    timers.advance(TICK_MS);
    assert.deepEqual(said(wakes.splice(0)), ['wake_wanted', 'call'], 'ten seconds after the first word');
    of_m.client.abort();
    of_n.client.abort();
    assert.deepEqual(said(wakes), ['wake_done', 'wake_done']);
  });

  it('says at once that a model is wanted anew which had woken', async () => {
    const { ask, wakes, wake } = holding();
    ask('m');
    const agent = wake(1);
    agent.reportConnectionRefused();
    ask('m');
    assert.deepEqual(said(wakes), ['wake_wanted', 'call', 'wake_done', 'wake_wanted', 'call']);
  });

  it('says it no second time for a request that found nobody where an agent seemed to be', async () => {
    const { ask, wakes, wake, timers } = holding();
    const asked = ask('m');
    const agent = wake(1);
    await settled();
    releaseSeat(asked);
    agent.reportConnectionRefused();
    const since = asked.end?.kind === 'ready' ? asked.end.start : undefined;
    ask('m', { since });
    assert.deepEqual(said(wakes), ['wake_wanted', 'call', 'wake_done']);
    timers.advance(10_000);
    assert.deepEqual(said(wakes).slice(3), ['wake_wanted', 'call']);
  });
});

describe('SaidWords', () => {
  const due = (atMs: number) => ({ announceAtMs: atMs, callAtMs: atMs, hasWoken: false });
  const fresh = { announceAtMs: Number.NEGATIVE_INFINITY, callAtMs: Number.NEGATIVE_INFINITY, hasWoken: false };

  it('forgets what keeps nothing from being said any more, and the oldest of too many', () => {
    const words = new SaidWords();
    words.keep('over', { ...due(5), callAtMs: 6 }, 0);
    words.keep('half over', { ...due(5), callAtMs: 7 }, 1);
    words.keep('new', due(10), 6);
    assert.deepEqual([words.take('over', false), words.take('half over', false).callAtMs], [fresh, 7]);
    for (let count = 0; count < REMEMBERED_MAX; count += 1) words.keep(`${count}`, due(100), 6);
    assert.deepEqual([words.take('new', false), words.take('0', false)], [fresh, due(100)]);
    assert.deepEqual(words.take('0', false), fresh, 'taken is taken');
  });
});
