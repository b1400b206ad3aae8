import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { JsonValue } from '../../src/lib/strict-json.ts';
import { decodeUtf8, encodeUtf8 } from '../../src/lib/utf8.ts';
import {
  damage,
  documentText,
  escapeAll,
  IS_JSON_PARSE_JUDGE,
  type MemberText,
  objectText,
  uniqueMembers,
  valueText,
} from './json-documents.ts';
import { parse, parseBytes } from './parse-json.ts';

/** What `JSON.parse` would have made of the document. */
function toPlain(value: JsonValue): unknown {
  switch (value.kind) {
    case 'object':
      return Object.fromEntries([...value.members].map(([name, member]) => [name, toPlain(member)]));
    case 'array':
      return value.items.map(toPlain);
    case 'number':
      return Number(value.lexeme);
    case 'null':
      return null;
    case 'shaped':
      throw new Error('no item is shaped here');
    default:
      return value.value;
  }
}

function jsonParse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const REFUSED: Record<string, string> = {
  '': 'expected a value at byte 0',
  ' \n': 'expected a value at byte 2',
  '\ufeff{}': 'byte order mark at byte 0',
  '{}\ufeff': 'data after the document at byte 2',
  '1 2': 'data after the document at byte 2',
  '{}{}': 'data after the document at byte 2',
  '[]]': 'data after the document at byte 2',
  'null\0': 'data after the document at byte 4',
  '"é" //': 'data after the document at byte 5',
  truefalse: 'data after the document at byte 4',
  tru: 'expected a value at byte 0',
  nul: 'expected a value at byte 0',
  fals: 'expected a value at byte 0',
  True: 'expected a value at byte 0',
  NaN: 'expected a value at byte 0',
  Infinity: 'expected a value at byte 0',
  "'a'": 'expected a value at byte 0',
  '\u00a01': 'expected a value at byte 0',
  '\f1': 'expected a value at byte 0',
  '-': 'expected a value at byte 0',
  '+1': 'expected a value at byte 0',
  '.5': 'expected a value at byte 0',
  '-.5': 'expected a value at byte 0',
  '٣': 'expected a value at byte 0',
  '01': 'data after the document at byte 1',
  '-01': 'data after the document at byte 2',
  '1.': 'data after the document at byte 1',
  '1.e3': 'data after the document at byte 1',
  '1e': 'data after the document at byte 1',
  '1e+': 'data after the document at byte 1',
  '0x10': 'data after the document at byte 1',
  '1_0': 'data after the document at byte 1',
  '[1,]': 'expected a value at byte 3',
  '[,1]': 'expected a value at byte 1',
  '[': 'expected a value at byte 1',
  '[1': 'expected "," or "]" at byte 2',
  '[1 2]': 'expected "," or "]" at byte 3',
  '[1}': 'expected "," or "]" at byte 2',
  '{': 'expected a name in quotes at byte 1',
  '{a:1}': 'expected a name in quotes at byte 1',
  '{1:1}': 'expected a name in quotes at byte 1',
  '{"a":1,}': 'expected a name in quotes at byte 7',
  '{"a"}': 'expected ":" at byte 4',
  '{"a" 1}': 'expected ":" at byte 5',
  '{"a":}': 'expected a value at byte 5',
  '{"a":1': 'expected "," or "}" at byte 6',
  '{"a":1 "b":2}': 'expected "," or "}" at byte 7',
  '{"a":1]': 'expected "," or "}" at byte 6',
  '"abc': 'unterminated string at byte 4',
  '"abc\\"': 'unterminated string at byte 6',
  '{"a': 'unterminated string at byte 3',
  '"\u001f"': 'control character in a string at byte 1',
  '"é\n"': 'control character in a string at byte 3',
  '"\\q"': 'unknown escape in a string at byte 1',
  '"\\\'"': 'unknown escape in a string at byte 1',
  '"\\U0041"': 'unknown escape in a string at byte 1',
  '"a\\u004"': 'unknown escape in a string at byte 2',
  '"\\u00g0"': 'unknown escape in a string at byte 1',
  '"\\\n"': 'unknown escape in a string at byte 1',
  '"\\': 'unknown escape in a string at byte 1',
  '["é","\\ud800"]': 'lone surrogate in the string at byte 6',
  '"\\udc00"': 'lone surrogate in the string at byte 0',
  '"\\udc00\\ud800"': 'lone surrogate in the string at byte 0',
  '"\\ud83da\\ude00"': 'lone surrogate in the string at byte 0',
  '{"\\ud800":1}': 'lone surrogate in the string at byte 1',
  '{"a":1,"a":1}': 'duplicate name "a" at byte 7',
  '{"a":1,"b":2,"\\u0061":3}': 'duplicate name "a" at byte 13',
  '{"é":1,"é":1}': 'duplicate name "é" at byte 8',
  '[{"a":{"":1,"":2}}]': 'duplicate name "" at byte 12',
  '{"__proto__":1,"__proto__":2}': 'duplicate name "__proto__" at byte 15',
  '{"\\n":1,"\\n":1}': 'duplicate name "\\n" at byte 8',
};

const INVALID_UTF8: Record<string, [bytes: number[], at: number]> = {
  'a raw surrogate': [[0x22, 0xed, 0xa0, 0x80, 0x22], 1],
  'an overlong quote': [[0xc0, 0xa2], 0],
  'a cut character': [[0x22, 0xc3, 0xa9, 0xc3, 0x22], 3],
  'a bad byte after the document': [[0x7b, 0x7d, 0xff], 2],
};

describe('parseStrictJson()', () => {
  it('keeps the members in the order of the document', () => {
    const parsed = parse('{"b":1,"10":2,"a":3,"9":4,"__proto__":5}');
    assert.ok(parsed.ok && parsed.value.kind === 'object');
    assert.deepEqual([...parsed.value.members.keys()], ['b', '10', 'a', '9', '__proto__']);
  });

  for (const lexeme of ['9007199254740993', '1.0', '1e3', '1E+05', '-0', '0', '-0.10', '12e-400', '9'.repeat(400)]) {
    it(`keeps the digits of ${lexeme.slice(0, 20)} (D-58)`, () =>
      assert.deepEqual(parse(`[ ${lexeme} ]`), {
        ok: true,
        value: { kind: 'array', items: [{ kind: 'number', lexeme }] },
      }));
  }

  it('accepts the same name in different objects, and names that differ in case or form', () => {
    for (const text of ['{"a":{"a":[{"a":1},{"a":2}]}}', '{"a":1,"A":2}', '{"\u00e9":1,"e\u0301":2}']) {
      assert.equal(parse(text).ok, true, text);
    }
  });

  for (const [text, fault] of Object.entries(REFUSED)) {
    it(`refuses ${JSON.stringify(text)} (D-57)`, () => assert.deepEqual(parse(text), { ok: false, fault }));
  }
  for (const [what, [bytes, at]] of Object.entries(INVALID_UTF8)) {
    it(`refuses ${what} (D-57)`, () => {
      const parsed = parseBytes(Uint8Array.from(bytes));
      assert.deepEqual(parsed, { ok: false, fault: `invalid UTF-8 at byte ${at}` });
    });
  }

  it('shows at most 64 characters of a duplicate name', () => {
    const name = 'n'.repeat(100);
    const fault = `duplicate name "${'n'.repeat(64)}" at byte 106`;
    assert.deepEqual(parse(`{"${name}":1,"${name}":1}`), { ok: false, fault });
  });

  it('accepts as many levels as it is told and refuses one more', () => {
    const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    const objects = (depth: number) => '{"a":'.repeat(depth) + 1 + '}'.repeat(depth);
    for (const nested of [arrays, objects]) {
      for (const depth of [1, 2, 1_000]) {
        assert.equal(parse(nested(depth), { depth }).ok, true);
        const refused = parse(nested(depth + 1), { depth });
        assert.match(refused.ok ? '' : refused.fault, /^nested too deep at byte \d+$/);
      }
    }
    assert.equal(parse('1', { depth: 0 }).ok, true);
    assert.equal(parse('[]', { depth: 0 }).ok, false);
  });

  it('counts levels, not arrays and objects side by side', () => {
    assert.equal(parse('[[],[],{},[{}]]', { depth: 3 }).ok, true);
  });

  it('reads a megabyte of escapes, names and numbers in one pass', () => {
    const members = Array.from({ length: 50_000 }, (_, index) => `"${index}":${index}`);
    assert.equal(parse(`{"":"${'\\n'.repeat(250_000)}",${members}}`).ok, true);
  });

  it('reads what JSON.parse reads from every document without duplicate names (P-13)', () =>
    fc.assert(
      fc.property(documentText, (text) => {
        const parsed = parse(text);
        assert.ok(parsed.ok, parsed.ok ? '' : parsed.fault);
        const judged = JSON.parse(text);
        if (IS_JSON_PARSE_JUDGE) assert.deepEqual(toPlain(parsed.value), judged);
      }),
      { numRuns: 400 },
    ));

  it('accepts of damaged documents only what JSON.parse accepts, and refuses no other (P-13)', () =>
    fc.assert(
      fc.property(documentText, damage, (text, { at, removed, inserted }) => {
        const bytes = [...encodeUtf8(text)];
        bytes.splice(at % (bytes.length + 1), removed, ...inserted);
        const parsed = parseBytes(Uint8Array.from(bytes));
        const decoded = decodeUtf8(Uint8Array.from(bytes));
        const plain = decoded === undefined ? undefined : jsonParse(decoded);
        if (parsed.ok && IS_JSON_PARSE_JUDGE) assert.deepEqual({ value: toPlain(parsed.value) }, plain);
        else if (parsed.ok) assert.notEqual(plain, undefined);
        else if (plain !== undefined) assert.match(parsed.fault, /^(duplicate name|lone surrogate)/);
      }),
      { numRuns: 2_000 },
    ));

  it('refuses a document into which a duplicate name is inserted anywhere (P-13)', () =>
    fc.assert(
      fc.property(nestedDuplicate, (text) => {
        assert.notEqual(jsonParse(text), undefined);
        const parsed = parse(text);
        assert.match(parsed.ok ? 'accepted' : parsed.fault, /^duplicate name/);
      }),
      { numRuns: 400 },
    ));
});

/** An object with one name twice, the second spelled in escapes, inside of arrays and objects. */
const nestedDuplicate = fc
  .record({
    members: uniqueMembers(valueText).filter(({ length }) => length > 0),
    repeated: fc.nat(),
    place: fc.nat(),
    value: valueText,
    path: fc.array(fc.constantFrom(['[1,', ']'], ['{"a":[],"b":', '}'], ['[', ',{}]']), { maxLength: 4 }),
  })
  .chain(({ members, repeated, place, value, path }) => {
    const name = escapeAll(JSON.parse(members[repeated % members.length]?.name ?? ''));
    const doubled: MemberText[] = members.toSpliced(place % (members.length + 1), 0, { name, value });
    const wrap = (text: string) => path.reduce((inner, [before, after]) => `${before}${inner}${after}`, text);
    return objectText(fc.constant(doubled)).map(wrap);
  });
