// Bytes as text with a character for each, for searching what is ASCII in them: a place in the text is one in the bytes.

import { Buffer } from 'node:buffer';

/** Of the bytes from `start` to `end`. No Buffer is made of them, which would cost five times as much. */
export function latin1Text(bytes: Uint8Array, start: number = 0, end: number = bytes.byteLength): string {
  return Buffer.prototype.toString.call(bytes, 'latin1', start, end);
}
