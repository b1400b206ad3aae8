// The one UUID rule of the router, for IDs that clients send and for those inside a token, and the IDs that it makes.

import { Buffer } from 'node:buffer';
import type { RandomBytes } from './clock.ts';

const FORM = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

/**
 * Whether `text` is 36 characters, 8-4-4-4-12 hex digits of either case, any version and variant (D-27). IDs travel
 * verbatim into headers and logs: the exact form leaves no room for line breaks.
 */
export function isUuid(text: string): boolean {
  return FORM.test(text);
}

/** A fresh UUID version 4 in lower case (RFC 9562 §5.4). */
export function uuidV4(random: RandomBytes): string {
  const bytes = Buffer.from(random(16));
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6); // version 4
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8); // variant 10
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
