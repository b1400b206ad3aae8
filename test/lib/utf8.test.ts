import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { complete } from '../../src/lib/steps.ts';
import { decodeUtf8, encodeUtf8, findInvalidUtf8, writeUtf8 } from '../../src/lib/utf8.ts';

const VALID: Record<string, [bytes: number[], text: string]> = {
  nothing: [[], ''],
  'the first of two bytes': [[0xc2, 0x80], '\u0080'],
  'the first of three bytes': [[0xe0, 0xa0, 0x80], '\u0800'],
  'the last before the surrogates': [[0xed, 0x9f, 0xbf], '\ud7ff'],
  'the first after the surrogates': [[0xee, 0x80, 0x80], '\ue000'],
  'the first of four bytes': [[0xf0, 0x90, 0x80, 0x80], '\u{10000}'],
  'the last of Unicode': [[0xf4, 0x8f, 0xbf, 0xbf], '\u{10ffff}'],
  'a byte order mark': [[0xef, 0xbb, 0xbf, 0x61], '\ufeffa'],
  'a replacement character': [[0xef, 0xbf, 0xbd], '\ufffd'],
};

const INVALID: Record<string, [bytes: number[], at: number]> = {
  'a continuation without a start': [[0x61, 0x80], 1],
  'a start without a continuation': [[0x61, 0xc3], 1],
  'an overlong two-byte form': [[0xc1, 0xbf], 0],
  'an overlong three-byte form': [[0x61, 0x62, 0xe0, 0x9f, 0xbf], 2],
  'an overlong four-byte form': [[0xf0, 0x8f, 0xbf, 0xbf], 0],
  'a high surrogate': [[0xed, 0xa0, 0x80], 0],
  'a low surrogate': [[0xed, 0xbf, 0xbf], 0],
  'a code point above Unicode': [[0xf4, 0x90, 0x80, 0x80], 0],
  'three bytes cut after the first': [[0x61, 0xef], 1],
  'three bytes cut after the second': [[0x61, 0xef, 0xbf], 1],
  'three bytes broken by a letter': [[0xef, 0xbf, 0x61], 0],
  'a bad byte after a replacement character': [[0xef, 0xbf, 0xbd, 0xff], 3],
};

/** Bytes at which decoders decide. */
const edgeBytes = fc
  .array(
    fc.constantFrom(0x41, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbd, 0xbf, 0xc1, 0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xff),
  )
  .map((bytes) => Uint8Array.from(bytes));

describe('encodeUtf8()', () => {
  it('writes the bytes of each valid text', () => {
    for (const [bytes, text] of Object.values(VALID)) assert.deepEqual(encodeUtf8(text), Uint8Array.from(bytes));
  });

  it('writes U+FFFD for a lone surrogate', () => {
    assert.deepEqual(encodeUtf8('\ud800'), encodeUtf8('\ufffd'));
  });
});

describe('writeUtf8()', () => {
  it('writes what encodeUtf8() gives, and touches nothing else', () =>
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '\u{7f}', '\u{80}', 'é', '模', '🦙', '\u{D800}') }),
        (text) => {
          const [bytes, expected] = [new Uint8Array(100).fill(7), new Uint8Array(100).fill(7)];
          expected.set(encodeUtf8(text), 3);
          assert.equal(writeUtf8(text, bytes, 3), encodeUtf8(text).length);
          assert.deepEqual(
            bytes.subarray(0, 3 + encodeUtf8(text).length),
            expected.subarray(0, 3 + encodeUtf8(text).length),
          );
          assert.equal(bytes.at(-1), 7);
        },
      ),
    ));
});

describe('decodeUtf8()', () => {
  for (const [what, [bytes, text]] of Object.entries(VALID)) {
    it(`reads ${what}`, () => assert.equal(decodeUtf8(Uint8Array.from(bytes)), text));
  }
  for (const [what, [bytes]] of Object.entries(INVALID)) {
    it(`refuses ${what}`, () => assert.equal(decodeUtf8(Uint8Array.from(bytes)), undefined));
  }

  it('starts anew after bytes that it refused', () => {
    assert.equal(decodeUtf8(Uint8Array.of(0xe2, 0x82)), undefined);
    assert.equal(decodeUtf8(Uint8Array.of(0xac, 0x61)), undefined);
    assert.equal(decodeUtf8(Uint8Array.of(0x61)), 'a');
  });

  it('gives back every well-formed text', () =>
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => decodeUtf8(encodeUtf8(text)) === text)));
});

describe('findInvalidUtf8()', () => {
  for (const [what, [bytes, at]] of Object.entries(INVALID)) {
    it(`finds ${what}`, () => assert.equal(complete(findInvalidUtf8(Uint8Array.from(bytes))), at));
  }

  it('finds nothing in valid bytes', () => {
    for (const [bytes] of Object.values(VALID))
      assert.equal(complete(findInvalidUtf8(Uint8Array.from(bytes))), undefined);
  });

  it('finds the end of the longest prefix of whole characters, wherever it pauses', () =>
    fc.assert(
      fc.property(edgeBytes, fc.integer({ min: 1, max: 12 }), (bytes, pieceBytes) => {
        const lengths = Array.from({ length: bytes.length + 1 }, (_, length) => length);
        const longest = lengths.findLast((length) => decodeUtf8(bytes.subarray(0, length)) !== undefined);
        assert.equal(complete(findInvalidUtf8(bytes, pieceBytes)), longest === bytes.length ? undefined : longest);
      }),
      { numRuns: 1_000 },
    ));
});
