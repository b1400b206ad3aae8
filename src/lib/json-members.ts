// Where a member's value stands in the bytes of a JSON object, without building the object: of a request body only a
// few fields are read, and parsing all of it takes about three times as long, the dearest step of a redirect.

import { Buffer } from 'node:buffer';
import { JsonTokens } from './json-tokens.ts';
import { encodeUtf8 } from './utf8.ts';

/** Bytes `start` up to, not including, `end`. */
export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;

/**
 * The values of every top-level member whose decoded name is `name`, in order: a second one is the caller's to refuse,
 * since parsers differ in which they take. `bytes` are one valid JSON document in UTF-8, `name` is well-formed; for
 * anything else the spans mean nothing, but lie within `bytes` and are found in linear time. None if the document is
 * not an object.
 */
export function findMembers(bytes: Uint8Array, name: string): readonly ByteSpan[] {
  const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const nameBytes = encodeUtf8(name);
  const spans: ByteSpan[] = [];
  let at = skipBlanks(json, 0);
  if (json[at] !== BRACE) return spans;
  at = skipBlanks(json, at + 1);
  while (json[at] === QUOTE) {
    const nameEnd = skipString(json, at);
    const start = skipMark(json, nameEnd);
    const end = skipValue(json, start);
    const raw = json.subarray(at + 1, nameEnd - 1);
    const isNamed = raw.includes(BACKSLASH) ? decodedName(json.subarray(at, nameEnd)) === name : raw.equals(nameBytes);
    if (isNamed) spans.push({ start, end });
    at = skipMark(json, end);
  }
  return spans;
}

function decodedName(quoted: Buffer): string | undefined {
  return new JsonTokens(quoted, { tokenLength: quoted.length, sliceLength: 1 }).readString();
}

function skipBlanks(json: Buffer, start: number): number {
  let at = start;
  while (isBlank(json[at])) at += 1;
  return at;
}

/** Past the colon, the comma or the closing brace, and the blanks around it. */
function skipMark(json: Buffer, start: number): number {
  return skipBlanks(json, Math.min(skipBlanks(json, start) + 1, json.length));
}

function skipValue(json: Buffer, start: number): number {
  switch (json[start]) {
    case QUOTE:
      return skipString(json, start);
    case BRACE:
    case BRACKET:
      return skipNested(json, start);
    default:
      return skipScalar(json, start);
  }
}

/** Jumps from quote to quote, for most of a body's bytes lie in strings. */
function skipString(json: Buffer, start: number): number {
  let closing = json.indexOf(QUOTE, start + 1);
  while (closing !== -1 && isEscaped(json, closing)) closing = json.indexOf(QUOTE, closing + 1);
  return closing === -1 ? json.length : closing + 1;
}

/** Whether an odd number of backslashes stands before `at`; the string's opening quote ends the run. */
function isEscaped(json: Buffer, at: number): boolean {
  let first = at;
  while (json[first - 1] === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

function skipNested(json: Buffer, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const byte = json[at];
    if (byte === QUOTE) {
      at = skipString(json, at);
      continue;
    }
    if (byte === BRACE || byte === BRACKET) depth += 1;
    else if (byte === BRACE_END || byte === BRACKET_END) depth -= 1;
    at += 1;
  } while (depth > 0 && at < json.length);
  return at;
}

function skipScalar(json: Buffer, start: number): number {
  let at = start;
  while (at < json.length && json[at] !== COMMA && json[at] !== BRACE_END && !isBlank(json[at])) at += 1;
  return at;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
