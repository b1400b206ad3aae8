import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { isUuid, uuidV4 } from '../../src/lib/uuid.ts';

const UUID = '0d1f8a36-5c7e-4b29-8f04-1a2b3c4d5e6f';

const ACCEPTED = {
  'lower case': UUID,
  'upper case': UUID.toUpperCase(),
  'mixed case': '0D1f8a36-5C7e-4b29-8F04-1a2B3c4D5e6F',
  'the nil UUID': '00000000-0000-0000-0000-000000000000',
  'a version and a variant that nobody assigned': 'ffffffff-ffff-ffff-ffff-ffffffffffff',
};

const REFUSED = {
  nothing: '',
  'a URN': `urn:uuid:${UUID}`,
  braces: `{${UUID}}`,
  'any other 38 characters': `x${UUID}x`,
  'no first hyphen': UUID.replace('-', ''),
  'no last hyphen': UUID.replace(/-(?=[^-]*$)/, ''),
  '32 hex digits': UUID.replaceAll('-', ''),
  'one digit less': UUID.slice(1),
  'one digit more': `${UUID}0`,
  'a group of three and one of five': '0d1f8a36-5c7-e4b29-8f04-1a2b3c4d5e6f',
  'a letter beyond f': UUID.replace('f', 'g'),
  'a line break at the end': `${UUID}\n`,
  'a line break at the start': `\n${UUID}`,
  'a line break for a digit': UUID.replace('0', '\n'),
  'digits of another script': UUID.replace('0', '\u0660'),
};

describe('isUuid()', () => {
  for (const [what, text] of Object.entries(ACCEPTED)) {
    it(`accepts ${what} (D-27)`, () => assert.equal(isUuid(text), true));
  }
  for (const [what, text] of Object.entries(REFUSED)) {
    it(`refuses ${what} (D-27)`, () => assert.equal(isUuid(text), false));
  }
});

describe('uuidV4()', () => {
  it('sets version and variant and keeps every other bit', () => {
    const filled = (byte: number) => uuidV4((size) => new Uint8Array(size).fill(byte));
    assert.equal(filled(0x00), '00000000-0000-4000-8000-000000000000');
    assert.equal(filled(0xff), 'ffffffff-ffff-4fff-bfff-ffffffffffff');
  });

  it('writes the 16 random bytes in order', () => {
    const counting = (size: number) => Uint8Array.from({ length: size }, (_, index) => index);
    assert.equal(uuidV4(counting), '00010203-0405-4607-8809-0a0b0c0d0e0f');
  });

  it('keeps the lower two bits of the digit that holds the variant, whatever stands beside it', () => {
    for (let digit = 0; digit < 16; digit += 1) {
      const text = uuidV4((size) => new Uint8Array(size).fill(digit << 4));
      assert.equal(text.slice(19, 21), `${(0b1000 | (digit & 0b11)).toString(16)}0`);
    }
  });

  it('makes UUIDs of any bytes', () =>
    fc.assert(fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => isUuid(uuidV4(() => bytes)))));
});
