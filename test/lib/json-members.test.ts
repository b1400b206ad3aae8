import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { findMembers } from '../../src/lib/json-members.ts';
import { decodeUtf8, encodeUtf8 } from '../../src/lib/utf8.ts';
import { IS_JSON_PARSE_JUDGE, objectText, stringText, valueText } from './json-documents.ts';

/** The texts of the values found. */
function found(document: string, name: string): (string | undefined)[] {
  const bytes = encodeUtf8(document);
  return findMembers(bytes, name).map(({ start, end }) => decodeUtf8(bytes.subarray(start, end)));
}

const CASES: Record<string, [document: string, values: string[]]> = {
  'a string': ['{"model":"a"}', ['"a"']],
  'a number at the end': ['{"x":1,"model":-1.5e3}', ['-1.5e3']],
  'a literal before a comma': ['{"model":true,"x":1}', ['true']],
  'an array': ['{"model":[1,[2],{"model":3}],"x":1}', ['[1,[2],{"model":3}]']],
  'an object': ['{"model":{"a":{"b":[]}}}', ['{"a":{"b":[]}}']],
  'an empty array and an empty object': ['{"model":[],"model":{}}', ['[]', '{}']],
  'a value among blanks': ['\r\n\t { \t"model"\r\n:\t null \n, "x" : 1 } ', ['null']],
  'every duplicate, in order': ['{"model":"a","x":0,"model":"b","model":"a"}', ['"a"', '"b"', '"a"']],
  'a name spelled with escapes': ['{"\\u006dodel":1,"mod\\u0065l":2}', ['1', '2']],
  'no other name': ['{"Model":1,"models":2,"mode":3,"":4," model":5,"model\\u0000":6}', []],
  'no name inside of values': ['{"a":{"model":1},"b":[{"model":2}],"c":"model","d":"\\"model\\":3"}', []],
  'values after quotes and brackets in strings': [
    '{"a":"}]\\"{[","model":"\\\\","b":["]",{"}":"\\\\\\""}],"model":2}',
    ['"\\\\"', '2'],
  ],
  'nothing in an empty object': ['{}', []],
  'nothing in an array': ['["model",1]', []],
  'nothing in an array of objects': ['[{"model":1}]', []],
  'nothing in a string': ['"model"', []],
  'nothing in a number': ['1', []],
  'nothing behind a byte order mark': ['\ufeff{"model":1}', []],
};

/** Members, some with one name, and the text of an object that has them. */
const membersAndDocument = fc
  .array(fc.record({ name: fc.oneof(stringText, fc.constantFrom('"a"', '"\\u0061"', '"b"')), value: valueText }), {
    maxLength: 6,
  })
  .chain((members) => fc.tuple(fc.constant(members), objectText(fc.constant(members))));

const brokenPiece = fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', ' ', 'a', '"a":', 'é');

describe('findMembers()', () => {
  for (const [what, [document, values]] of Object.entries(CASES)) {
    it(`finds ${what}`, () => {
      JSON.parse(document.replace('\ufeff', ''));
      assert.deepEqual(found(document, 'model'), values);
    });
  }

  it('compares names as decoded text', () => {
    assert.deepEqual(found('{"a\\\\b":1,"a\\b":2}', 'a\\b'), ['1']);
    assert.deepEqual(found('{"\\u00e9":1,"é":2,"e\u0301":3}', 'é'), ['1', '2']);
    assert.deepEqual(found('{"\\"":1}', '"'), ['1']);
    assert.deepEqual(found('{"":1}', ''), ['1']);
    assert.deepEqual(found('{"\\ud83d\\ude00":1}', '\u{1f600}'), ['1']);
  });

  it('counts from the start of the view that it is given', () => {
    const bytes = encodeUtf8('xx{"a":1}').subarray(2);
    assert.deepEqual(findMembers(bytes, 'a'), [{ start: 5, end: 6 }]);
  });

  it('finds every value of a name, however the name is spelt', () =>
    fc.assert(
      fc.property(membersAndDocument, ([list, document]) => {
        for (const wanted of ['a', ...list.map(({ name }) => JSON.parse(name) as string)]) {
          const values = list.filter(({ name }) => JSON.parse(name) === wanted).map(({ value }) => value);
          assert.deepEqual(found(document, wanted), values);
        }
      }),
      { numRuns: 400 },
    ));

  it('finds as the last value what JSON.parse takes', () =>
    fc.assert(
      fc.property(membersAndDocument, ([, document]) => {
        const parsed: Record<string, unknown> = JSON.parse(document);
        for (const wanted of ['a', ...Object.keys(parsed)]) {
          const last = found(document, wanted).at(-1);
          if (IS_JSON_PARSE_JUDGE) assert.deepEqual(last === undefined ? undefined : JSON.parse(last), parsed[wanted]);
        }
      }),
      { numRuns: 400 },
    ));

  it('stays within the bytes of a document cut anywhere', () => {
    const whole = encodeUtf8(' {"a" : [1,{"a":"\\"]"}] , "\\u0061" : 1 } ');
    for (let length = 0; length < whole.length; length += 1) {
      for (const { end } of findMembers(whole.slice(0, length), 'a')) assert.ok(end <= length, `${length}`);
    }
  });

  it('stays within the bytes and comes to an end, whatever they are', () =>
    fc.assert(
      fc.property(fc.array(brokenPiece), (pieces) => {
        const bytes = encodeUtf8(`{"a":${pieces.join('')}`);
        for (const { start, end } of findMembers(bytes, 'a')) assert.ok(start <= end && end <= bytes.length);
      }),
      { numRuns: 1_000 },
    ));

  it('reads a megabyte of escaped quotes in one pass', () => {
    const document = `{"a":"${'\\"'.repeat(500_000)}","model":1}`;
    assert.deepEqual(found(document, 'model'), ['1']);
  });
});
