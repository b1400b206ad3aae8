// How long it takes to find a key among many, counted in reads of keys instead of time: a search that goes through them, or
// that compares one after the other, reads more of them the more there are.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiKey } from '../../src/auth/api-key.ts';
import { authenticate, type ClientAuth, callerOfKey, tokenKeyMatches } from '../../src/auth/authenticate.ts';
import type { Credentials } from '../../src/auth/credentials.ts';
import { StaticKeys } from '../../src/auth/static-keys.ts';
import { buildKey, buildRegistry, NOW_MS } from './key-builder.ts';

/** Keys `0`, `1` and so on, and how many of them have been read since the last time that this was asked. */
function watchedKeys(count: number) {
  const read = new Set<string>();
  const watched = (id: string): ApiKey =>
    new Proxy(buildKey(id), {
      get: (key, field: keyof ApiKey) => {
        read.add(id);
        return key[field];
      },
    });
  const keys = Array.from({ length: count }, (_, index) => watched(String(index)));
  const readKeys = (): number => {
    const { size } = read;
    read.clear();
    return size;
  };
  return { keys, readKeys };
}

const showing = (secret: string): Credentials => ({ tokens: [], authorization: `Bearer ${secret}`, apiKey: undefined });

describe('the look-up of a key', () => {
  for (const count of [10, 10_000]) {
    it(`reads one key of ${count}, wherever it stands, and none when there is none`, () => {
      const { keys, readKeys } = watchedKeys(count);
      const modes: readonly ClientAuth[] = [
        { mode: 'dynamic', registry: buildRegistry(...keys) },
        { mode: 'api-key', keys: new StaticKeys(keys) },
      ];
      assert.equal(readKeys(), count, 'to put them in');
      for (const auth of modes) {
        for (const [id, reads] of [
          ['0', 1],
          [String(count - 1), 1],
          ['unknown', 0],
        ] as const) {
          assert.equal(authenticate(auth, showing(`sk-${id}`), NOW_MS)?.keyId, reads === 1 ? id : undefined);
          assert.equal(readKeys(), reads, `${auth.mode} ${id}`);
        }
      }
    });

    it(`reads one key of ${count} for the ID of a token`, () => {
      const { keys, readKeys } = watchedKeys(count);
      const auth: ClientAuth = { mode: 'dynamic', registry: buildRegistry(...keys) };
      readKeys();
      const last = String(count - 1);
      assert.equal(tokenKeyMatches(auth, showing(`sk-${last}`), NOW_MS)(last), true);
      assert.equal(callerOfKey(auth, last, NOW_MS)?.keyId, last);
      assert.equal(readKeys(), 1);
    });
  }
});
