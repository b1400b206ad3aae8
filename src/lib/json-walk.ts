// Walks through JSON in place: a reader that wants a few values deep inside a large document looks at every byte once
// and builds nothing. The document must be valid; for anything else the walk ends in linear time and means nothing.

import type { Buffer } from 'node:buffer';
import { BACKSLASH, BRACE, BRACKET, BRACKET_END, COMMA, QUOTE } from './json-marks.ts';
import { skipBlanks, skipMark, skipString, skipValue } from './json-skip.ts';
import { JsonTokens } from './json-tokens.ts';

const LETTER_D_LOWER = 0x64;
const LETTER_D_UPPER = 0x44;
const LETTER_U = 0x75;
const DIGIT_0 = 0x30;
const DIGIT_8 = 0x38;

/** `\u` and four digits. */
const LONG_ESCAPE_BYTES = 6;

/**
 * Calls `read` for every member of the object at `start`, with the decoded name and where the value begins; it returns
 * where the value ends ({@link skipValue} for what it does not want). Returns the end of the value at `start`, which is
 * passed over when it is no object.
 */
export function walkMembers(json: Buffer, start: number, read: (name: string, at: number) => number): number {
  if (json[start] !== BRACE) return skipValue(json, start);
  let at = skipBlanks(json, start + 1);
  while (json[at] === QUOTE) {
    const nameEnd = skipString(json, at);
    at = skipBlanks(json, read(nameAt(json, at, nameEnd), skipMark(json, nameEnd)));
    if (json[at] === COMMA) at = skipBlanks(json, at + 1);
  }
  return Math.min(at + 1, json.length);
}

/** As {@link walkMembers}, for the items of the array at `start`. */
export function walkItems(json: Buffer, start: number, read: (at: number) => number): number {
  if (json[start] !== BRACKET) return skipValue(json, start);
  let at = skipBlanks(json, start + 1);
  if (json[at] === BRACKET_END) return at + 1;
  for (;;) {
    at = skipBlanks(json, read(at));
    if (json[at] !== COMMA) return Math.min(at + 1, json.length);
    at = skipBlanks(json, at + 1);
  }
}

/** Whether a string begins there. */
export function isStringAt(json: Buffer, at: number): boolean {
  return json[at] === QUOTE;
}

/** UTF-8 bytes of the string whose quotes are at `start` and just before `end`, once decoded. A lone surrogate is 2. */
export function decodedBytes(json: Buffer, start: number, end: number): number {
  const written = json.subarray(start + 1, end - 1);
  let bytes = written.length;
  for (let at = written.indexOf(BACKSLASH); at >= 0 && at < written.length; ) {
    if (written[at] !== BACKSLASH) at += 1;
    else if (written[at + 1] === LETTER_U) {
      bytes -= LONG_ESCAPE_BYTES - bytesOfEscape(written, at + 2);
      at += LONG_ESCAPE_BYTES;
    } else {
      bytes -= 1;
      at += 2;
    }
  }
  return bytes;
}

/** From the four hexadecimal digits at `at`: half a surrogate pair is half of its 4 bytes. */
function bytesOfEscape(text: Buffer, at: number): number {
  const [first = 0, second = 0, third = 0] = [text[at], text[at + 1], text[at + 2]];
  const isSurrogate = (first === LETTER_D_LOWER || first === LETTER_D_UPPER) && second >= DIGIT_8;
  if (isSurrogate || (first === DIGIT_0 && second < DIGIT_8)) {
    return first === DIGIT_0 && second === DIGIT_0 && third < DIGIT_8 ? 1 : 2;
  }
  return 3;
}

/** As text. Only a name with an escape needs a decoder of JSON: a body can have a million names. */
function nameAt(json: Buffer, start: number, end: number): string {
  for (let at = start + 1; at < end - 1; at += 1) {
    if (json[at] === BACKSLASH) return decodedName(json.subarray(start, end));
  }
  return json.toString('utf8', start + 1, end - 1);
}

function decodedName(quoted: Buffer): string {
  return new JsonTokens(quoted, { tokenLength: quoted.length, sliceLength: 1 }).readString() ?? '';
}
