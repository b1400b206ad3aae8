import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import { parseKeyReplacement } from '../../src/auth/key-document.ts';
import { complete } from '../../src/lib/steps.ts';
import { keyPart, keysDocument, mapDocument, readKeys, readMapJson } from '../../src/state/documents.ts';
import { buildKey } from '../auth/key-builder.ts';
import { listed } from '../auth/key-entries.ts';
import { reopened, replace, withDirectory } from './state-fixture.ts';

const PUSHED = complete(
  parseKeyReplacement({
    version: '2026-11\0z',
    keys: [
      { id: 'plain', key_hash: 'A'.repeat(64), owner: 'o', name: 'n', enabled: true },
      {
        id: 'full\0ü',
        key_hash: 'b'.repeat(64),
        key_preview: 'sk-…1',
        owner: 'o',
        name: 'n',
        enabled: false,
        expires_at: '2027-01-01T00:00:00.5Z',
        allowed_models: ['m', '__proto__'],
        quota: { per_model: { constructor: { requests_per_minute_per_replica: 1, tokens_per_day: 0 } } },
        max_occupancy_share: 0.25,
      },
      {
        id: 'flat',
        key_hash: 'c'.repeat(64),
        owner: 'o',
        name: 'n',
        quota: { requests_per_minute: -1, tokens_per_day: 9 },
      },
    ],
  }),
);

describe('keysDocument() and readKeys()', () => {
  it('bring every field of every key through a restart', () =>
    withDirectory((directory) => {
      if (!PUSHED.ok) assert.fail(PUSHED.fault);
      const { version, keys } = PUSHED.value;
      reopened(directory, (state) => replace(state, 'keys', keysDocument(version, keys)));
      const read = reopened(directory, (state) => readKeys(state.readDocument('keys') ?? assert.fail('nothing kept')));
      assert.deepEqual(listed(read), listed(PUSHED));
    }));

  it('hold the hash and not the key', () => {
    const text = Buffer.from(keyPart(buildKey('k')).body).toString();
    assert.ok(text.includes(buildKey('k').keyHash));
    assert.ok(!text.includes('sk-k'));
  });

  it('check what is read like a push', () => {
    for (const [body, rule] of [
      ['{', /^keys\[0\]: is not valid JSON$/],
      ['\xff', /^keys\[0\]: is not valid JSON$/],
      ['{"id":""}', /^keys\[0\]\./],
    ] as const) {
      const read = readKeys({ version: 'v', parts: [{ name: 'k', body: Buffer.from(body, 'latin1') }] });
      assert.match(read.ok ? '' : read.fault, rule);
    }
  });
});

describe('mapDocument() and readMapJson()', () => {
  for (const bytes of [0, 1, 131_072, 131_073, 1_000_000]) {
    it(`bring ${bytes} bytes through a restart`, () =>
      withDirectory((directory) => {
        const json = Buffer.alloc(bytes, 'abc');
        reopened(directory, (state) => replace(state, 'map', mapDocument(2n ** 64n - 1n, json)));
        const kept = reopened(directory, (state) => state.readDocument('map')) ?? assert.fail('nothing kept');
        assert.equal(kept.version, '18446744073709551615');
        assert.ok(Buffer.from(readMapJson(kept)).equals(json));
      }));
  }
});
