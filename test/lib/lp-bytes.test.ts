import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joinPrefixed } from '../../src/lib/lp-bytes.ts';
import { encodeUtf8 } from '../../src/lib/utf8.ts';

const HEAD = Uint8Array.of(9, 9);
const NOTHING = Uint8Array.of();

describe('joinPrefixed()', () => {
  it('writes the head, and each part behind four length bytes, the largest first', () => {
    assert.deepEqual(joinPrefixed(HEAD, []), HEAD);
    assert.deepEqual(joinPrefixed(NOTHING, [Uint8Array.of()]), Uint8Array.of(0, 0, 0, 0));
    const parts = [Uint8Array.of(7, 8), Uint8Array.of(), Uint8Array.of(6)];
    assert.deepEqual(joinPrefixed(HEAD, parts), Uint8Array.of(9, 9, 0, 0, 0, 2, 7, 8, 0, 0, 0, 0, 0, 0, 0, 1, 6));
  });

  it('writes a text as its UTF-8, half a surrogate pair as U+FFFD', () => {
    for (const text of ['', 'site-fr-1', 'key-é', '模型', 'ab🦙', '\u{D800}x', `x\u{DC00}`]) {
      assert.deepEqual(joinPrefixed(HEAD, [text, 'z']), joinPrefixed(HEAD, [encodeUtf8(text), encodeUtf8('z')]), text);
    }
  });

  it('tells how parts are cut', () => {
    const [one, other] = [
      [Uint8Array.of(1, 2), Uint8Array.of(3)],
      [Uint8Array.of(1), Uint8Array.of(2, 3)],
    ].map((parts) => joinPrefixed(NOTHING, parts));
    assert.notDeepEqual(one, other);
  });

  it('counts beyond one, two and three bytes of length', () => {
    const prefix = (length: number) => [...joinPrefixed(NOTHING, [new Uint8Array(length)]).subarray(0, 4)];
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
