import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { findItems, isList } from '../../src/lib/json-items.ts';
import { complete } from '../../src/lib/steps.ts';

/** The items of the list that the text is from its byte `start` on, but for `behind` bytes at its end. */
function texts(text: string, max = 1_000, start = 0, behind = 0): readonly string[] {
  const json = Buffer.from(text);
  const list = { start, end: json.length - behind };
  return complete(findItems(json, list, max)).map((item) => json.toString('utf8', item.start, item.end));
}

describe('findItems()', () => {
  it('finds every item of a list', () =>
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 4 })), fc.boolean(), (values, isSpaced) => {
        const list = JSON.stringify(values, undefined, isSpaced ? '\t ' : undefined);
        assert.deepEqual(
          texts(`{"a":${list}}`, 1_000, 5, 1).map((text) => JSON.parse(text)),
          JSON.parse(list),
        );
      }),
    ));

  it('minds no mark in a string', () => {
    const strings = ['a,b', ']', '"', '\\', '\\"', '\\\\",', '{[', '\\u0022'];
    const items = texts(JSON.stringify(strings)).map((text) => JSON.parse(text));
    assert.deepEqual(items, strings);
  });

  it('finds as many as are wanted, and none in an empty list', () => {
    assert.deepEqual(texts('[1,2,3]', 2), ['1', '2']);
    assert.deepEqual(texts('[1,2,3]', 3), ['1', '2', '3']);
    for (const empty of ['[]', '[ ]', '[\n\t\r]']) assert.deepEqual(texts(empty), []);
  });

  it('pauses every 256 KiB', () => {
    const json = Buffer.from(JSON.stringify(Array.from({ length: 20 }, () => 'x'.repeat(65_536))));
    assert.equal([...findItems(json, { start: 0, end: json.length }, 100)].length, 4);
  });

  it('ends on bytes that are no JSON', () =>
    fc.assert(
      fc.property(fc.stringMatching(/^\[[[\]{},:"\\ a1]{0,20}$/), (text) => {
        assert.ok(texts(text, 100).length <= 100);
      }),
    ));
});

describe('isList()', () => {
  it('tells a list from other values', () => {
    for (const [text, is] of [
      ['[]', true],
      ['{}', false],
      ['"["', false],
      ['7', false],
    ] as const) {
      assert.equal(isList(Buffer.from(text), { start: 0, end: text.length }), is);
    }
  });
});
