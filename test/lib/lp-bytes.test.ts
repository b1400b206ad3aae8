import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lengthPrefixed } from '../../src/lib/lp-bytes.ts';

describe('lengthPrefixed()', () => {
  it('writes four length bytes, the largest first, and the bytes', () => {
    assert.deepEqual(lengthPrefixed(Uint8Array.of()), Uint8Array.of(0, 0, 0, 0));
    assert.deepEqual(lengthPrefixed(Uint8Array.of(7, 8)), Uint8Array.of(0, 0, 0, 2, 7, 8));
  });

  it('counts beyond one, two and three bytes of length', () => {
    const prefix = (length: number) => [...lengthPrefixed(new Uint8Array(length)).subarray(0, 4)];
    assert.deepEqual(prefix(0x01_02), [0, 0, 1, 2]);
    assert.deepEqual(prefix(0x01_02_03), [0, 1, 2, 3]);
    assert.deepEqual(prefix(0x01_00_02_03), [1, 0, 2, 3]);
  });

  it('leaves the given bytes alone', () => {
    const given = Uint8Array.of(1, 2);
    lengthPrefixed(given).fill(0xff);
    assert.deepEqual(given, Uint8Array.of(1, 2));
  });
});
