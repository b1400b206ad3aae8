import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joinPrefixed } from '../../src/lib/lp-bytes.ts';

const HEAD = Uint8Array.of(9, 9);

describe('joinPrefixed()', () => {
  it('writes the head, and each part behind four length bytes, the largest first', () => {
    assert.deepEqual(joinPrefixed(HEAD, []), HEAD);
    assert.deepEqual(joinPrefixed([], [Uint8Array.of()]), Uint8Array.of(0, 0, 0, 0));
    const parts = [Uint8Array.of(7, 8), Uint8Array.of(), Uint8Array.of(6)];
    assert.deepEqual(joinPrefixed(HEAD, parts), Uint8Array.of(9, 9, 0, 0, 0, 2, 7, 8, 0, 0, 0, 0, 0, 0, 0, 1, 6));
  });

  it('tells how parts are cut', () => {
    const [one, other] = [
      [Uint8Array.of(1, 2), Uint8Array.of(3)],
      [Uint8Array.of(1), Uint8Array.of(2, 3)],
    ].map((parts) => joinPrefixed([], parts));
    assert.notDeepEqual(one, other);
  });

  it('counts beyond one, two and three bytes of length', () => {
    const prefix = (length: number) => [...joinPrefixed([], [new Uint8Array(length)]).subarray(0, 4)];
    assert.deepEqual(prefix(0x01_02), [0, 0, 1, 2]);
    assert.deepEqual(prefix(0x01_02_03), [0, 1, 2, 3]);
    assert.deepEqual(prefix(0x01_00_02_03), [1, 0, 2, 3]);
  });

  it('leaves the given bytes alone', () => {
    const given = Uint8Array.of(1, 2);
    joinPrefixed(HEAD, [given]).fill(0xff);
    assert.deepEqual([given, HEAD], [Uint8Array.of(1, 2), Uint8Array.of(9, 9)]);
  });
});
