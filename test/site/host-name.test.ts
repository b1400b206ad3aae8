import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isHostName } from '../../src/site/host-name.ts';

const LABEL_63 = 'a'.repeat(63);
/** Three labels of 63 and one of 61, with three dots. */
const HOST_253 = `${LABEL_63}.${LABEL_63}.${LABEL_63}.${'a'.repeat(61)}`;

describe('isHostName()', () => {
  for (const text of ['a', '0', 'a-b', 'a--b', 'A.b.C', 'xn--bcher-kva.example', '127.0.0.1', LABEL_63, HOST_253]) {
    it(`takes "${text}"`, () => assert.ok(isHostName(text)));
  }
  for (const text of [
    '',
    '.',
    'a.',
    '.a',
    'a..b',
    '-a',
    'a-',
    'a.-b',
    'a_b',
    '_a',
    'a b',
    'a\n',
    'a%2eb',
    '*.a',
    'bücher',
    'ａ',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.ok(!isHostName(text)));
  }
  it('refuses characters that fold to ASCII letters', () => {
    for (const text of ['\u212a', '\u017f', '\u0131', '\u0130']) assert.ok(!isHostName(text), text);
  });
  it('refuses a label of 64 and a host of 254 characters', () => {
    assert.ok(!isHostName(`a.${LABEL_63}a`));
    assert.ok(!isHostName(`${HOST_253}a`));
  });
});
