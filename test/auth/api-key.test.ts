import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashKey, isUsable } from '../../src/auth/api-key.ts';
import { buildKey, NOW_MS } from './key-builder.ts';

describe('hashKey()', () => {
  it('is the lower-case hexadecimal SHA-256 of the bytes (FIPS 180-4, first example)', () => {
    assert.equal(hashKey('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('takes text as UTF-8', () => {
    assert.equal(hashKey('clé'), hashKey(Uint8Array.of(0x63, 0x6c, 0xc3, 0xa9)));
    assert.notEqual(hashKey('clé'), hashKey(Uint8Array.of(0x63, 0x6c, 0xe9)));
  });
});

describe('isUsable()', () => {
  const cases = [
    { name: 'enabled, without expiry', key: buildKey('a'), usable: true },
    { name: 'enabled, expiring in 1 ms', key: buildKey('a', { expiresAtMs: NOW_MS + 1 }), usable: true },
    { name: 'enabled, expiring now', key: buildKey('a', { expiresAtMs: NOW_MS }), usable: false },
    { name: 'enabled, expired for 1 ms', key: buildKey('a', { expiresAtMs: NOW_MS - 1 }), usable: false },
    { name: 'enabled, expired in 1970', key: buildKey('a', { expiresAtMs: 0 }), usable: false },
    { name: 'disabled, without expiry', key: buildKey('a', { enabled: false }), usable: false },
    {
      name: 'disabled, expiring in 1 ms',
      key: buildKey('a', { enabled: false, expiresAtMs: NOW_MS + 1 }),
      usable: false,
    },
  ];
  for (const { name, key, usable } of cases) {
    it(`${usable ? 'accepts' : 'refuses'} a key that is ${name}`, () => {
      assert.equal(isUsable(key, NOW_MS), usable);
    });
  }
});
