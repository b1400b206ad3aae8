// The address that the access log shows for a client. Whoever is in between may write these headers, and so may the
// client: for logs only, never for a decision (api.md, 16.4 and T31).

import { isIP } from 'node:net';

/**
 * The leftmost entry of `X-Forwarded-For` when every entry is an IP address, else `X-Real-IP` when it is one, else the
 * peer's own address, an IPv4 one without the mapping of a socket for both IP versions.
 */
export function sourceIp(headers: Headers, peer: string): string {
  const forwarded =
    headers
      .get('x-forwarded-for')
      ?.split(',')
      .map((entry) => entry.trim()) ?? [];
  const [first] = forwarded;
  if (first !== undefined && forwarded.every((entry) => isIP(entry) !== 0)) return first;
  const real = headers.get('x-real-ip')?.trim() ?? '';
  return real === '' || isIP(real) === 0 ? peer.replace(/^::ffff:/, '') : real;
}
