import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { EU_MEMBERS, parseCountryCode } from '../../src/site/country.ts';

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const PAIRS = LETTERS.flatMap((first) => LETTERS.map((second) => `${first}${second}`));

describe('parseCountryCode()', () => {
  it('takes exactly the 249 assigned codes (D-67)', () => {
    const taken = PAIRS.filter((pair) => parseCountryCode(pair) === pair);
    assert.equal(taken.length, 249);
    assert.equal(
      createHash('sha256').update(taken.join(' ')).digest('hex'),
      'e1c950d24ceb933ac49eaa44de8d1a7ffb6bf40bfe519a5a99d791cb50332197',
    );
  });

  for (const text of [
    '',
    'fr',
    'Fr',
    'FRA',
    'F',
    'UK',
    'XK',
    'EU',
    'ZZ',
    'SU',
    'FR ',
    ' FR',
    'ＦＲ',
    '__proto__',
    'FR DE',
  ]) {
    it(`refuses ${JSON.stringify(text)} (R-188)`, () => assert.equal(parseCountryCode(text), undefined));
  }
});

describe('parseCountryCode(), any text', () => {
  it('takes nothing but two upper-case letters, and nothing around them (R-188)', () =>
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary', maxLength: 3 }), fc.stringMatching(/^[A-Za-z]{1,3}$/)),
        (text) => {
          const code = parseCountryCode(text);
          if (code !== undefined) assert.match(text, /^[A-Z]{2}$/);
          assert.ok(code === undefined || code === text);
        },
      ),
      { numRuns: 2_000 },
    ));
});

describe('EU_MEMBERS', () => {
  it('are 27 of the assigned codes', () => {
    assert.equal(EU_MEMBERS.size, 27);
    for (const code of EU_MEMBERS) assert.equal(parseCountryCode(code), code);
    for (const outside of ['GB', 'CH', 'NO', 'IS', 'TR', 'UA']) assert.ok(!EU_MEMBERS.has(outside));
  });
});
