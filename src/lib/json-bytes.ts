// Where the tokens of JSON (RFC 8259 §2, §6, §7) end in bytes that are UTF-8; undefined where they break a rule. Apart from
// json-tokens.ts, which makes text and values of them: this only passes by, and as fast as it can.

import { Buffer } from 'node:buffer';
import { BACKSLASH, MINUS, PLUS, POINT, QUOTE } from './json-marks.ts';
import { DIGITS_MAX } from './json-tokens.ts';

const ZERO = 0x30;

/** 1 for each byte that stands for itself in a string: all but controls, quote and backslash. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH),
);

/** What a backslash may stand before, `u` with its four digits apart. */
const ESCAPES = new Set(Buffer.from('"\\/bfnrt'));
const LITERALS = ['true', 'false', 'null'].map((word) => Buffer.from(word));

/** Past the bytes that stand for themselves in a string; four at a time, since most of a body are such. */
export function plainEnd(json: Buffer, start: number, end: number): number {
  let at = start;
  for (; at < end - 3; at += 4) {
    if (!isPlainAt(json, at)) return at;
    if (!isPlainAt(json, at + 1)) return at + 1;
    if (!isPlainAt(json, at + 2)) return at + 2;
    if (!isPlainAt(json, at + 3)) return at + 3;
  }
  while (at < end && isPlainAt(json, at)) at += 1;
  return at;
}

function isPlainAt(json: Buffer, at: number): boolean {
  return PLAIN[json[at] ?? 0] === 1;
}

/** Past the escape whose backslash stands at `at`. */
export function escapeEnd(json: Buffer, at: number): number | undefined {
  const letter = json[at + 1] ?? 0;
  if (ESCAPES.has(letter)) return at + 2;
  if (letter !== 0x75) return undefined;
  for (let digit = at + 2; digit < at + 6; digit += 1) if (!isHexDigit(json[digit] ?? 0)) return undefined;
  return at + 6;
}

/** Past `true`, `false` or `null`. */
export function literalEnd(json: Buffer, at: number): number | undefined {
  const word = LITERALS.find((literal) => literal[0] === json[at]);
  if (word === undefined) return undefined;
  for (let index = 1; index < word.length; index += 1) if (json[at + index] !== word[index]) return undefined;
  return at + word.length;
}

/** Past the number, `-? int frac? exp?` (RFC 8259 §6). */
export function numberEnd(json: Buffer, start: number): number | undefined {
  const whole = json[start] === MINUS ? start + 1 : start;
  let at = json[whole] === ZERO ? whole + 1 : digitsEnd(json, whole);
  if (at !== undefined && json[at] === POINT) at = digitsEnd(json, at + 1);
  if (at === undefined || !isExponentMark(json[at])) return at;
  const sign = json[at + 1];
  return digitsEnd(json, sign === PLUS || sign === MINUS ? at + 2 : at + 1);
}

/** Past one digit or more. */
function digitsEnd(json: Buffer, start: number): number | undefined {
  let at = start;
  while (isDigit(json[at]) && at - start <= DIGITS_MAX) at += 1;
  return at === start || at - start > DIGITS_MAX ? undefined : at;
}

/** Of the four that may stand between tokens. */
export function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= 0x39;
}

function isHexDigit(byte: number): boolean {
  return isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}

function isExponentMark(byte: number | undefined): boolean {
  return byte === 0x65 || byte === 0x45;
}
