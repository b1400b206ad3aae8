import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import { FLUSH_MS, PENDING_MAX } from '../../src/state/state-writer.ts';
import { agent, documentOf, told } from './state-fixture.ts';
import { DAY_MS, TODAY, use, withWriter } from './writer-fixture.ts';

describe('StateWriter', () => {
  it('writes the newest figures together, once a second, and nothing when nothing was noted', () =>
    withWriter(async ({ writer, timers, disk, tokensOf, state, pass }) => {
      assert.equal(timers.pending, 0);
      for (const tokens of [1, 2, 3]) writer.noteUse(use('b', tokens));
      writer.noteAgent(agent('a'));
      assert.equal(timers.nextMs, FLUSH_MS);
      assert.equal(tokensOf('b'), undefined);
      await pass();
      assert.deepEqual([tokensOf('b'), state.readAgents().length], [3, 1]);
      assert.deepEqual([disk.writes, timers.pending], [3, 0], 'use, agents, and the daily clearing');
      writer.noteUse(use('b', 4));
      await pass();
      assert.deepEqual([tokensOf('b'), disk.writes], [4, 4]);
    }));

  it('writes many rows in several transactions', () =>
    withWriter(async ({ writer, disk, state, pass }) => {
      for (let count = 0; count < 2_001; count += 1) writer.noteUse(use(`b${count}`, 1));
      await pass();
      assert.deepEqual([state.readDailyUse(TODAY).length, disk.writes], [2_001, 4]);
    }));

  it('keeps figures while the disk is full, tells it once, and writes the newest when it can', () =>
    withWriter(async ({ writer, timers, disk, tokensOf, troubles, pass }) => {
      disk.isFull = true;
      writer.noteUse(use('b', 1));
      await pass();
      assert.equal(timers.nextMs, FLUSH_MS, 'it tries again by itself');
      writer.noteUse(use('b', 2));
      await pass();
      const [first, ...others] = troubles.splice(0);
      assert.equal(first, 'news: database or disk is full');
      assert.deepEqual([...new Set(others)], ['again: database or disk is full']);
      disk.isFull = false;
      await pass();
      assert.equal(tokensOf('b'), 2);
      assert.deepEqual(troubles, ['recovered']);
    }));

  it('does not call it a recovery while a document is still not written', () =>
    withWriter(async ({ writer, held, disk, troubles, pass }) => {
      held.keys = documentOf('1', 'k');
      held.map = documentOf('1', 'm');
      disk.isFullFor = 'map';
      await writer.replaced('map');
      writer.noteUse(use('b', 1));
      await pass();
      await writer.replaced('keys');
      const [first, ...others] = troubles.splice(0);
      assert.equal(first, 'news: database or disk is full');
      assert.deepEqual([...new Set(others)], ['again: database or disk is full']);
      delete disk.isFullFor;
      await pass();
      assert.deepEqual(troubles, ['recovered']);
    }));

  it('never writes an older figure over one that was noted during a failing write', () =>
    withWriter(async ({ writer, disk, tokensOf, pass }) => {
      disk.isFull = true;
      writer.noteUse(use('b', 1));
      disk.meanwhile = () => writer.noteUse(use('b', 2));
      await writer.flush();
      disk.isFull = false;
      delete disk.meanwhile;
      await pass();
      assert.equal(tokensOf('b'), 2);
    }));

  it('holds so many figures that cannot be written, and drops the oldest of more', () =>
    withWriter(async ({ writer, disk, state, pass }) => {
      disk.isFull = true;
      for (let count = 0; count <= PENDING_MAX; count += 1) writer.noteUse(use(`b${count}`, 1));
      await pass();
      disk.isFull = false;
      await pass();
      const budgets = new Set(state.readDailyUse(TODAY).map(({ budget }) => budget));
      assert.deepEqual([budgets.size, budgets.has('b0'), budgets.has('b1')], [PENDING_MAX, false, true]);
    }));

  it('saves a replaced document at once, as it is held then', () =>
    withWriter(async ({ writer, held, state }) => {
      held.keys = documentOf('v1', 'a');
      await writer.replaced('keys');
      assert.equal(told(state, 'keys'), 'v1: a');
      delete held.keys;
      await writer.replaced('keys');
      assert.equal(told(state, 'keys'), undefined);
    }));

  it('saves changes of parts one after another, in their order', () =>
    withWriter(async ({ writer, held, state }) => {
      held.keys = documentOf('v1', 'a');
      await Promise.all([
        writer.replaced('keys'),
        writer.partChanged('keys', 'v2', 'n-a', Buffer.from('b')),
        writer.partChanged('keys', 'v3', 'n-c', Buffer.from('c')),
        writer.partChanged('keys', 'v4', 'n-a', undefined),
      ]);
      assert.equal(told(state, 'keys'), 'v4: c');
    }));

  it('saves the whole document as soon as it can, after a change of it was lost', () =>
    withWriter(async ({ writer, held, state, disk, timers, pass }) => {
      held.keys = documentOf('v1', 'a', 'b');
      await writer.replaced('keys');
      disk.isFull = true;
      held.keys = documentOf('v2', 'b');
      await writer.partChanged('keys', 'v2', 'n-a', undefined);
      assert.equal(told(state, 'keys'), 'v1: a,b');
      disk.isFull = false;
      held.keys = documentOf('v3', 'b', 'c');
      await writer.partChanged('keys', 'v3', 'n-c', Buffer.from('c'));
      assert.equal(told(state, 'keys'), 'v3: b,c', 'the lost change too');
      disk.isFull = true;
      held.map = documentOf('1', 'm');
      await writer.replaced('map');
      assert.equal(timers.pending, 1, 'and without another push');
      disk.isFull = false;
      await pass();
      assert.equal(told(state, 'map'), '1: m');
    }));

  it('clears what is too old once a day', () =>
    withWriter(async ({ writer, state, timers, pass }) => {
      state.writeAgents([agent('gone')], (TODAY - 31) * DAY_MS);
      for (const day of [TODAY - 2, TODAY - 1, TODAY]) writer.noteUse(use('b', 1, day));
      await pass();
      const days = () => [2, 1, 0].map((ago) => state.readDailyUse(TODAY - ago).length);
      assert.deepEqual([days(), state.readAgents()], [[0, 1, 1], []]);
      timers.advance(DAY_MS);
      writer.noteUse(use('b', 1, TODAY + 1));
      await pass();
      assert.deepEqual(days(), [0, 0, 1]);
    }));

  it('clears at the next write what it could not clear', () =>
    withWriter(async ({ writer, state, disk, tokensOf, pass }) => {
      state.writeDailyUse([use('b', 1, TODAY - 2)]);
      writer.noteUse(use('b', 1));
      let writes = 0;
      disk.meanwhile = () => {
        writes += 1;
        disk.isFull = writes > 1;
      };
      await pass();
      assert.deepEqual([tokensOf('b'), state.readDailyUse(TODAY - 2).length], [1, 1]);
      disk.isFull = false;
      delete disk.meanwhile;
      writer.noteUse(use('b', 2));
      await pass();
      assert.equal(state.readDailyUse(TODAY - 2).length, 0);
    }));

  it('writes what waits when it is closed, and nothing afterwards', () =>
    withWriter(async ({ writer, timers, isClosed, disk }) => {
      writer.noteUse(use('b', 1));
      await writer.close();
      assert.deepEqual([isClosed(), disk.writes > 0, timers.pending], [true, true, 0]);
      writer.noteUse(use('b', 2));
      assert.equal(timers.pending, 0);
    }));
});
