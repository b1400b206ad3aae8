import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { DEPTH_MAX, findMembers, scanMembers } from '../../src/lib/json-members.ts';
import { complete } from '../../src/lib/steps.ts';
import { decodeUtf8, encodeUtf8 } from '../../src/lib/utf8.ts';
import { damage, documentText, IS_JSON_PARSE_JUDGE, objectText, stringText, valueText } from './json-documents.ts';

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
  'the first and the last of duplicates': ['{"model":"a","x":0,"model":"b","model":"c"}', ['"a"', '"c"']],
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

  it('finds the first and the last value of a name, however the name is spelt', () =>
    fc.assert(
      fc.property(membersAndDocument, ([list, document]) => {
        for (const wanted of ['a', ...list.map(({ name }) => JSON.parse(name) as string)]) {
          const values = list.filter(({ name }) => JSON.parse(name) === wanted).map(({ value }) => value);
          assert.deepEqual(found(document, wanted), values.length < 2 ? values : [values[0], values.at(-1)]);
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

  it('finds nothing in a document that is none', () => {
    for (const document of ['{"a":1', '{"a":1}}', '{"a":1,}', '{"a":01}']) assert.deepEqual(found(document, 'a'), []);
  });

  it('reads a megabyte of escaped quotes in one pass', () => {
    const document = `{"a":"${'\\"'.repeat(500_000)}","model":1}`;
    assert.deepEqual(found(document, 'model'), ['1']);
  });
});

/** What the scanner says of bytes: their flaw, or the texts found. */
function scan(bytes: Uint8Array, sliceBytes?: number): string {
  const scanned = complete(scanMembers(bytes, 'a', sliceBytes));
  if (!scanned.ok) return scanned.fault;
  const { isObject, spans } = scanned.value;
  return [
    isObject ? 'object' : 'other',
    ...spans.map(({ start, end }) => decodeUtf8(bytes.subarray(start, end))),
  ].join();
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Pieces of which a document can be put together wrongly. */
const piece = fc.constantFrom(
  ...'{ } [ ] " \\ , : a "a": "b" 0 1 - . e E + true nul \\u00 é \t \u0001 \ufeff'.split(' '),
  ' ',
);

/** Valid documents, damaged ones, and heaps of pieces. */
const anyBytes = fc.oneof(
  documentText.map((text) => encodeUtf8(text)),
  fc.tuple(documentText, damage).map(([text, { at, removed, inserted }]) => {
    const bytes = [...encodeUtf8(text)];
    bytes.splice(at % (bytes.length + 1), removed, ...inserted);
    return Uint8Array.from(bytes);
  }),
  fc.array(piece, { maxLength: 12 }).map((pieces) => encodeUtf8(pieces.join(''))),
);

const ENDS: Record<string, [text: string, isValid: boolean]> = {
  nothing: ['', false],
  blanks: [' \n', false],
  'a zero': ['0', true],
  'a negative zero': ['-0', true],
  'a zero in front': ['01', false],
  'a sign alone': ['-', false],
  'a plus': ['+1', false],
  'a point at the end': ['1.', false],
  'a point at the start': ['.5', false],
  'a whole number with all parts': ['-10.05E+30', true],
  'an exponent without digits': ['1e', false],
  'an exponent with a sign alone': ['1e-', false],
  'a word cut short': ['tru', false],
  'a word too long': ['nulll', false],
  'a word in capitals': ['True', false],
  NaN: ['NaN', false],
  'an open string': ['"a', false],
  'a string that ends in an escaped quote': ['"a\\"', false],
  'an escape cut short': ['"\\u00', false],
  'an escape without its digits': ['"\\u00g0"', false],
  'an unknown escape': ['"\\a"', false],
  'a lone surrogate as an escape': ['"\\ud800"', true],
  'a tab in a string': ['"\t"', false],
  'a delete in a string': ['"\u007f"', true],
  'a comma at the start': ['[,1]', false],
  'a comma at the end': ['[1,]', false],
  'no comma': ['[1 2]', false],
  'a colon in an array': ['["a":1]', false],
  'a name without a value': ['{"a"}', false],
  'a name that is no string': ['{1:2}', false],
  'brackets of two kinds': ['[}', false],
  'an array closed as an object': ['[1}', false],
  'an object closed as an array': ['{"a":1]', false],
  'a bracket too many': ['[]]', false],
  'a bracket alone': [']', false],
  'two documents': ['{} {}', false],
  'a comment': ['{}//', false],
  'a byte order mark': ['\ufeff{}', false],
};

describe('scanMembers()', () => {
  for (const [what, [text, isValid]] of Object.entries(ENDS)) {
    it(`${isValid ? 'takes' : 'refuses'} ${what}`, () => {
      for (const document of [text, `[${text}]`]) assert.equal(isJson(text), isValid, document);
      assert.equal(scan(encodeUtf8(text)), isValid ? 'other' : 'not_json');
    });
  }

  it('takes what JSON.parse takes and nothing else, and says the same in slices of any length', () =>
    fc.assert(
      fc.property(anyBytes, fc.integer({ min: 1, max: 9 }), (bytes, sliceBytes) => {
        const text = decodeUtf8(bytes);
        const whole = scan(bytes);
        assert.equal(scan(bytes, sliceBytes), whole);
        if (text === undefined) assert.equal(whole, 'not_utf8');
        else assert.equal(whole !== 'not_json', isJson(text), text);
      }),
      { numRuns: 3_000 },
    ));

  it('takes as many levels as it may, and refuses one more before all that comes behind', () => {
    assert.equal(scan(encodeUtf8(`${'['.repeat(DEPTH_MAX)}${']'.repeat(DEPTH_MAX)}`)), 'other');
    assert.equal(scan(encodeUtf8('['.repeat(DEPTH_MAX + 1))), 'too_deep');
    assert.equal(scan(encodeUtf8(`${'['.repeat(DEPTH_MAX)}?`)), 'not_json');
  });

  it('takes 1,024 digits in a row, and refuses one more', () => {
    const digits = '1'.repeat(1_024);
    for (const number of ['', '-', '0.', '1e', '1e-']) {
      assert.equal(scan(encodeUtf8(`[${number}${digits}]`)), 'other');
      assert.equal(scan(encodeUtf8(`[${number}${digits}1]`)), 'not_json');
    }
  });

  const LONG = 4 * 1024 * 1024;
  const LONG_DOCUMENTS: Record<string, string> = {
    'open arrays, one after another': `[${'[],'.repeat(LONG / 3)}1]`,
    members: `{${'"k":1,'.repeat(LONG / 6)}"a":1}`,
    'members of the asked name': `{${'"a":1,'.repeat(LONG / 6)}"a":1}`,
    'one string': `"${'x'.repeat(LONG)}"`,
    'one name': `{"${'x'.repeat(LONG)}":1}`,
    'one name in escapes': `{"${'\\u0061'.repeat(LONG / 6)}":1}`,
    escapes: `"${'\\n'.repeat(LONG / 2)}"`,
    numbers: `[${'1,'.repeat(LONG / 2)}1]`,
    blanks: `${' '.repeat(LONG)}1`,
  };
  for (const [what, document] of Object.entries(LONG_DOCUMENTS)) {
    it(`pauses every slice within 4 MiB of ${what}`, () => {
      const steps = scanMembers(encodeUtf8(document), 'a', 65_536);
      let pauses = 0;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) pauses += 1;
      assert.ok(step.value.ok);
      assert.ok(step.value.value.spans.length <= 2);
      // Once for the text, once for the grammar.
      assert.ok(pauses >= 2 * 63, `${pauses} pauses`);
    });
  }
});
