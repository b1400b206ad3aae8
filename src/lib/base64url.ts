// Base64url without padding (RFC 4648 §5), one spelling for one value. The runtimes decode leniently: they skip junk,
// take both alphabets and ignore spare bits, which would give one token many texts.

import { Buffer } from 'node:buffer';

/** Unpadded base64url. */
export function encodeBase64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');
}

/** The bytes, or undefined unless `text` is exactly what `encodeBase64url` writes for them. */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
