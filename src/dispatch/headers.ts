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

const NOT_FOR_ENGINES: ReadonlySet<string> = new Set([...HOP_BY_HOP, ...FOR_THE_ROUTER, ...SET_BY_FETCH]);
const NOT_FOR_CLIENTS: ReadonlySet<string> = new Set([...HOP_BY_HOP, ...SET_BY_ROUTER, 'content-length']);
const NONE: ReadonlySet<string> = new Set();

/** By name, in lower case. Read in one go: each call of a `Headers` is one into the runtime. */
export type HeaderFields = Record<string, string>;

/** All of them, several cookies as one text. Where the runtime has `toJSON`, that takes half as long as an iteration. */
export function fieldsOf(headers: Headers & { toJSON?(): HeaderFields }): HeaderFields {
  const fields: HeaderFields = headers.toJSON?.() ?? Object.fromEntries<string>(headers);
  if (fields['set-cookie'] !== undefined) fields['set-cookie'] = headers.getSetCookie().join();
  return fields;
}

/**
 * Headers for the engine: the client's without credentials, the effective `X-Request-ID`, and no encoding asked for,
 * so that the router can read what it has to. Proxies repeat the URL in headers of many names, and with it the redirect
 * token: none of those passes.
 */
export function engineHeaders(fromClient: Headers, requestId: string): HeaderFields {
  const fields: HeaderFields = { 'content-type': 'application/json' };
  const sent = fieldsOf(fromClient);
  const named = connectionOptions(sent);
  for (const name in sent) {
    const value = sent[name] ?? '';
    if (NOT_FOR_ENGINES.has(name) || named.has(name) || redactText(value) !== value) continue;
    fields[name] = value;
  }
  fields['accept-encoding'] = 'identity';
  fields['x-request-id'] = requestId;
  return fields;
}

/**
 * Headers for the client: the engine's, without length (the body may still change its framing) or CORS, and without any
 * that repeats `key`, with which the engine was asked.
 */
export function clientHeaders(fromEngine: HeaderFields, key?: string): HeaderFields {
  const fields: HeaderFields = {};
  const named = connectionOptions(fromEngine);
  for (const name in fromEngine) {
    const value = fromEngine[name] ?? '';
    const isOwnKey = key !== undefined && value.includes(key);
    if (NOT_FOR_CLIENTS.has(name) || named.has(name) || isOwnKey || name.startsWith('access-control-')) continue;
    fields[name] = value;
  }
  return fields;
}

/** The names that `Connection` lists. */
function connectionOptions({ connection: listed }: HeaderFields): ReadonlySet<string> {
  return listed === undefined ? NONE : new Set(listed.split(',').map((name) => name.trim().toLowerCase()));
}
