// The address that the access log shows for a client. Whoever is in between may write these headers, and so may the
// client: for logs only, never for a decision (api.md, 16.4 and T31).

import process from 'node:process';
import type { Connection } from '../runtime/runtime.ts';

/** How a socket for both IP versions writes an IPv4 address. */
const MAPPED = '::ffff:';

/**
 * The leftmost entry of `X-Forwarded-For` when every entry is an IP address, else `X-Real-IP` when it is one, else the
 * peer's own address, an IPv4 one without the mapping of a socket for both IP versions.
 */
export function sourceIp(headers: Headers, connection: Pick<Connection, 'remoteAddress'>): string {
  return firstForwarded(headers.get('x-forwarded-for')) ?? addressIn(headers.get('x-real-ip')) ?? peerOf(connection);
}

function firstForwarded(header: string | null): string | undefined {
  const entries = header?.split(',').map((entry) => entry.trim());
  return entries?.every(isAddress) ? entries[0] : undefined;
}

function addressIn(header: string | null): string | undefined {
  const text = header?.trim();
  return text !== undefined && isAddress(text) ? text : undefined;
}

/** Loads `node:net` for the first request that came through a proxy: no start has to wait for it. */
function isAddress(text: string): boolean {
  return process.getBuiltinModule('node:net').isIP(text) !== 0;
}

/** Asking for it is a system call. */
function peerOf({ remoteAddress }: Pick<Connection, 'remoteAddress'>): string {
  return remoteAddress.startsWith(MAPPED) ? remoteAddress.slice(MAPPED.length) : remoteAddress;
}
