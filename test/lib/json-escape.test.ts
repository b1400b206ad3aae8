import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { escapedBytes } from '../../src/lib/json-escape.ts';

describe('escapedBytes()', () => {
  it('is 1 for each short escape', () => {
    for (const letter of '"\\/bfnrt') assert.equal(escapedBytes(...Buffer.from(letter)), 1);
  });

  it('is the UTF-8 length of any character as \\u, half of 4 for each half of a pair', () => {
    const character = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 });
    return fc.assert(
      fc.property(character, fc.boolean(), (text, isUpper) => {
        const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index).toString(16));
        const bytes = units.map((unit) => {
          const digits = unit.padStart(4, '0');
          return escapedBytes(...Buffer.from(`u${isUpper ? digits.toUpperCase() : digits}`));
        });
        assert.equal(
          bytes.reduce((sum, count) => sum + count, 0),
          Buffer.byteLength(text),
        );
      }),
      { numRuns: 2_000 },
    );
  });
});
