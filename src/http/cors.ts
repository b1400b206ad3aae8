// CORS for browser clients of `/v1/*`: a redirect crosses origins, so the 307, every error and every answer must allow
// any (E3, clients.md section 5). No credentials, and nothing ever decides by Origin.

import { splitTarget } from '../lib/query.ts';

const EXPOSED = [
  'X-Request-ID',
  'X-Client-Request-ID',
  'Retry-After',
  'X-RateLimit-Remaining-Requests',
  'X-RateLimit-Remaining-Tokens',
  'x-should-retry',
  'WWW-Authenticate',
  'Server-Timing',
].join(', ');

const OPEN_PATHS = /^\/v1(?:[/?]|$)/;
/** Only of these the beginning could be `/v1`. */
const ESCAPED_EARLY = /^\/v?%/;

/** Whether a target, path and query, is `/v1` or below it: also with escapes in its path, since they are routed decoded. */
export function isForAnyOrigin(target: string): boolean {
  return OPEN_PATHS.test(target) || (ESCAPED_EARLY.test(target) && OPEN_PATHS.test(decoded(target)));
}

function decoded(target: string): string {
  try {
    return decodeURI(splitTarget(target).path);
  } catch {
    return target; // as it is routed then
  }
}

/** What marks an answer of `/v1/*` as readable from any origin. */
export const ANY_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED,
} as const;

/** Marks an answer that was not made with {@link ANY_ORIGIN}. No answer has such headers of anybody else's. */
export function allowAnyOrigin(headers: Headers): void {
  if (headers.has('access-control-allow-origin')) return;
  for (const [name, value] of Object.entries(ANY_ORIGIN)) headers.set(name, value);
}

/** The answer to `OPTIONS` on any path: without authentication, and without touching a token (E3). */
export function preflightResponse(request: Request): Response {
  const asked = request.headers.get('access-control-request-headers');
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'POST, GET, OPTIONS',
      ...(asked === null ? {} : { 'access-control-allow-headers': asked }),
      vary: 'Access-Control-Request-Headers',
    },
  });
}
