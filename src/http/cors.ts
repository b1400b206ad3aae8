// CORS for browser clients of `/v1/*`: a redirect crosses origins, so the 307, every error and every answer must allow
// any (E3, clients.md section 5). No credentials, and nothing ever decides by Origin.

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

/** Whether a target, path and query, is `/v1` or below it. */
export function isForAnyOrigin(target: string): boolean {
  return target.startsWith('/v1') && (target.length === 3 || target[3] === '/' || target[3] === '?');
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
