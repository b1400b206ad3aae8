import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { redactTarget, redactText } from '../../src/telemetry/redact.ts';

const TOKEN = 'v2.k1.AAEBRlIBoaFHzgAAAOpg_Zz-9.bvDwYUGvNTABGFm-MkknhGUhrEM1-il3Hzes2lOFK4s';

const ESCAPED = TOKEN.replaceAll('.', '%2E');
const ESCAPED_WHOLE = [...TOKEN].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');

describe('redactTarget()', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['a target without a query', '/v1/models', '/v1/models'],
    ['an empty query', '/v1/models?', '/v1/models?'],
    ['the token alone', `/v1/chat/completions?rt=${TOKEN}`, '/v1/chat/completions?rt=REDACTED'],
    ['an escaped name', `/v1/chat/completions?%72t=${TOKEN}`, '/v1/chat/completions?rt=REDACTED'],
    ['another escape', `/v1/chat/completions?r%74=${TOKEN}`, '/v1/chat/completions?rt=REDACTED'],
    ['more than one', '/x?a=1&rt=x&rt=y', '/x?a=1&rt=REDACTED&rt=REDACTED'],
    ['a bare name', '/x?rt&b', '/x?rt=REDACTED&b'],
    ['an empty value', '/x?rt=', '/x?rt=REDACTED'],
    ['a value with signs of its own', '/x?rt=a=b?c/d', '/x?rt=REDACTED'],
    ['a second question mark', '/x?a=?&rt=x?y', '/x?a=?&rt=REDACTED'],
    ['an unsigned value, whatever it is', '/x?rt=hunter2', '/x?rt=REDACTED'],
    ['another letter case, which is no token', '/x?RT=1&Rt=2', '/x?RT=1&Rt=2'],
    ['names that only hold it', '/x?art=1&rta=2&r=t', '/x?art=1&rta=2&r=t'],
    ['a token under another name', `/x?RT=${TOKEN}&next=${TOKEN}`, '/x?RT=REDACTED&next=REDACTED'],
    ['a token in the path', `/v1/${TOKEN}/x`, '/v1/REDACTED/x'],
    ['a token behind an escaped question mark', `/v1/messages%3Frt=${TOKEN}`, '/v1/REDACTED'],
    ['a token with escaped dots', `/x?a=1&next=${ESCAPED}&b=%41`, '/x?a=1&next=REDACTED&b=%41'],
    ['a URL with a token, escaped', `/x?next=${encodeURIComponent(`https://b/?rt=${TOKEN}`)}`, '/x?next=REDACTED'],
    ['a token escaped to its last letter', `/x?a=${ESCAPED_WHOLE}`, '/x?a=REDACTED'],
    ['an escaped token as a name', `/x?${ESCAPED}=1&${ESCAPED}`, '/x?REDACTED=1&REDACTED'],
    ['an escaped token in the path', `/v1/${ESCAPED}/x?b`, '/v1/REDACTED/x?b'],
    ['an escaped token in a path alone', `/v1/${ESCAPED}`, '/v1/REDACTED'],
  ];
  for (const [what, target, expected] of cases) {
    it(`redacts ${what} (R-205, D-70)`, () => assert.equal(redactTarget(target), expected));
  }

  it('keeps every other parameter verbatim and in place (R-206)', () => {
    const kept = 'beta=true&x=%0d%0A&y=a+b&%zz=%&empty=&bare&v2.=1&model=v2.1';
    assert.equal(redactTarget(`/v1/messages?${kept}&rt=${TOKEN}`), `/v1/messages?${kept}&rt=REDACTED`);
  });

  it('lets the canary through in no spelling of rt, and loses no other parameter (P-17)', () => {
    const letter = (plain: string, escaped: string) => fc.constantFrom(plain, escaped, escaped.toUpperCase());
    const name = fc.tuple(letter('r', '%72'), letter('t', '%74')).map((letters) => letters.join(''));
    const part = fc.oneof(
      name.map((text) => `${text}=canary`),
      name.map((text) => `${text}=x&${text}=canary&`),
      fc.constantFrom('a=1', 'b', 'c=?', '%', 'rt%20=2', '+rt=3', '&', '?d=4'),
    );
    return fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const query = parts.join('&');
        const redacted = redactTarget(`/x?${query}`);
        assert.ok(!redacted.includes('canary'), redacted);
        const others = (text: string) => [...new URLSearchParams(text)].filter(([key]) => key !== 'rt');
        assert.deepEqual(others(redacted.slice('/x'.length)), others(`?${query}`));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('redactText()', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['every token in a text', `a ${TOKEN} b "${TOKEN}"`, 'a REDACTED b "REDACTED"'],
    ['one with a secret ID of 16 characters', `v2.${'k'.repeat(16)}.a.b`, 'REDACTED'],
    ['one inside a URL', `https://b/v1?rt=${TOKEN}&x=1`, 'https://b/v1?rt=REDACTED&x=1'],
    ['nothing of a version number', 'v2.0 and v2.1.3', 'v2.0 and v2.1.3'],
    ['nothing of a 17-character ID', `v2.${'k'.repeat(17)}.a.b`, `v2.${'k'.repeat(17)}.a.b`],
    ['nothing else', 'no token here', 'no token here'],
  ];
  for (const [what, text, expected] of cases) {
    it(`takes out ${what} (D-70)`, () => assert.equal(redactText(text), expected));
  }

  it('is linear in its text (T-17)', () => {
    const text = 'v2.a.'.repeat(200_000);
    const startedMs = performance.now();
    redactText(text);
    assert.ok(performance.now() - startedMs < 2_000);
  });
});
