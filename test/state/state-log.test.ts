import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import { LOG_FULL_BYTES, LOG_MAX_BYTES } from '../../src/state/state-writer.ts';
import { documentOf, told } from './state-fixture.ts';
import { withWriter } from './writer-fixture.ts';

describe('StateWriter, as its log grows,', () => {
  it('answers before it tidies up, and writes nothing more until it has', () =>
    withWriter(async ({ writer, held, state, disk }) => {
      let goOn: () => void = () => undefined;
      disk.checkpoint = () =>
        new Promise((resolve) => {
          goOn = resolve;
        });
      disk.logBytes = LOG_MAX_BYTES + 1;
      held.keys = documentOf('v1', 'a');
      await writer.replaced('keys');
      held.keys = documentOf('v2', 'b');
      const second = writer.replaced('keys');
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
      assert.equal(told(state, 'keys'), 'v1: a');
      delete disk.checkpoint;
      goOn();
      await second;
      assert.equal(told(state, 'keys'), 'v2: b');
    }));

  it('empties a log that grows too long between two steps of a write, and what is left when it is closed', () =>
    withWriter(async ({ writer, disk, state }) => {
      let checkpoints = 0;
      disk.checkpoint = () => {
        checkpoints += 1;
        return Promise.resolve();
      };
      for (const [bytes, expected] of [
        [LOG_MAX_BYTES, 0],
        [LOG_MAX_BYTES + 1, 2],
        [LOG_FULL_BYTES, 2],
        [LOG_FULL_BYTES + 1, 3],
      ] as const) {
        disk.logBytes = bytes;
        checkpoints = 0;
        await writer.partChanged('keys', '1', 'a', Buffer.from('a'));
        await writer.flush();
        await Promise.resolve();
        disk.logBytes = 0;
        await writer.flush();
        assert.equal(checkpoints, expected, `${bytes} bytes`);
      }
      delete disk.logBytes;
      assert.ok(state.logBytes() > 0);
      checkpoints = 0;
      await writer.close();
      assert.equal(checkpoints, 1);
    }));

  it('empties even a short log after a write that failed: it may be what fills the disk', () =>
    withWriter(async ({ writer, disk, held, state }) => {
      held.keys = documentOf('v1', 'a');
      await writer.replaced('keys');
      assert.ok(state.logBytes() > 0);
      disk.isFull = true;
      await writer.replaced('keys');
      await writer.flush();
      assert.equal(state.logBytes(), 0);
    }));

  it('counts a checkpoint that fails, and goes on', () =>
    withWriter(async ({ writer, held, state, disk, troubles }) => {
      disk.checkpoint = () => Promise.reject(new Error('EIO'));
      disk.logBytes = LOG_MAX_BYTES + 1;
      for (const version of ['v1', 'v2', 'v3']) {
        held.keys = documentOf(version, 'a');
        await writer.replaced('keys');
      }
      assert.equal(told(state, 'keys'), 'v3: a');
      assert.equal(troubles[0], 'news: EIO');
      assert.deepEqual([...new Set(troubles.slice(1))], ['again: EIO']);
      delete disk.checkpoint;
      await writer.flush();
      await writer.flush();
      assert.equal(troubles.at(-1), 'recovered');
      assert.equal(troubles.filter((line) => line === 'recovered').length, 1);
    }));
});
