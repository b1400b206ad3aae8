// Who a key belongs to, among few keys and among as many as there can be, against its floor: hashing what was shown. It
// must not grow with the number of keys, and an unknown key must not be told by its time.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { authenticate, type ClientAuth } from '../src/auth/authenticate.ts';
import { KEYS_MAX, KeyRegistry } from '../src/auth/key-registry.ts';
import { KeyTable } from '../src/auth/key-table.ts';
import { StaticKeys } from '../src/auth/static-keys.ts';
import { buildKey } from '../test/auth/key-builder.ts';
import { type Measured, report } from './report.ts';

const SHOWN = 'sk-hivenet-0123456789abcdefghijklmnopqrstuvwxyzABCDEFG';
const keyHash = hash('sha256', SHOWN, 'hex');

function keysOf(count: number) {
  const others = Array.from({ length: count - 1 }, (_, index) => buildKey(`key-${index}`));
  return [...others, buildKey('asked', { keyHash })];
}

function registryOf(count: number): ClientAuth {
  const registry = new KeyRegistry();
  registry.replace('1', new KeyTable(keysOf(count)));
  return { mode: 'dynamic', registry };
}

function looking(name: string, auth: ClientAuth, shown: string): Measured {
  const credentials = { tokens: [], authorization: `Bearer ${shown}`, apiKey: undefined };
  const run = () => authenticate(auth, credentials, 0);
  assert.equal(run() !== undefined, shown === SHOWN);
  return { name, run, floor: () => hash('sha256', shown, 'hex'), atMost: 4 };
}

/** Up to as many as there can be. */
const COUNTS = [100, 1_000, 10_000, KEYS_MAX];
await report('Key lookup', [
  ...COUNTS.map((count) => looking(`${count} pushed keys`, registryOf(count), SHOWN)),
  looking(`${KEYS_MAX} pushed keys, an unknown one`, registryOf(KEYS_MAX), `${SHOWN.slice(0, -1)}H`),
  looking('10000 keys of an auth file', { mode: 'api-key', keys: new StaticKeys(keysOf(10_000)) }, SHOWN),
]);
