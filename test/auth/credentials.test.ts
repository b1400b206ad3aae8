import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import { hashShownKey, readBearer, readCredentials, shownKeys } from '../../src/auth/credentials.ts';
import { sha256Hex } from './key-builder.ts';

describe('readCredentials()', () => {
  const queries: readonly (readonly [search: string, tokens: readonly string[]])[] = [
    ['', []],
    ['?', []],
    ['?rt=x', ['x']],
    ['rt=x', ['x']],
    ['?a=1&rt=x&b=2', ['x']],
    ['?%72t=x', ['x']],
    ['?r%74=x', ['x']],
    ['?rt', ['']],
    ['?rt=', ['']],
    ['?rt=x&rt=y', ['x', 'y']],
    ['?rt=x&%72%74', ['x', '']],
    ['?rt=a%2Eb', ['a.b']],
    ['?rt=a+b', ['a b']],
    ['?rt=a=b', ['a=b']],
    ['?rt=%ff', ['\ufffd']],
    ['?RT=x&Rt=y', []],
    ['?a=1;rt=x', []],
    ['?a=rt=x', []],
    ['?rt%3Dx', []],
    ['?%2572t=x', []],
    ['?rt%20=x&+rt=y', []],
    ['?rt%00=x', []],
    ['?rt[]=x', []],
    ['??rt=x', []],
    ['?a=1#&rt=x', ['x']],
  ];
  for (const [search, tokens] of queries) {
    it(`finds ${tokens.length} token in "${search}" (R-092, D-25)`, () => {
      assert.deepEqual(readCredentials(new Headers(), search).tokens, tokens);
    });
  }

  const headers: readonly (readonly [
    lines: [string, string][],
    authorization?: string | undefined,
    apiKey?: string,
  ])[] = [
    [[]],
    [[['Authorization', 'Bearer k']], 'Bearer k'],
    [[['AUTHORIZATION', 'k']], 'k'],
    [[['Authorization', '']], ''],
    [[['X-Api-Key', 'k']], undefined, 'k'],
    [[['x-api-key', '']], undefined, ''],
    [
      [
        ['Authorization', 'Bearer a'],
        ['x-api-key', 'b'],
      ],
      'Bearer a',
      'b',
    ],
    [
      [
        ['Authorization', 'Bearer a'],
        ['Authorization', 'Bearer b'],
      ],
      'Bearer a, Bearer b',
    ],
    [
      [
        ['x-api-key', 'a'],
        ['x-api-key', 'b'],
      ],
      undefined,
      'a, b',
    ],
    [
      [
        ['Proxy-Authorization', 'Bearer k'],
        ['Api-Key', 'k'],
        ['Cookie', 'authorization=k'],
      ],
    ],
  ];
  for (const [lines, authorization, apiKey] of headers) {
    it(`reads ${JSON.stringify(lines)}, telling an empty header from none (E1)`, () => {
      assert.deepEqual(readCredentials(new Headers(lines), ''), { tokens: [], authorization, apiKey });
    });
  }

  it('takes no token from a header and no key from the query', () => {
    const shown = readCredentials(new Headers({ rt: 'x', 'x-rt': 'x' }), '?authorization=k&x-api-key=k&api_key=k');
    assert.deepEqual(shown, { tokens: [], authorization: undefined, apiKey: undefined });
  });
});

describe('readBearer()', () => {
  const values: readonly (readonly [value: string, key: string])[] = [
    ['Bearer k', 'k'],
    ['k', 'k'],
    ['  Bearer \t k \t', 'k'],
    ['\tk ', 'k'],
    ['Bearer a b', 'a b'],
    ['Bearer Bearer k', 'Bearer k'],
    ['bearer k', 'bearer k'],
    ['BEARER k', 'BEARER k'],
    ['Bearer\tk', 'Bearer\tk'],
    ['Bearerk', 'Bearerk'],
    ['Bearer', 'Bearer'],
    ['Bearer ', 'Bearer'],
    ['Basic k', 'Basic k'],
    ['Bearer k, Bearer k', 'k, Bearer k'],
    [', Bearer k', ', Bearer k'],
    ['Bearer k, ', 'k,'],
    ['Bearer k\u00a0', 'k\u00a0'],
    ['', ''],
    [' \t ', ''],
  ];
  for (const [value, key] of values) {
    it(`reads ${JSON.stringify(value)} as the key ${JSON.stringify(key)} (T16)`, () => {
      assert.equal(readBearer(value), key);
    });
  }
});

describe('shownKeys()', () => {
  const cases: readonly (readonly [authorization: string | undefined, apiKey: string | undefined, keys: string[]])[] = [
    [undefined, undefined, []],
    ['Bearer a', undefined, ['a']],
    [undefined, 'b', ['b']],
    ['Bearer a', 'b', ['a', 'b']],
    ['', 'b', ['', 'b']],
    ['Bearer a', '', ['a', '']],
    [undefined, ' b\t', ['b']],
    [undefined, 'Bearer b', ['Bearer b']],
  ];
  for (const [authorization, apiKey, keys] of cases) {
    it(`is ${JSON.stringify(keys)} for Authorization ${authorization} and x-api-key ${apiKey} (E1)`, () => {
      assert.deepEqual(shownKeys({ tokens: [], authorization, apiKey }), keys);
    });
  }
});

describe('hashShownKey()', () => {
  it('hashes the bytes on the wire, which a header gives as one character each', () => {
    const wire = Buffer.from('sk-clé-à').toString('latin1');
    assert.equal(hashShownKey(readBearer(`Bearer ${wire}`)), sha256Hex('sk-clé-à'));
  });

  it('has no hash for the empty key, whose SHA-256 anyone can push', () => {
    assert.equal(hashShownKey(''), undefined);
  });
});
