import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { isBelow, parseAllowedDomain } from '../../src/site/allowed-domain.ts';
import { allowedDomain } from './map-document.ts';

const NO_DOT = 'does not start with "."';
const NO_NAME = 'not a DNS name after the "."';

describe('parseAllowedDomain()', () => {
  const TAKEN = {
    '.example.com': '.example.com',
    '.EXAMPLE.com': '.example.com',
    '.com': '.com',
    '.xn--bcher-kva.example': '.xn--bcher-kva.example',
  };
  for (const [text, domain] of Object.entries(TAKEN)) {
    it(`reads "${text}" as "${domain}" (2.7)`, () => {
      assert.deepEqual(parseAllowedDomain(text), { ok: true, value: domain });
    });
  }

  const REFUSED: readonly (readonly [string, string])[] = [
    ['example.com', NO_DOT],
    ['', NO_DOT],
    [' .example.com', NO_DOT],
    ['.', NO_NAME],
    ['..com', NO_NAME],
    ['.example.com.', NO_NAME],
    ['.*.example.com', NO_NAME],
    ['.bücher.com', NO_NAME],
    ['.\u212a.com', NO_NAME],
    ['.a_b.com', NO_NAME],
    ['.example.com:8443', NO_NAME],
    ['.example.com/', NO_NAME],
    ['.example.com ', NO_NAME],
  ];
  for (const [text, rule] of REFUSED) {
    it(`refuses ${JSON.stringify(text)}: ${rule} (R-147, 2.7)`, () => {
      assert.deepEqual(parseAllowedDomain(text), { ok: false, fault: rule });
    });
  }
});

describe('parseAllowedDomain(), any text', () => {
  const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
  const grammar = new RegExp(`^(?:\\.${label})+$`);
  const pieces = [
    '.',
    '.',
    'a',
    'B',
    '9',
    '-',
    'com',
    '*',
    '_',
    '/',
    ':',
    '@',
    ' ',
    '\n',
    'é',
    '\u212a',
    'x'.repeat(63),
  ];
  const texts = fc.oneof(
    fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join('')),
    fc
      .array(fc.stringMatching(/^\.[a-zA-Z0-9_-]{1,4}$/), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );

  it('is taken exactly when the grammar of R-147 takes it, in lower case (R-147, 2.7)', () =>
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseAllowedDomain(text);
        const isTaken = grammar.test(text) && text.length <= 254;
        assert.equal(parsed.ok ? parsed.value : undefined, isTaken ? text.toLowerCase() : undefined);
      }),
      { numRuns: 3_000 },
    ));

  it('never lets in a host that is not whole labels below it (R-185)', () =>
    fc.assert(
      fc.property(texts, fc.constantFrom('a', 'evil', 'a.b', 'x-1'), (text, name) => {
        const parsed = parseAllowedDomain(text);
        fc.pre(parsed.ok);
        if (!parsed.ok) return;
        const suffix = parsed.value;
        assert.ok(isBelow(name + suffix, [suffix]));
        for (const host of [suffix, suffix.slice(1), name + suffix.slice(1), `${name}${suffix}.0-evil`]) {
          assert.ok(!isBelow(host, [suffix]), host);
        }
      }),
      { numRuns: 1_000 },
    ));
});

describe('isBelow()', () => {
  const domains = [allowedDomain('.example.com'), allowedDomain('.example.org')];
  for (const host of ['a.example.com', 'a.b.example.org']) {
    it(`takes ${host}`, () => assert.ok(isBelow(host, domains)));
  }
  for (const host of [
    'example.com',
    'evilexample.com',
    'example.com.evil.com',
    'a.example.com.evil.com',
    '.example.com',
    'a.example.net',
    '',
  ]) {
    it(`refuses "${host}" (R-185)`, () => assert.ok(!isBelow(host, domains)));
  }
  it('refuses every host without domains', () => assert.ok(!isBelow('a.example.com', [])));
});
