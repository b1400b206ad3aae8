// Length-prefixed bytes, LP(x) of the site-choice hash: without the lengths, ('ab', 'c') and ('a', 'bc') would hash
// alike.

import { Buffer } from 'node:buffer';
import { writeUtf8 } from './utf8.ts';

/** Of the length in front. */
export const PREFIX_BYTES = 4;

/** `head || LP(part) || …` in one piece, LP being `u32 big-endian byte length || bytes` (redirect-requirements 5.1). */
export function joinPrefixed(head: Uint8Array, parts: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  let size = head.length;
  for (const part of parts) size += PREFIX_BYTES + (typeof part === 'string' ? Buffer.byteLength(part) : part.length);
  const joined = new Uint8Array(size);
  joined.set(head);
  let at = head.length;
  for (const part of parts) at = writePrefixed(part, joined, at);
  return joined;
}

/** Returns where the part ends. */
function writePrefixed(part: string | Uint8Array, bytes: Uint8Array, at: number): number {
  const start = at + PREFIX_BYTES;
  const size = typeof part === 'string' ? writeUtf8(part, bytes, start) : part.length;
  if (typeof part !== 'string') bytes.set(part, start);
  // Not by a DataView: to make one costs more than all the rest.
  for (let index = 0; index < PREFIX_BYTES; index += 1) bytes[at + index] = size >>> (24 - 8 * index);
  return start + size;
}
