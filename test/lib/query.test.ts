import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { queryParts, splitTarget } from '../../src/lib/query.ts';

function names(search: string): readonly string[] {
  return queryParts(search).map((part) => part.name);
}

/** Pieces from which a query with surprising names is made. */
const PIECES = [
  'rt',
  'r',
  't',
  '%72',
  '%74',
  '%',
  '%7',
  '%zz',
  '+',
  '=',
  '&',
  '?',
  '#',
  ';',
  '%26',
  '%3D',
  '%C3%A9',
  '.',
];

describe('splitTarget()', () => {
  const targets = [
    ['/a', '/a', ''],
    ['/a?', '/a', '?'],
    ['/a?b=1&c', '/a', '?b=1&c'],
    ['/a?b?c', '/a', '?b?c'],
    ['?b', '', '?b'],
    ['', '', ''],
  ] as const;
  for (const [target, path, query] of targets) {
    it(`cuts ${JSON.stringify(target)} at its first question mark`, () => {
      assert.deepEqual(splitTarget(target), { path, query });
    });
  }
});

describe('queryParts()', () => {
  it('keeps every part as sent, in order (D-47)', () => {
    assert.deepEqual(
      queryParts('?beta=true&x=%0d%0a&y=a+b&z').map((part) => part.raw),
      ['beta=true', 'x=%0d%0a', 'y=a+b', 'z'],
    );
  });

  it('takes the query with or without its question mark, but only the first one (D-25)', () => {
    assert.deepEqual(names('?a=1'), ['a']);
    assert.deepEqual(names('a=1'), ['a']);
    assert.deepEqual(names('??a=1'), ['?a']);
    assert.deepEqual(names('?b&?a=1'), ['b', '?a']);
  });

  it('keeps empty parts, so that the query can be put together again as it was (D-47)', () => {
    for (const query of ['', '&', '&&', '&a=1&&', 'a=1&']) {
      const raws = queryParts(`?${query}`).map((part) => part.raw);
      assert.equal(raws.join('&'), query);
    }
  });

  it('reads a query of thousands of parts without a parser for each', () => {
    const parts = queryParts(`?${'a&'.repeat(8_000)}%72t=x`);
    assert.equal(parts.length, 8_001);
    assert.equal(parts.at(-1)?.name, 'rt');
  });

  const spellings: readonly (readonly [string, string])[] = [
    ['rt', 'rt'],
    ['rt=', 'rt'],
    ['rt=x=y', 'rt'],
    ['%72t=x', 'rt'],
    ['r%74=x', 'rt'],
    ['%72%74=x', 'rt'],
    ['RT=x', 'RT'],
    ['%52T=x', 'RT'],
    ['+rt=x', ' rt'],
    ['rt%20=x', 'rt '],
    ['rt%00=x', 'rt\0'],
    ['rt;a=x', 'rt;a'],
    ['=rt', ''],
    ['%2572t=x', '%72t'],
    ['%7t=x', '%7t'],
    ['%ff=x', '\ufffd'],
    ['a%26rt=x', 'a&rt'],
    ['a%3Drt=x', 'a=rt'],
    ['?rt=x', '?rt'],
  ];
  for (const [raw, name] of spellings) {
    it(`reads the name of ${JSON.stringify(raw)} as ${JSON.stringify(name)} (D-25, D-70)`, () => {
      // Behind another part: there a "?" is part of the name.
      assert.deepEqual(queryParts(`?a&${raw}`)[1], { raw, name });
    });
  }

  it('agrees with the WHATWG parser on every name, whatever is sent (D-25)', () => {
    const query = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => `?${pieces.join('')}`);
    return fc.assert(
      fc.property(query, (search) => {
        const named = queryParts(search).filter((part) => part.raw !== '');
        assert.deepEqual(
          named.map((part) => part.name),
          [...new URLSearchParams(search).keys()],
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('loses nothing but separators: the parts without the one named rt still parse to the other parameters (R-076)', () => {
    const query = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => `?${pieces.join('')}`);
    return fc.assert(
      fc.property(query, (search) => {
        const kept = queryParts(search).filter((part) => part.name !== 'rt');
        const expected = [...new URLSearchParams(search)].filter(([name]) => name !== 'rt');
        assert.deepEqual([...new URLSearchParams(`?${kept.map((part) => part.raw).join('&')}`)], expected);
      }),
      { numRuns: 1_000 },
    );
  });
});
