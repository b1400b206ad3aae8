// The body of a chat request of a given size: what is hashed, read and forwarded.

import { encodeUtf8 } from '../lib/utf8.ts';

/** `bytes` bytes, unless that is less than the request takes without any text. */
export function chatBody(
  bytes: number,
  request: { readonly model: string; readonly [member: string]: unknown },
): Uint8Array {
  const withText = (content: string) =>
    encodeUtf8(JSON.stringify({ ...request, messages: [{ role: 'user', content }] }));
  const missing = bytes - withText('').length;
  return withText('a'.repeat(Math.max(0, missing)));
}
