import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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
