import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { copyFileSync, mkdtempSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { AGENTS_MAX } from '../../src/state/sqlite-state.ts';
import type { State, StoredDocument } from '../../src/state/state.ts';
import { agent, documentOf, opened, reopened, replace, told, withDirectory } from './state-fixture.ts';

function withState(test: (state: State) => void): Promise<void> {
  return withDirectory((directory) => {
    const { state } = opened(directory);
    try {
      test(state);
    } finally {
      state.close();
    }
  });
}

/** 1,000 parts of 1 KiB each: several steps. */
function long(version: string, letter: string): StoredDocument {
  const body = Buffer.alloc(1_024, letter);
  return { version, parts: Array.from({ length: 1_000 }, (_, index) => ({ name: `${letter}${index}`, body })) };
}

describe('SqliteState', () => {
  it('keeps daily use by budget and day, the last figure of each', () =>
    withState((state) => {
      const budget = 'owner\0model/ü';
      state.writeDailyUse([
        { budget, day: 20_000, tokens: 5 },
        { budget: 'owner', day: 20_000, tokens: 1 },
        { budget, day: 19_999, tokens: 7 },
      ]);
      state.writeDailyUse([{ budget, day: 20_000, tokens: 2 ** 50 }]);
      const sorted = [...state.readDailyUse(20_000)].sort((a, b) => a.tokens - b.tokens);
      assert.deepEqual(sorted, [
        { budget: 'owner', day: 20_000, tokens: 1 },
        { budget, day: 20_000, tokens: 2 ** 50 },
      ]);
      assert.deepEqual(state.readDailyUse(20_001), []);
    }));

  it('keeps counters of agents, the latencies that are not known too', () =>
    withState((state) => {
      state.writeAgents([agent('a'), agent('b')], 1_000);
      state.writeAgents([{ ...agent('a', 9), rttvarMs: 0.25 }], 2_000);
      const agents = [...state.readAgents()].sort((one, other) => one.id.localeCompare(other.id));
      assert.deepEqual(agents, [{ ...agent('a', 9), rttvarMs: 0.25 }, agent('b')]);
    }));

  it('leaves out counters that are none, and tells how many', () =>
    withDirectory((directory) => {
      const good = { budget: 'good', day: 1, tokens: Number.MAX_SAFE_INTEGER };
      reopened(directory, (state) => {
        for (const budget of ['text', 'less', 'more']) state.writeDailyUse([{ budget, day: 1, tokens: 1 }]);
        state.writeDailyUse([good, { budget: 'nothing', day: 1, tokens: 0 }]);
        state.writeAgents([agent('text'), agent('less'), agent('more'), agent('latency'), agent('good')], 1);
      });
      const database = new DatabaseSync(join(directory, 'state.sqlite'));
      database.exec(`
        UPDATE daily_use SET budget = x'ff' WHERE budget = CAST('text' AS BLOB);
        UPDATE daily_use SET tokens = -1 WHERE budget = CAST('less' AS BLOB);
        UPDATE daily_use SET tokens = ${2 ** 53} WHERE budget = CAST('more' AS BLOB);
        UPDATE agent SET id = x'ff' WHERE id = CAST('text' AS BLOB);
        UPDATE agent SET failures = -1 WHERE id = CAST('less' AS BLOB);
        UPDATE agent SET successes = ${2n ** 63n - 1n} WHERE id = CAST('more' AS BLOB);
        UPDATE agent SET srtt_ms = 9e999 WHERE id = CAST('latency' AS BLOB)`);
      database.close();
      reopened(directory, (state) => {
        assert.deepEqual(state.readDailyUse(1), [good, { budget: 'nothing', day: 1, tokens: 0 }]);
        assert.deepEqual(state.readAgents(), [agent('good')]);
        assert.equal(state.damagedRows, 7);
      });
    }));

  it('keeps so many agents, those that were written last', () =>
    withState((state) => {
      state.writeAgents([agent('old')], 1_000);
      state.writeAgents(
        Array.from({ length: AGENTS_MAX - 1 }, (_, index) => agent(`a${index}`)),
        2_000,
      );
      assert.equal(state.readAgents().length, AGENTS_MAX);
      state.writeAgents([agent('new')], 2_001);
      const ids = state.readAgents().map(({ id }) => id);
      assert.deepEqual([ids.length, ids.includes('old'), ids.includes('new')], [AGENTS_MAX, false, true]);
    }));

  it('forgets days and agents before the given ones', () =>
    withState((state) => {
      for (const day of [1, 2, 3]) state.writeDailyUse([{ budget: 'b', day, tokens: 1 }]);
      state.writeAgents([agent('before')], 999);
      state.writeAgents([agent('at')], 1_000);
      state.forget(2, 1_000);
      assert.deepEqual(
        [1, 2, 3].map((day) => state.readDailyUse(day).length),
        [0, 1, 1],
      );
      assert.deepEqual(
        state.readAgents().map(({ id }) => id),
        ['at'],
      );
    }));

  it('replaces a document whole, keeps the order of its parts and the other document', () =>
    withState((state) => {
      assert.equal(told(state, 'keys'), undefined);
      replace(state, 'map', documentOf('9', 'map'));
      replace(state, 'keys', documentOf('v1', 'z', 'a'));
      assert.equal(told(state, 'keys'), 'v1: z,a');
      replace(state, 'keys', documentOf('v2', 'b', 'a'));
      replace(state, 'keys', documentOf('v2', 'c', 'a'));
      assert.deepEqual([told(state, 'keys'), told(state, 'map')], ['v2: c,a', '9: map']);
      replace(state, 'keys', documentOf('v3'));
      assert.equal(told(state, 'keys'), 'v3: ', 'without a part it is still a document');
    }));

  it('pauses while it replaces a long document, and until the end the one before is what is read', () =>
    withState((state) => {
      replace(state, 'keys', long('v1', 'a'));
      const steps = state.replaceDocument('keys', long('v2', 'b'));
      let pauses = 0;
      for (; steps.next().done !== true; pauses += 1) {
        const version = state.readDocument('keys')?.version ?? '';
        const parts = [...(state.readDocument('keys')?.parts ?? [])];
        assert.equal(parts.length, 1_000);
        assert.ok(
          parts.every(({ name }) => name.startsWith(version === 'v1' ? 'a' : 'b')),
          'never of two versions',
        );
      }
      assert.ok(pauses >= 4, `${pauses} pauses`);
      assert.equal(state.readDocument('keys')?.version, 'v2');
    }));

  it('gives the room of a replacement that was cut short back', () =>
    withState((state) => {
      replace(state, 'keys', documentOf('v1', 'a'));
      const before = state.logBytes();
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const steps = state.replaceDocument('keys', long('v2', 'b'));
        for (let count = 0; count < 4; count += 1) steps.next();
        steps.return(undefined);
      }
      assert.ok(state.logBytes() < before + 2 * 1_048_576, 'each takes the place of the one before');
      state.changePart('keys', 'v3', 'n-c', Buffer.from('c'));
      assert.equal(told(state, 'keys'), 'v3: a,c');
    }));

  it('keeps the document of before when a replacement is cut short, and the next one succeeds', () =>
    withState((state) => {
      replace(state, 'keys', documentOf('v1', 'a'));
      const steps = state.replaceDocument('keys', long('v2', 'b'));
      for (let count = 0; count < 3; count += 1) steps.next();
      steps.return(undefined);
      assert.equal(told(state, 'keys'), 'v1: a');
      replace(state, 'keys', documentOf('v3', 'c'));
      assert.equal(told(state, 'keys'), 'v3: c', 'without what the other had written');
    }));

  it('frees the room of what was replaced when it is swept, in steps', () =>
    withState((state) => {
      replace(state, 'keys', long('v1', 'a'));
      replace(state, 'keys', documentOf('v2', 'b'));
      let pauses = 0;
      for (const steps = state.sweepDocument('keys'); steps.next().done !== true; ) pauses += 1;
      assert.equal(pauses, 3, '1,000 parts');
      assert.equal([...state.sweepDocument('keys')].length, 0);
      assert.equal(told(state, 'keys'), 'v2: b');
    }));

  it('writes nothing of a document whose parts throw', () =>
    withState((state) => {
      replace(state, 'keys', documentOf('v1', 'a'));
      const twice = documentOf('v2', 'b', 'c');
      const broken = function* () {
        yield* twice.parts;
        throw new Error('broken');
      };
      assert.throws(() => replace(state, 'keys', { version: 'v2', parts: broken() }), /broken/);
      assert.equal(told(state, 'keys'), 'v1: a');
    }));

  it('writes all of a transaction or nothing, and can go on after one that failed', () =>
    withState((state) => {
      const whole = { budget: 'b', day: 1, tokens: 1 };
      assert.throws(() => state.writeDailyUse([whole, { budget: 'c', day: 1, tokens: 0.5 }]));
      assert.deepEqual(state.readDailyUse(1), []);
      state.writeDailyUse([whole]);
      assert.deepEqual(state.readDailyUse(1), [whole]);
    }));

  it('changes one part in its place, adds one at the end, and takes one out', () =>
    withState((state) => {
      replace(state, 'keys', documentOf('v1', 'a', 'b', 'c'));
      state.changePart('keys', 'v2', 'n-a', Buffer.from('A'));
      state.changePart('keys', 'v3', 'n-b', undefined);
      state.changePart('keys', 'v4', 'n-d', Buffer.from('d'));
      state.changePart('keys', 'v5', 'n-unknown', undefined);
      assert.equal(told(state, 'keys'), 'v5: A,c,d');
    }));

  it('begins a document by a part', () =>
    withState((state) => {
      state.changePart('keys', 'v1', 'one', Buffer.from('1'));
      assert.equal(told(state, 'keys'), 'v1: 1');
      replace(state, 'keys', documentOf('v2', 'a'));
      assert.equal(told(state, 'keys'), 'v2: a');
    }));

  it('deletes a document alone, and counters alone', () =>
    withState((state) => {
      replace(state, 'keys', documentOf('v1', 'a'));
      replace(state, 'map', documentOf('1', 'm'));
      state.writeDailyUse([{ budget: 'b', day: 1, tokens: 1 }]);
      state.writeAgents([agent('a')], 1);
      state.deleteDocument('map');
      assert.deepEqual([told(state, 'map'), told(state, 'keys')], [undefined, 'v1: a']);
      state.deleteCounters();
      assert.deepEqual([state.readDailyUse(1), state.readAgents(), told(state, 'keys')], [[], [], 'v1: a']);
    }));

  it('has all of it after a restart', async () => {
    await withDirectory((directory) => {
      reopened(directory, (state) => {
        replace(state, 'keys', documentOf('v1', 'a', 'b'));
        state.writeDailyUse([{ budget: 'b', day: 1, tokens: 1 }]);
      });
      reopened(directory, (state) => {
        assert.equal(told(state, 'keys'), 'v1: a,b');
        assert.equal(state.readDailyUse(1).length, 1);
      });
    });
  });

  it('empties its log at a checkpoint, and only then: what it waits for must hold nothing up', () =>
    withDirectory(async (directory) => {
      const { state } = opened(directory);
      for (let count = 0; count < 10; count += 1) replace(state, 'keys', long(`v${count}`, 'a'));
      assert.ok(state.logBytes() > 5 * 1_048_576, `${state.logBytes()} bytes`);
      await state.checkpoint();
      assert.equal(state.logBytes(), 0);
      // Without the log, as if the rest had not come to the disk.
      const copy = mkdtempSync(join(directory, 'copy-'));
      copyFileSync(join(directory, 'state.sqlite'), join(copy, 'state.sqlite'));
      assert.equal(
        reopened(copy, (other) => other.readDocument('keys')?.version),
        'v9',
      );
      replace(state, 'keys', documentOf('v10', 'b'));
      assert.ok(state.logBytes() > 0);
      state.close();
      assert.equal(
        reopened(directory, (other) => told(other, 'keys')),
        'v10: b',
      );
    }));

  it('has a file no larger for many replacements', () =>
    withDirectory((directory) => {
      reopened(directory, (state) => {
        for (let count = 0; count < 30; count += 1) replace(state, 'keys', long(`v${count}`, count % 2 ? 'a' : 'b'));
      });
      const { size } = statSync(join(directory, 'state.sqlite'));
      assert.ok(size < 6 * 1_048_576, `${size} bytes for a document of 1 MiB`);
    }));
});
