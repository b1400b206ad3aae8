import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeyRegistry } from '../../src/auth/key-registry.ts';
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
      registry.replace(held, [buildKey('old')]);
      const result = registry.replace(pushed, [buildKey('new-1'), buildKey('new-2')]);
      assert.deepEqual(result, taken ? ok(2) : fault({ currentVersion: held }));
      assert.equal(registry.version(), taken ? pushed : held);
      assert.deepEqual(
        registry.all().map((key) => key.id),
        taken ? ['new-1', 'new-2'] : ['old'],
      );
    });
  }

  it('applies other keys under an equal version (T19)', () => {
    const registry = buildRegistry(buildKey('a'));
    assert.deepEqual(registry.replace('1', [buildKey('b')]), ok(1));
    assert.equal(registry.byId('a'), undefined);
    assert.equal(registry.byId('b')?.id, 'b');
  });

  it('stops the old hash of an ID that got a new one', () => {
    const old = buildKey('a');
    const registry = buildRegistry(old);
    const renewed = buildKey('a', { keyHash: 'f'.repeat(64) });
    registry.replace('2', [renewed]);
    assert.equal(registry.byHash(old.keyHash), undefined);
    assert.equal(registry.byHash(renewed.keyHash), renewed);
  });

  it('empties the registry, the hashes too', () => {
    const key = buildKey('a');
    const registry = buildRegistry(key);
    assert.deepEqual(registry.replace('2', []), ok(0));
    assert.equal(registry.size(), 0);
    assert.equal(registry.byHash(key.keyHash), undefined);
  });
});
