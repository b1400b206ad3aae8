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

/** A hex digit by its number, its two high bits replaced by the variant 10. */
const VARIANT_10 = '89ab89ab89ab89ab';

/** A fresh UUID version 4 in lower case (RFC 9562 §5.4). */
export function uuidV4(random: RandomBytes): string {
  const hex = Buffer.from(random(16)).toString('hex');
  const variant = VARIANT_10[Number.parseInt(hex.charAt(16), 16)] ?? '';
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}
