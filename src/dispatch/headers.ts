// Which headers pass between client and engine. A client's credentials stay here, and nothing an engine says about its
// own connection or its own clients reaches ours (E6, R-221, bun.md D (iv)).

import { redactText } from '../telemetry/redact.ts';

/** Headers of one connection, never of the message (RFC 9110 §7.6.1); `Connection` names more of them. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** The client's secrets and what was meant for the router. A `Referer` can hold the URL with its redirect token. */
const FOR_THE_ROUTER = [
  'authorization',
  'x-api-key',
  'api-key',
  'cookie',
  'referer',
  'x-hivenet-scope',
  'x-hivenet-max-wait',
  'rt',
];

/** Of the client's connection or of its body as sent: the engine gets it decoded (E5). */
const SET_BY_FETCH = ['host', 'content-length', 'content-encoding', 'expect'];

/**
 * The router's own word counts: its request ID, its CORS, its limits; an engine's cookies would be set for the router's
 * host.
 */
const SET_BY_ROUTER = [
  'set-cookie',
  'x-request-id',
  'x-client-request-id',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
];

/**
 * Headers for the engine: the client's without credentials, the effective `X-Request-ID`, and no encoding asked for,
 * so that the router can read what it has to.
 */
export function engineHeaders(fromClient: Headers, requestId: string): Headers {
  const headers = endToEnd(fromClient);
  for (const name of [...FOR_THE_ROUTER, ...SET_BY_FETCH]) headers.delete(name);
  for (const name of withToken(headers)) headers.delete(name);
  headers.set('accept-encoding', 'identity');
  headers.set('x-request-id', requestId);
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  return headers;
}

/** Proxies repeat the URL in headers of many names, and with it the redirect token. */
function withToken(headers: Headers): readonly string[] {
  return [...headers].flatMap(([name, value]) => (redactText(value) === value ? [] : name));
}

/**
 * Headers for the client: the engine's, without length (the body may still change its framing) or CORS, and without any
 * that repeats `key`, with which the engine was asked.
 */
export function clientHeaders(fromEngine: Headers, key?: string): Headers {
  const headers = endToEnd(fromEngine);
  for (const name of [...SET_BY_ROUTER, 'content-length']) headers.delete(name);
  for (const [name, value] of [...headers]) {
    const isOwnKey = key !== undefined && value.includes(key);
    if (isOwnKey || name.startsWith('access-control-')) headers.delete(name);
  }
  return headers;
}

function endToEnd(source: Headers): Headers {
  const headers = new Headers(source);
  for (const name of connectionOptions(source)) headers.delete(name);
  for (const name of HOP_BY_HOP) headers.delete(name);
  return headers;
}

/** The names that `Connection` lists; what is no header name is skipped, since deleting it would throw. */
function connectionOptions(headers: Headers): readonly string[] {
  const names = headers.get('connection')?.split(',') ?? [];
  return names.map((name) => name.trim()).filter((name) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name));
}
