// Where the items of a long list stand in a JSON document, so that each can be read on its own, and between two of them
// others have their turn. The document must be valid (json-members.ts); for anything else the places mean nothing.

import type { Buffer } from 'node:buffer';
import { isBlank, plainEnd } from './json-bytes.ts';
import { BACKSLASH, BRACE, BRACE_END, BRACKET, BRACKET_END, COMMA, QUOTE } from './json-marks.ts';
import type { ByteSpan } from './json-members.ts';
import type { Steps } from './steps.ts';

/** Bytes from pause to pause, about a millisecond. A string may run beyond. */
const SLICE_BYTES = 262_144;

export function isList(json: Buffer, { start }: ByteSpan): boolean {
  return json[start] === BRACKET;
}

/** The first `max` items of `list`, each with the blanks around it. */
export function* findItems(json: Buffer, list: ByteSpan, max: number): Steps<readonly ByteSpan[]> {
  const items: ByteSpan[] = [];
  const end = list.end - 1;
  let start = list.start + 1;
  let depth = 0;
  let pauseAt = start + SLICE_BYTES;
  for (let at = start; at < end && items.length < max; ) {
    const byte = json[at];
    if (byte === QUOTE) {
      at = stringEnd(json, at);
      continue;
    }
    if (byte === BRACE || byte === BRACKET) depth += 1;
    else if (byte === BRACE_END || byte === BRACKET_END) depth -= 1;
    else if (byte === COMMA && depth === 0) {
      items.push({ start, end: at });
      start = at + 1;
    }
    at += 1;
    if (at < pauseAt) continue;
    pauseAt = at + SLICE_BYTES;
    yield;
  }
  if (items.length < max && !isBlankBetween(json, start, end)) items.push({ start, end });
  return items;
}

/** Past the string whose opening quote is at `start`. */
function stringEnd(json: Buffer, start: number): number {
  let at = plainEnd(json, start + 1, json.length);
  while (json[at] === BACKSLASH) at = plainEnd(json, at + 2, json.length);
  return at + 1;
}

function isBlankBetween(json: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (!isBlank(json[at])) return false;
  return true;
}
