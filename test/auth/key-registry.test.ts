import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiKey } from '../../src/auth/api-key.ts';
import { KEYS_MAX, KeyRegistry } from '../../src/auth/key-registry.ts';
import { KeyTable } from '../../src/auth/key-table.ts';
import { fault, ok } from '../../src/lib/result.ts';
import { buildKey, buildRegistry } from './key-builder.ts';

describe('KeyRegistry', () => {
  it('is empty, with an empty version, before the first push', () => {
    const registry = new KeyRegistry();
    assert.equal(registry.version(), '');
    assert.equal(registry.size(), 0);
    assert.deepEqual(registry.all(), []);
    assert.equal(registry.byId('a'), undefined);
  });

  it('finds each key by ID and by hash, disabled ones too, and lists them in the order of the push', () => {
    const keys = [buildKey('b'), buildKey('a', { enabled: false })];
    const registry = buildRegistry(...keys);
    assert.deepEqual(registry.all(), keys);
    assert.equal(registry.size(), 2);
    for (const key of keys) {
      assert.equal(registry.byId(key.id), key);
      assert.equal(registry.byHash(key.keyHash), key);
    }
    assert.equal(registry.byId(keys[0]?.keyHash ?? ''), undefined);
    assert.equal(registry.byHash('b'), undefined);
  });
});

describe('KeyRegistry.replace()', () => {
  const versions = [
    { held: '', pushed: 'a', taken: true },
    { held: '2', pushed: '3', taken: true },
    { held: '2', pushed: '2', taken: true },
    { held: '2', pushed: '1', taken: false },
    { held: '9', pushed: '10', taken: false },
    { held: 'a', pushed: 'B', taken: false },
    { held: 'a', pushed: 'a\u0000', taken: true },
    { held: 'aa', pushed: 'a', taken: false },
    { held: '\uff5e', pushed: '\u{1f600}', taken: true },
    { held: '\u{1f600}', pushed: '\uff5e', taken: false },
  ];
  for (const { held, pushed, taken } of versions) {
    it(`${taken ? 'accepts' : 'refuses'} ${JSON.stringify(pushed)} over ${JSON.stringify(held)}, by UTF-8 bytes (T18)`, () => {
      const registry = new KeyRegistry();
      registry.replace(held, new KeyTable([buildKey('old')]));
      const result = registry.replace(pushed, new KeyTable([buildKey('new-1'), buildKey('new-2')]));
      assert.deepEqual(result, taken ? ok(2) : fault({ reason: 'stale', currentVersion: held }));
      assert.equal(registry.version(), taken ? pushed : held);
      assert.deepEqual(
        registry.all().map((key) => key.id),
        taken ? ['new-1', 'new-2'] : ['old'],
      );
    });
  }

  it('applies other keys under an equal version (T19)', () => {
    const registry = buildRegistry(buildKey('a'));
    assert.deepEqual(registry.replace('1', new KeyTable([buildKey('b')])), ok(1));
    assert.equal(registry.byId('a'), undefined);
    assert.equal(registry.byId('b')?.id, 'b');
  });

  it('stops the old hash of an ID that got a new one', () => {
    const old = buildKey('a');
    const registry = buildRegistry(old);
    const renewed = buildKey('a', { keyHash: 'f'.repeat(64) });
    registry.replace('2', new KeyTable([renewed]));
    assert.equal(registry.byHash(old.keyHash), undefined);
    assert.equal(registry.byHash(renewed.keyHash), renewed);
  });

  it('takes a filled table as it is, in one step whatever its size (R-163)', () => {
    class Unread extends KeyTable {
      override put(): void {
        throw new Error('put');
      }
      override [Symbol.iterator](): never {
        throw new Error('read');
      }
    }
    const registry = buildRegistry(buildKey('a'));
    assert.deepEqual(registry.replace('2', new Unread()), ok(0));
    assert.equal(registry.byId('a'), undefined);
  });

  it('empties the registry, the hashes too', () => {
    const key = buildKey('a');
    const registry = buildRegistry(key);
    assert.deepEqual(registry.replace('2', new KeyTable([])), ok(0));
    assert.equal(registry.size(), 0);
    assert.equal(registry.byHash(key.keyHash), undefined);
  });
});

/** What the registry shows: version, and each key by both ways to it. */
function contentOf(registry: KeyRegistry) {
  return { version: registry.version(), keys: registry.all(), size: registry.size() };
}

function assertFound(registry: KeyRegistry, ...keys: readonly ApiKey[]): void {
  assert.deepEqual(registry.all(), keys);
  for (const key of keys) assert.deepEqual([registry.byId(key.id), registry.byHash(key.keyHash)], [key, key]);
}

describe('KeyRegistry.upsert()', () => {
  it('adds a key, and replaces the whole entry of an ID, whose old hash then opens nothing', () => {
    const registry = buildRegistry(buildKey('a'));
    assert.deepEqual(registry.upsert('2', buildKey('b')), ok(undefined));
    assertFound(registry, buildKey('a'), buildKey('b'));
    const renewed = buildKey('a', { keyHash: 'f'.repeat(64), owner: 'other' });
    assert.deepEqual(registry.upsert('3', renewed), ok(undefined));
    assertFound(registry, renewed, buildKey('b'));
    assert.equal(registry.byHash(buildKey('a').keyHash), undefined);
    assert.equal(registry.version(), '3');
  });

  it('takes the same key again, under an equal version too (T19)', () => {
    const registry = buildRegistry(buildKey('a'));
    assert.deepEqual(registry.upsert('1', buildKey('a')), ok(undefined));
    assertFound(registry, buildKey('a'));
  });

  it('changes nothing for an older version, which counts before all else', () => {
    const registry = new KeyRegistry();
    registry.replace('\u{1f600}', new KeyTable([buildKey('a')]));
    const before = contentOf(registry);
    const stale = fault({ reason: 'stale', currentVersion: '\u{1f600}' });
    assert.deepEqual(registry.upsert('\uff5e', buildKey('b', { keyHash: buildKey('a').keyHash })), stale);
    assert.deepEqual(contentOf(registry), before);
  });

  it('changes nothing when another ID has the hash, not even the version', () => {
    const registry = buildRegistry(buildKey('a'), buildKey('b'));
    const before = contentOf(registry);
    for (const id of ['b', 'c']) {
      const taking = buildKey(id, { keyHash: buildKey('a').keyHash });
      assert.deepEqual(registry.upsert('2', taking), fault({ reason: 'hash_taken' }));
    }
    assert.deepEqual(contentOf(registry), before);
    assertFound(registry, buildKey('a'), buildKey('b'));
  });

  it('holds 100,000 keys, of which each can still be changed', () => {
    const keys = Array.from({ length: KEYS_MAX - 1 }, (_, index) => buildKey(`k${index}`));
    const registry = buildRegistry(...keys);
    assert.deepEqual(registry.upsert('2', buildKey('last')), ok(undefined));
    assert.deepEqual(registry.upsert('3', buildKey('one-more')), fault({ reason: 'full' }));
    assert.deepEqual(registry.upsert('3', buildKey('last', { enabled: false })), ok(undefined));
    assert.equal(registry.size(), KEYS_MAX);
  });
});

describe('KeyRegistry.delete()', () => {
  it('takes the key out, its hash too, and keeps the version', () => {
    const registry = buildRegistry(buildKey('a'), buildKey('b'));
    assert.deepEqual(registry.delete('2', 'a'), ok(true));
    assertFound(registry, buildKey('b'));
    assert.equal(registry.byHash(buildKey('a').keyHash), undefined);
    assert.equal(registry.version(), '2');
  });

  it('keeps the version of a key that is not there too (api.md §10.2)', () => {
    const registry = buildRegistry(buildKey('a'));
    assert.deepEqual(registry.delete('2', 'b'), ok(false));
    assert.equal(registry.version(), '2');
    assertFound(registry, buildKey('a'));
  });

  it('changes nothing for an older version', () => {
    const registry = buildRegistry(buildKey('a'));
    assert.deepEqual(registry.delete('0', 'a'), fault({ reason: 'stale', currentVersion: '1' }));
    assertFound(registry, buildKey('a'));
    assert.equal(registry.version(), '1');
  });
});
