// The session that a client says its request belongs to: requests of one session are kept at one site and on one agent,
// whose prompt cache knows the conversation.

import { Buffer } from 'node:buffer';

/** The raw value of `X-Session-ID`; empty without one. The runtime hands header bytes over as Latin-1 characters (D-12). */
export function sessionOf(headers: Headers): Uint8Array {
  return Buffer.from(headers.get('x-session-id') ?? '', 'latin1');
}
