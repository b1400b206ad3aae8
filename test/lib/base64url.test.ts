import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { decodeBase64url, encodeBase64url } from '../../src/lib/base64url.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** RFC 4648 §10 without padding, and the two characters that are the URL alphabet's own. */
const VECTORS: Record<string, Uint8Array> = {
  '': Uint8Array.of(),
  Zg: Uint8Array.of(0x66),
  Zm8: Uint8Array.of(0x66, 0x6f),
  Zm9v: Uint8Array.of(0x66, 0x6f, 0x6f),
  Zm9vYg: Uint8Array.of(0x66, 0x6f, 0x6f, 0x62),
  Zm9vYmE: Uint8Array.of(0x66, 0x6f, 0x6f, 0x62, 0x61),
  Zm9vYmFy: Uint8Array.of(0x66, 0x6f, 0x6f, 0x62, 0x61, 0x72),
  '-_8': Uint8Array.of(0xfb, 0xff),
};

/** Of characters that are not of the alphabet, but `+` and `/`, which the reader is not given. */
const JUNK = ['Zg==', 'Zm8=', ' Zg', 'Zg ', 'Zg\n', 'Z g', 'Zg.', 'Z%67', 'Zgé', 'Z\0g', 'A', 'Zm9vA', '='];

const nearBase64url = fc.string({
  unit: fc.constantFrom(...ALPHABET, 'A', 'Q', 'g', 'w', '=', ' ', '.', '\0', 'é', '\u{FF21}'),
  maxLength: 9,
});

/** Without what a `Buffer` is more than its bytes. */
function decoded(text: string): Uint8Array | undefined {
  const bytes = decodeBase64url(text);
  return bytes === undefined ? undefined : Uint8Array.from(bytes);
}

/** What a text must be, said without decoding it. */
function isCanonical(text: string): boolean {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return false;
  const spareValues = { 0: 1, 2: 16, 3: 4 }[text.length % 4];
  return spareValues !== undefined && ALPHABET.indexOf(text.slice(-1)) % spareValues === 0;
}

describe('encodeBase64url()', () => {
  it('writes the vectors', () => {
    for (const [text, bytes] of Object.entries(VECTORS)) assert.equal(encodeBase64url(bytes), text);
  });

  it('writes only the part that a view shows', () => {
    assert.equal(encodeBase64url(Uint8Array.of(0, 0x66, 0x6f, 0).subarray(1, 3)), 'Zm8');
  });
});

describe('decodeBase64url()', () => {
  it('reads the vectors', () => {
    for (const [text, bytes] of Object.entries(VECTORS)) assert.deepEqual(decoded(text), bytes);
  });

  for (const text of JUNK) it(`refuses ${JSON.stringify(text)}`, () => assert.equal(decodeBase64url(text), undefined));

  it('takes one of the four spellings of the last character of 32 bytes', () => {
    const head = encodeBase64url(new Uint8Array(32).fill(0xa5)).slice(0, -1);
    const accepted = [...ALPHABET].filter((last) => decodeBase64url(head + last) !== undefined);
    assert.equal(accepted.join(''), 'AEIMQUYcgkosw048');
  });

  it('gives back all bytes', () =>
    fc.assert(fc.property(fc.uint8Array(), (bytes) => assert.deepEqual(decoded(encodeBase64url(bytes)), bytes))));

  it('accepts canonical texts and no others', () =>
    fc.assert(
      fc.property(nearBase64url, (text) => assert.equal(decodeBase64url(text) !== undefined, isCanonical(text))),
      { numRuns: 1_000 },
    ));
});
