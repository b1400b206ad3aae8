// Random JSON texts in all the spellings that the grammar allows: blanks, escapes, forms of numbers. The values that
// they stand for are left to `JSON.parse`.

import * as fc from 'fast-check';
import { encodeUtf8 } from '../../src/lib/utf8.ts';

/** A member, as text. */
export interface MemberText {
  readonly name: string;
  readonly value: string;
}

const blanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 2 });

/** One character of a string: plain, or escaped by letter or by number. */
const character = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', '{', '}', '[', ']', ',', ':', "'", '/', ' ') },
  fc.constantFrom('é', '\u2028', '\ufeff', '\ufffd', '\u{1f600}', '\u007f'),
  fc.constantFrom('\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t'),
  fc.constantFrom('\\u0000', '\\u0061', '\\u005c', '\\u0022', '\\uD83D\\uDE00', '\\ud83d\\ude00', '\\uFEFF'),
);

export const stringText = fc.array(character, { maxLength: 5 }).map((characters) => `"${characters.join('')}"`);

const numberText = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.constantFrom('0', '1', '10', '907', '9007199254740991', '9007199254740993', '123456789012345678901'),
    fraction: fc.constantFrom('', '.0', '.5', '.100'),
    exponent: fc.constantFrom('', 'e3', 'E+05', 'e-1', 'E400'),
  })
  .map(({ sign, whole, fraction, exponent }) => sign + whole + fraction + exponent);

/** `open a , b close` with blanks wherever they may stand. */
function enclosed(brackets: '[]' | '{}', parts: fc.Arbitrary<readonly string[]>): fc.Arbitrary<string> {
  return fc
    .tuple(parts, blanks, blanks)
    .map(([texts, left, right]) => `${brackets[0]}${left}${texts.join(`${right},${left}`)}${right}${brackets[1]}`);
}

/** The text of an object with these members in this order. */
export function objectText(members: fc.Arbitrary<readonly MemberText[]>): fc.Arbitrary<string> {
  const texts = fc
    .tuple(members, blanks, blanks)
    .map(([list, left, right]) => list.map(({ name, value }) => `${name}${left}:${right}${value}`));
  return enclosed('{}', texts);
}

/** No two names that are equal once decoded. */
export function uniqueMembers(value: fc.Arbitrary<string>): fc.Arbitrary<MemberText[]> {
  return fc.uniqueArray(fc.record({ name: stringText, value }), {
    maxLength: 4,
    selector: ({ name }): unknown => JSON.parse(name),
  });
}

/** Any value, at most four levels deep, without duplicate names. */
export const valueText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'medium' },
    fc.oneof(stringText, numberText, fc.constantFrom('true', 'false', 'null')),
    enclosed('[]', fc.array(tie('value'), { maxLength: 4 })),
    objectText(uniqueMembers(tie('value'))),
  ),
})).value;

/**
 * Whether what `JSON.parse` reads can judge what we read. Not V8 15.0's in Deno 2.9.6: once it knows the shape of an
 * object, it reads a name such as "\\u0061" as another one. What it accepts and refuses stands all the same.
 */
export const IS_JSON_PARSE_JUDGE = !('Deno' in globalThis);

/** A document: a value with blanks around it. */
export const documentText = fc.tuple(blanks, valueText, blanks).map((parts) => parts.join(''));

/** The same string with every UTF-16 unit written as an escape. */
export function escapeAll(text: string): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

/** Where and how a document's bytes are damaged: some removed, some put in their place. */
export const damage = fc.record({
  at: fc.nat(),
  removed: fc.nat({ max: 2 }),
  inserted: fc.oneof(
    fc.constantFrom(...'{}[]",:-+.0123eE \\/utfnD'.split('')).map((text) => [...encodeUtf8(text)]),
    fc
      .constantFrom('"a":1,', ',"a":1', '\\ud800', '\\udc00', '\ufeff', '\u001f', '\u00a0', 'é', '//')
      .map((text) => [...encodeUtf8(text)]),
    fc.constantFrom(0x80, 0xc3, 0xed, 0xff).map((byte) => [byte]),
    fc.constant([]),
  ),
});
