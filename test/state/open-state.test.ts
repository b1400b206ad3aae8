import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { openState, SET_ASIDE_MAX } from '../../src/state/open-state.ts';
import { APPLICATION_ID, MIGRATIONS } from '../../src/state/schema.ts';
import { documentOf, opened, reopened, replace, told, withDirectory } from './state-fixture.ts';

/** Characters of a path on Linux. */
const PATH_MAX = 4_096;

function faultOf(directory: string): string {
  const state = openState(directory);
  return state.ok ? assert.fail('it was opened') : state.fault;
}

/** A closed state file with a document of 200 KiB, and behind it use of a day that no start reads. */
function filled(directory: string): string {
  reopened(directory, (state) => {
    replace(state, 'keys', documentOf('v1', 'a'.repeat(200_000)));
    state.writeDailyUse(Array.from({ length: 2_000 }, (_, index) => ({ budget: `b${index}`, day: 1, tokens: 1 })));
  });
  return join(directory, 'state.sqlite');
}

describe('openState()', () => {
  it('makes directory and file for the owner alone', () =>
    withDirectory((parent) => {
      const directory = join(parent, 'state');
      const { state, troubles } = opened(directory);
      assert.deepEqual(troubles, []);
      assert.equal(statSync(directory).mode & 0o777, 0o700);
      const modes = readdirSync(directory).map((name) => statSync(join(directory, name)).mode & 0o777);
      assert.ok(modes.length > 1, 'the log beside the file too');
      assert.ok(modes.every((mode) => mode === 0o600));
      state.close();
    }));

  it('takes the rights of others from a file that has them', () =>
    withDirectory((directory) => {
      const path = filled(directory);
      chmodSync(path, 0o644);
      reopened(directory, () => undefined);
      assert.equal(statSync(path).mode & 0o777, 0o600);
    }));

  it('refuses a directory that cannot be made, is a file, or that everyone may write to', () =>
    withDirectory((parent) => {
      assert.match(faultOf(join(parent, 'no', 'such')), /^Cannot use state directory ".*no\/such": ENOENT/);
      writeFileSync(join(parent, 'file'), '');
      assert.match(faultOf(join(parent, 'file')), /: it is not a directory$/);
      const open = join(parent, 'open');
      mkdirSync(open);
      chmodSync(open, 0o777);
      assert.match(faultOf(open), /: everyone may write to it: take that away with chmod o-w$/);
      chmodSync(open, 0o775);
      opened(open).state.close();
    }));

  it('follows a link to a directory, as systemd makes them', () =>
    withDirectory((parent) => {
      mkdirSync(join(parent, 'private'));
      symlinkSync(join(parent, 'private'), join(parent, 'link'));
      opened(join(parent, 'link')).state.close();
      assert.ok(existsSync(join(parent, 'private', 'state.sqlite')));
    }));

  it('refuses a directory that a running router has, and takes it once that is gone', () =>
    withDirectory((directory) => {
      const { state } = opened(directory);
      assert.match(faultOf(directory), /: a running router has it$/);
      state.close();
      opened(directory).state.close();
    }));

  for (const [name, spoil] of [
    ['that is no database', (path: string) => writeFileSync(path, 'x'.repeat(10_000))],
    ['whose head is gone', (path: string) => overwrite(path, 0, 100)],
    ['whose pages are gone', (path: string) => overwrite(path, 4_096, 40_000)],
    ['whose use is gone', (path: string) => overwrite(path, statSync(path).size - 8_192, 8_192)],
    ['that was cut off', (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 50_000))],
    ['of another program', (path: string) => execute(path, 'PRAGMA application_id = 1')],
    ['of a newer router', (path: string) => execute(path, `PRAGMA user_version = ${MIGRATIONS.length + 1}`)],
    ['without its tables', (path: string) => execute(path, 'DROP TABLE part')],
    ['without a column', (path: string) => execute(path, 'ALTER TABLE agent RENAME COLUMN successes TO s')],
    ['with a key whose name is no text', (path: string) => execute(path, "UPDATE part SET name = x'ff'")],
    ['with a version that is no text', (path: string) => execute(path, "UPDATE document SET version = x'ff'")],
    ['with a number too long', (path: string) => execute(path, `UPDATE document SET generation = ${2n ** 63n - 1n}`)],
    ['that says it has no tables', (path: string) => execute(path, 'PRAGMA user_version = 0')],
  ] as const) {
    it(`sets a file aside ${name}, says so, and starts with a new one`, () =>
      withDirectory((directory) => {
        const path = filled(directory);
        spoil(path);
        const spoilt = readFileSync(path);
        const { state, isKept, troubles } = opened(directory);
        assert.deepEqual([troubles.length, isKept], [1, true]);
        const places = /^Cannot read state file "(.*)": .*; it was set aside as "(.*)"$/.exec(troubles[0] ?? '');
        assert.deepEqual(places?.slice(1), [path, `${path}.set-aside`]);
        assert.deepEqual(readFileSync(`${path}.set-aside`), spoilt);
        assert.equal(told(state, 'keys'), undefined);
        replace(state, 'keys', documentOf('v2', 'b'));
        state.close();
        assert.equal(
          reopened(directory, (again) => told(again, 'keys')),
          'v2: b',
        );
      }));
  }

  it('overwrites no file that was set aside, and when there are many leaves the next where it is', () =>
    withDirectory((directory) => {
      const path = join(directory, 'state.sqlite');
      for (let start = 1; start <= SET_ASIDE_MAX; start += 1) {
        writeFileSync(path, `damaged ${start} `.repeat(1_000));
        opened(directory).state.close();
      }
      const last = 'damaged for good '.repeat(1_000);
      writeFileSync(path, last);
      const { state, isKept, troubles } = opened(directory);
      state.close();
      assert.equal(isKept, false);
      assert.match(troubles.join('; '), /; Cannot set it aside: there are 4 such files: take them away; Nothing will/);
      const names = ['', '.set-aside', '.set-aside-2', '.set-aside-3', '.set-aside-4'];
      assert.deepEqual(
        names.map((name) =>
          readFileSync(path + name, 'utf8')
            .slice(0, 10)
            .trim(),
        ),
        ['damaged fo', 'damaged 1', 'damaged 2', 'damaged 3', 'damaged 4'],
      );
      assert.equal(readdirSync(directory).length, names.length);
    }));

  it('leaves a good file where it is when the disk takes nothing, and has it when that is over', () =>
    withDirectory((parent) => {
      // The file has a place, but the path of the log beside it is longer than one may be: so not even root can make it.
      const directory = parent.padEnd(PATH_MAX - 15, `/${'d'.repeat(200)}`);
      mkdirSync(directory, { recursive: true });
      const elsewhere = join(parent, 'short');
      copyFileSync(filled(elsewhere), join(directory, 'state.sqlite'));
      for (let start = 0; start < 2; start += 1) {
        const { state, isKept, troubles } = opened(directory);
        assert.match(
          troubles.join('; '),
          /^Cannot read state file .*: unable to open.*; Nothing will outlive this router$/,
        );
        assert.deepEqual([isKept, told(state, 'keys')], [false, undefined]);
        state.close();
      }
      assert.deepEqual(readdirSync(directory), ['state.sqlite']);
      renameSync(join(directory, 'state.sqlite'), join(elsewhere, 'state.sqlite'));
      assert.equal(
        reopened(elsewhere, (state) => state.readDocument('keys')?.version),
        'v1',
      );
    }));

  it('follows no link in place of the file', () =>
    withDirectory((directory) => {
      const elsewhere = join(directory, 'elsewhere');
      writeFileSync(elsewhere, 'precious');
      symlinkSync(elsewhere, join(directory, 'state.sqlite'));
      const { state, troubles } = opened(directory);
      assert.match(troubles[0] ?? '', /it is not a regular file/);
      state.close();
      assert.equal(readFileSync(elsewhere, 'utf8'), 'precious');
    }));

  it('holds the state in memory when no file can be made, and says that nothing will be kept', () =>
    withDirectory((parent) => {
      // The directory's path is as long as one may be, the file's is longer: so not even root can make it.
      const directory = parent.padEnd(PATH_MAX - 5, `/${'d'.repeat(200)}`);
      mkdirSync(directory, { recursive: true });
      const { state, troubles } = opened(directory);
      assert.match(troubles.join('; '), /^Cannot read state file .*; Nothing will outlive this router$/);
      replace(state, 'keys', documentOf('v1', 'a'));
      assert.equal(told(state, 'keys'), 'v1: a');
      state.close();
    }));

  it('brings an older file up to date, and keeps what is in it', () =>
    withDirectory((directory) => {
      filled(directory);
      const newer = [...MIGRATIONS, 'CREATE TABLE added (x INTEGER) STRICT'];
      for (let start = 0; start < 2; start += 1) {
        const state = openState(directory, newer);
        if (!state.ok) assert.fail(state.fault);
        assert.deepEqual(state.value.troubles, []);
        assert.equal(state.value.state.readDocument('keys')?.version, 'v1');
        state.value.state.close();
      }
      const database = new DatabaseSync(join(directory, 'state.sqlite'));
      assert.equal(database.prepare('PRAGMA user_version').get()?.['user_version'], newer.length);
      assert.equal(database.prepare('PRAGMA application_id').get()?.['application_id'], APPLICATION_ID);
      database.prepare('SELECT x FROM added').all();
      database.close();
    }));
});

function overwrite(path: string, start: number, bytes: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(bytes, 'x'), 0, bytes, start);
  closeSync(file);
}

function execute(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}
