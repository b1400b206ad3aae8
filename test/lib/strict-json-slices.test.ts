// The strict parser as steps: where it pauses, what it refuses early, and that neither changes what it reads.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { complete } from '../../src/lib/steps.ts';
import { type JsonLimits, type JsonValue, parseStrictJson } from '../../src/lib/strict-json.ts';
import { encodeUtf8 } from '../../src/lib/utf8.ts';
import { damage, documentText } from './json-documents.ts';
import { LIMITS, parse, parseBytes } from './parse-json.ts';

describe('parseStrictJson(), its limits', () => {
  const BOUNDS: Record<string, [limits: Partial<JsonLimits>, within: string, beyond: string, fault: string]> = {
    values: [{ values: 4 }, '[1,{"a":2}]', '[1,{"a":[]},2]', 'more than 4 values in the document at byte 12'],
    'empty arrays': [{ values: 3 }, '[[],[]]', '[[],[],[]]', 'more than 3 values in the document at byte 7'],
    members: [
      { members: 2 },
      '{"a":1,"b":{"c":1,"d":2}}',
      '{"a":1,"b":1,"c":1}',
      'more than 2 members in an object at byte 13',
    ],
    'characters of a string': [
      { tokenLength: 3 },
      '["abc","é\\n"]',
      '["abcd"]',
      'string longer than 3 characters at byte 1',
    ],
    'characters of a name': [
      { tokenLength: 3 },
      '{"abc":1}',
      '{"a":"","abcd":1}',
      'string longer than 3 characters at byte 8',
    ],
    'characters of a last escape': [
      { tokenLength: 7 },
      '"a\\u0061"',
      '"ab\\u0061"',
      'string longer than 7 characters at byte 0',
    ],
    'escapes as written': [{ tokenLength: 6 }, '"\\u0061"', '"\\u0061b"', 'string longer than 6 characters at byte 0'],
    digits: [{}, '9'.repeat(1_024), '9'.repeat(1_025), 'number with more than 1024 digits at byte 0'],
    'fraction digits': [
      {},
      `0.${'1'.repeat(1_024)}`,
      `0.${'1'.repeat(1_025)}`,
      'number with more than 1024 digits at byte 0',
    ],
  };
  for (const [what, [limits, within, beyond, fault]] of Object.entries(BOUNDS)) {
    it(`takes as many ${what} as it is told and refuses one more`, () => {
      assert.equal(parse(within, limits).ok, true);
      assert.deepEqual(parse(beyond, limits), { ok: false, fault });
    });
  }
});

describe('parseStrictJson(), in steps', () => {
  it('gives each item with the member that holds it away, and keeps what comes back', () => {
    const given: string[] = [];
    const shapeItem = (item: JsonValue, member: string): JsonValue => {
      given.push(`${member}:${item.kind}`);
      return item.kind === 'number' ? { kind: 'shaped' } : item;
    };
    const bytes = encodeUtf8('{"a":[1,[2]],"b":{"c":["x"]},"d":3}');
    const parsed = complete(parseStrictJson(bytes, { limits: LIMITS, shapeItem }));
    assert.deepEqual(given, ['a:number', ':number', 'a:array', 'c:string']);
    assert.ok(parsed.ok && parsed.value.kind === 'object');
    const shaped = { kind: 'shaped' };
    assert.deepEqual(parsed.value.members.get('a'), {
      kind: 'array',
      items: [shaped, { kind: 'array', items: [shaped] }],
    });
  });

  it('tells places by the byte in a document of several decoded pieces, whose characters are cut nowhere', () => {
    const filler = `"${'é模😀x'.repeat(60)}",`.repeat(1_000);
    const limits = { tokenLength: 303 };
    for (const shift of ['', 'a', 'ab', 'abc']) {
      const start = `["${shift}",${filler}`;
      const at = encodeUtf8(start).length;
      assert.deepEqual(parse(`${start}1]`, limits), parse(`${start}1]`));
      assert.equal(parse(`${start}1]`, limits).ok, true);
      assert.deepEqual(parse(`${start}?]`, limits), { ok: false, fault: `expected a value at byte ${at}` });
      assert.deepEqual(parse(`${start}"`, limits), { ok: false, fault: `unterminated string at byte ${at + 1}` });
    }
  });

  it('reads a number whole that runs over the end of a decoded piece', () => {
    // Whatever begins within a slice of one character lies in the text to its end, or the digits would be cut there.
    const limits = { ...LIMITS, tokenLength: 1 };
    const digits = '7'.repeat(1_000);
    for (const begins of [131_060, 131_070, 131_071]) {
      const before = `[${' '.repeat(begins - 1)}`;
      const parsed = complete(parseStrictJson(encodeUtf8(`${before}${digits}]`), { limits, sliceLength: 1 }));
      assert.deepEqual(parsed, { ok: true, value: { kind: 'array', items: [{ kind: 'number', lexeme: digits }] } });
    }
  });

  it('pauses often, also within 4 MiB of blanks', () => {
    const pauses = (text: string) =>
      [...parseStrictJson(encodeUtf8(text), { limits: LIMITS, sliceLength: 65_536 })].length;
    const blanks = ' '.repeat(4 * 1024 * 1024);
    for (const text of [
      `${blanks}1`,
      `1${blanks}`,
      `{${blanks}"a":1}`,
      `{"a"${blanks}:1}`,
      `{"a":${blanks}1}`,
      `[1${blanks}]`,
    ]) {
      assert.ok(pauses(text) >= 64);
    }
    assert.ok(pauses(`[${'1,'.repeat(2_000_000)}1]`) >= 60);
  });

  it('reads the same in slices of any length as in one go, valid or not', () =>
    fc.assert(
      fc.property(
        documentText,
        damage,
        fc.boolean(),
        fc.integer({ min: 1, max: 12 }),
        (text, cut, isCut, sliceLength) => {
          const bytes = [...encodeUtf8(text)];
          if (isCut) bytes.splice(cut.at % (bytes.length + 1), cut.removed, ...cut.inserted);
          const whole = parseBytes(Uint8Array.from(bytes));
          const sliced = complete(parseStrictJson(Uint8Array.from(bytes), { limits: LIMITS, sliceLength }));
          assert.deepEqual(sliced, whole);
        },
      ),
      { numRuns: 1_000 },
    ));
});
