// Base64url without padding (RFC 4648 §5), one spelling for one value. The runtimes decode leniently: they skip junk,
// take both alphabets and ignore spare bits, which would give one token many texts.

import { Buffer } from 'node:buffer';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** What a character stands for, by its code. */
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => Math.max(0, ALPHABET.indexOf(String.fromCharCode(code))));

/** Bits of the last character that no byte takes up, by the length of the text modulo 4. No text has 4n + 1 characters. */
const SPARE_BITS = [0, undefined, 0b1111, 0b11];

/** Unpadded base64url. */
export function encodeBase64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');
}

/**
 * The bytes, or undefined unless `text` is exactly what `encodeBase64url` writes for them. `text`: of the 64 characters
 * only. Of others comes no byte, so that some are missing, but `+` and `/` would pass for `-` and `_`.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  const spareBits = SPARE_BITS[text.length % 4];
  const last = VALUES[text.charCodeAt(text.length - 1)] ?? 0;
  if (spareBits === undefined || (last & spareBits) !== 0) return undefined;
  const bytes = Buffer.allocUnsafe(Math.floor((text.length * 3) / 4));
  return bytes.write(text, 'base64url') === bytes.length ? bytes : undefined;
}
