import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { skipValue } from '../../src/lib/json-skip.ts';
import { decodedBytes, isStringAt, walkItems, walkMembers } from '../../src/lib/json-walk.ts';

/** The tree again, from one walk: what it visits must be all of it. */
function rebuilt(json: Buffer, start: number): { readonly value: unknown; readonly end: number } {
  const byte = String.fromCharCode(json[start] ?? 0);
  if (byte === '{') {
    const members: [string, unknown][] = [];
    const end = walkMembers(json, start, (name, at) => {
      const member = rebuilt(json, at);
      members.push([name, member.value]);
      return member.end;
    });
    return { value: Object.fromEntries(members), end };
  }
  if (byte === '[') {
    const items: unknown[] = [];
    const end = walkItems(json, start, (at) => {
      const item = rebuilt(json, at);
      items.push(item.value);
      return item.end;
    });
    return { value: items, end };
  }
  const end = skipValue(json, start);
  return { value: JSON.parse(json.toString('utf8', start, end)), end };
}

/** With every character of the text as its escape, or as the shortest form. */
function written(text: string, isEscaped: boolean): string {
  if (!isEscaped) return JSON.stringify(text);
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

describe('walkMembers() and walkItems()', () => {
  it('visit every value of a document once, and end behind it', () => {
    return fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.boolean(), (value, isSpaced) => {
        const text = JSON.stringify(value, undefined, isSpaced ? '\t ' : undefined);
        const json = Buffer.from(text);
        const { value: again, end } = rebuilt(json, 0);
        assert.deepEqual(again, JSON.parse(text));
        assert.equal(end, json.length);
      }),
      { numRuns: 300 },
    );
  });

  it('decode names, and pass over what is of another kind', () => {
    const json = Buffer.from('{"m\\u006fdel":1,"ü":[]}');
    const names: string[] = [];
    walkMembers(json, 0, (name, at) => {
      names.push(name);
      return skipValue(json, at);
    });
    assert.deepEqual(names, ['model', 'ü']);
    assert.equal(
      walkItems(json, 0, () => assert.fail('no array')),
      json.length,
    );
    assert.equal(
      walkMembers(Buffer.from('"x"'), 0, () => assert.fail('no object')),
      3,
    );
  });

  it('end for anything that is no JSON', () => {
    return fc.assert(
      fc.property(fc.array(fc.constantFrom(...'{}[]",:\\ a1'.split('')), { maxLength: 40 }), (characters) => {
        const json = Buffer.from(characters.join(''));
        const visit = (at: number): number => skipValue(json, at);
        assert.ok(walkMembers(json, 0, (_, at) => visit(at)) <= json.length);
        assert.ok(walkItems(json, 0, visit) <= json.length);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('decodedBytes()', () => {
  it('counts the UTF-8 bytes of the text, however it is escaped', () => {
    return fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (text, isEscaped) => {
        const json = Buffer.from(` ${written(text, isEscaped)} `);
        assert.ok(isStringAt(json, 1));
        assert.equal(decodedBytes(json, 1, json.length - 1), Buffer.byteLength(text));
      }),
      { numRuns: 1_000 },
    );
  });

  for (const [name, text, bytes] of [
    ['the last of one byte', '\\u007f', 1],
    ['the first of two', '\\u0080', 2],
    ['the last of two', '\\u07FF', 2],
    ['the first of three', '\\u0800', 3],
    ['the one before the surrogates', '\\uD7ff', 3],
    ['the one behind them', '\\uE000', 3],
    ['a pair, upper and lower case', '\\uD83d\\uDE00', 4],
    ['a solidus', '\\/', 1],
    ['an escaped backslash before a u', '\\\\u0041', 6],
  ] as const) {
    it(`counts ${name} as ${bytes}`, () => {
      assert.equal(decodedBytes(Buffer.from(`"${text}"`), 0, text.length + 2), bytes);
    });
  }
});
