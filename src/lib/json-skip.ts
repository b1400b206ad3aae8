// Where a string of a JSON document ends, by looking for nothing else. The document is known to be valid (`scanMembers`);
// for anything else the places mean nothing, but lie within it and are found in linear time.

import type { Buffer } from 'node:buffer';
import { isBlank } from './json-bytes.ts';
import { BACKSLASH, QUOTE } from './json-marks.ts';

/** Bytes of a string that are looked at before the first jump. */
const NEAR_BYTES = 32;

/** Past the blanks at `start`, if any. */
export function skipBlanks(json: Buffer, start: number): number {
  let at = start;
  while (isBlank(json[at])) at += 1;
  return at;
}

/**
 * Jumps from quote to quote, for most of a body's bytes lie in strings. The first bytes are looked at one by one: most
 * strings are short, and a jump costs as much as 40 of them.
 */
export function skipString(json: Buffer, start: number): number {
  const near = Math.min(start + NEAR_BYTES, json.length);
  let at = start + 1;
  for (; at < near; at += 1) {
    if (json[at] === QUOTE) return at + 1;
    if (json[at] === BACKSLASH) at += 1;
  }
  let closing = json.indexOf(QUOTE, at);
  while (closing !== -1 && isEscaped(json, closing)) closing = json.indexOf(QUOTE, closing + 1);
  return closing === -1 ? json.length : closing + 1;
}

/** Whether an odd number of backslashes stands before `at`; the string's opening quote ends the run. */
function isEscaped(json: Buffer, at: number): boolean {
  let first = at;
  while (json[first - 1] === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}
