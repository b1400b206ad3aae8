// Text to bytes and back, without the two liberties of the platform's defaults: no replacement characters for bytes
// that are not UTF-8, and no silently dropped byte order mark.

import { isUtf8 } from 'node:buffer';
import type { Steps } from './steps.ts';

const ENCODER = new TextEncoder();
const STRICT_DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LOSSY_DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** Up to which a character is one byte. */
export const ASCII_LAST = 0x7f;

/** U+FFFD as UTF-8: what the lossy decoder writes in place of bytes that are none. */
const REPLACEMENT = [0xef, 0xbf, 0xbd];

/** The UTF-8 bytes of `text`. A lone surrogate has none and becomes U+FFFD, so two such texts can share their bytes. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return ENCODER.encode(text);
}

/**
 * Writes what `encodeUtf8` gives to `start` and on, where there is room for it, and returns how many bytes that are. For
 * short texts, nearly all ASCII: to pass over their characters costs less than a call into the runtime.
 */
export function writeUtf8(text: string, bytes: Uint8Array, start: number): number {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > ASCII_LAST) return ENCODER.encodeInto(text, bytes.subarray(start)).written;
    bytes[start + index] = code;
  }
  return text.length;
}

/** The text, or undefined when `bytes` are not UTF-8 (RFC 3629). A byte order mark is kept as U+FEFF. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return STRICT_DECODER.decode(bytes);
  } catch {
    return undefined; // the only error that a fatal decoder has
  }
}

/** Bytes that are looked at in one go. */
const PIECE_BYTES = 131_072;

/** Bytes of the longest character. */
const CHARACTER_MAX_BYTES = 4;

/** Offset of the first byte that is not UTF-8, or undefined when all are. It pauses after each piece. */
export function* findInvalidUtf8(bytes: Uint8Array, pieceBytes: number = PIECE_BYTES): Steps<number | undefined> {
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    end = pieceEnd(bytes, start, pieceBytes);
    const piece = bytes.subarray(start, end);
    if (!isUtf8(piece)) return start + invalidAt(piece);
    if (end < bytes.length) yield;
  }
  return undefined;
}

/**
 * Where to cut `bytes` after `start` so that no character is cut: about `pieceBytes` on, but at least one character.
 * Bytes that are no character are cut anywhere.
 */
export function pieceEnd(bytes: Uint8Array, start: number, pieceBytes: number): number {
  const at = start + Math.max(pieceBytes, CHARACTER_MAX_BYTES);
  if (at >= bytes.length) return bytes.length;
  for (let end = at; end > at - CHARACTER_MAX_BYTES; end -= 1) {
    if (!isContinuation(bytes[end])) return end;
  }
  return at;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0;
}

/** For messages: it decodes and encodes anew. */
function invalidAt(bytes: Uint8Array): number {
  const lossy = ENCODER.encode(LOSSY_DECODER.decode(bytes));
  const differs = lossy.findIndex((byte, index) => byte !== bytes[index]);
  // The first difference lies in the first replacement, at the place in it that its byte tells.
  return differs - REPLACEMENT.indexOf(lossy[differs] ?? 0);
}
