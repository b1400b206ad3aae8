// A state directory that cannot be used, and a disk that takes nothing for a while.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openStateDirectory } from '../../src/cli/wire-state.ts';
import type { State } from '../../src/state/state.ts';
import { reopened, withDirectory } from '../state/state-fixture.ts';
import { createTestRouter, FIXTURE_MAP } from '../support/test-router.ts';
import { keys, life, MAP, REPLACE, started } from './state-lives.ts';

describe('keepState() on a full disk', () => {
  /** A State that throws while the disk is full. */
  function onDisk(disk: { isFull: boolean }) {
    return (state: State): State =>
      new Proxy(state, {
        get: (of, name: keyof State) => {
          const isWrite = /^(write|replace|change|delete|forget)/.test(name);
          if (disk.isFull && isWrite) {
            const fail = () => {
              throw new Error('database or disk is full');
            };
            return name === 'replaceDocument' ? () => ({ next: fail, return: () => undefined }) : fail;
          }
          const member = of[name];
          return typeof member === 'function' ? (member as (...args: unknown[]) => unknown).bind(of) : member;
        },
      });
  }

  it('serves on, counts each failure and tells of the first, and writes as soon as it can', () =>
    withDirectory(async (directory) => {
      const disk = { isFull: false };
      const router = started(directory, {}, onDisk(disk));
      const { admin, site, log } = router;
      const errors = () => site.metric('hivenet_quota_backend_errors_total');
      assert.match(await admin('POST', REPLACE, keys('1', 'a')), /^200 /);
      assert.equal(await errors(), 0);
      disk.isFull = true;
      assert.match(await admin('POST', REPLACE, keys('2', 'b')), /^200 /);
      assert.match(await admin('POST', MAP, FIXTURE_MAP), /^200 /);
      assert.equal(await errors(), 2);
      const told = log().filter((line) => line.includes('state directory'));
      assert.equal(told.length, 1);
      assert.match(
        told[0] ?? '',
        /ERROR Cannot write to the state directory, trying again reason="database or disk is full"/,
      );
      disk.isFull = false;
      await router.end();
      assert.match(log().join(''), /INFO The state directory is written to again/);
      assert.deepEqual(
        reopened(directory, (state) => [state.readDocument('keys')?.version, state.readDocument('map')?.version]),
        ['2', '1'],
      );
    }));
});

describe('openStateDirectory()', () => {
  it('refuses a directory that another router has', () =>
    withDirectory((directory) =>
      life(directory, () => {
        const again = openStateDirectory(directory, createTestRouter().ports.log);
        assert.match(again.ok ? '' : again.fault, /^Cannot use state directory ".*": a running router has it$/);
      }),
    ));

  it('tells of a file that was set aside, and starts with an empty one', () =>
    withDirectory((directory) => {
      writeFileSync(join(directory, 'state.sqlite'), 'x'.repeat(9_000));
      return life(directory, ({ log, ports }) => {
        assert.match(log().join(''), /ERROR Cannot read state file .*; it was set aside as /);
        assert.equal(ports.restoredAtMs, undefined);
        assert.ok(existsSync(join(directory, 'state.sqlite.set-aside')));
      });
    }));
});
