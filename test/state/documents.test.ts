import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import { parseKeyReplacement } from '../../src/auth/key-document.ts';
import { complete } from '../../src/lib/steps.ts';
import { parseAllowedDomain } from '../../src/site/allowed-domain.ts';
import { parseSiblingMap } from '../../src/site/parse-sibling-map.ts';
import type { SiblingMap } from '../../src/site/sibling-map.ts';
import { parseSiteId } from '../../src/site/site.ts';
import { keyPart, keysDocument, mapDocument, readKeys, readMapJson } from '../../src/state/documents.ts';
import { buildKey } from '../auth/key-builder.ts';
import { listed } from '../auth/key-entries.ts';
import { BIG_MAP_SITE, bigMapBytes } from '../support/big-map.ts';
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

const VERSION = '"version":18446744073709551615,';

function mapOf(json: Uint8Array): SiblingMap {
  const ownSite = parseSiteId(BIG_MAP_SITE) ?? assert.fail();
  const domain = parseAllowedDomain('.example.com');
  const map = complete(parseSiblingMap(json, { ownSite, domains: domain.ok ? [domain.value] : [] }));
  return map.ok ? map.value : assert.fail(map.fault);
}

describe('mapDocument() and readMapJson()', () => {
  for (const placements of [0, 1, 2_000]) {
    it(`bring a map of ${placements} placements through a restart, word for word`, () =>
      withDirectory((directory) => {
        const json = Buffer.from(bigMapBytes(1, 'a', placements))
          .toString()
          .replace('"version":1,', VERSION);
        const map = mapOf(Buffer.from(json));
        reopened(directory, (state) => replace(state, 'map', mapDocument(map)));
        const kept = reopened(directory, (state) => state.readDocument('map')) ?? assert.fail('nothing kept');
        assert.equal(kept.version, '18446744073709551615');
        assert.equal(Buffer.from(readMapJson(kept)).toString(), json);
        assert.equal(mapOf(readMapJson(kept)).contentHash, map.contentHash);
      }));
  }
});
