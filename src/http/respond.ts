// Errors as HTTP: the one table from error code to status, wire code and error type, and the one body that both
// families of SDKs read (E4).

import { Buffer } from 'node:buffer';
import { type ErrorCode, RouterError } from '../errors.ts';
import { redactText } from '../telemetry/redact.ts';
import { ACCEPTED_ENCODINGS } from './content-encoding.ts';

/** What a client is told besides the body: challenge, retry hint, allowed methods. */
export type ErrorHeaders = Readonly<Record<string, string>>;

interface WireError {
  readonly status: number;
  /** `error.code` on the wire (api.md, 6.2). */
  readonly code: string;
  /** `error.type`, the word the SDKs branch on. */
  readonly type: string;
  readonly source: 'router' | 'backend';
  readonly headers?: ErrorHeaders;
}

const INVALID = { code: 'request_invalid', type: 'invalid_request_error', source: 'router' } as const;
const NOT_FOUND = { type: 'not_found_error', source: 'router' } as const;
const LIMITED = { status: 429, type: 'rate_limit_error', source: 'router' } as const;
const OVERLOADED = { status: 503, type: 'overloaded_error', source: 'router' } as const;
const CHALLENGE = { 'www-authenticate': 'Bearer realm="hivenet-router"' };
const UNAUTHORIZED = { status: 401, code: 'unauthorized', type: 'authentication_error', source: 'router' } as const;

const WIRE_ERRORS: Readonly<Record<ErrorCode, WireError>> = {
  unauthorized: { ...UNAUTHORIZED, headers: CHALLENGE },
  // SDKs then start again at the original URL, where they get a new token (E2).
  token_refused: { ...UNAUTHORIZED, headers: { ...CHALLENGE, 'x-should-retry': 'true' } },
  model_forbidden: { status: 403, code: 'model_forbidden', type: 'permission_error', source: 'router' },
  request_invalid: { status: 400, ...INVALID },
  body_too_large: { status: 413, ...INVALID },
  // The rest of the body may never come, and would be taken for the next request.
  body_timeout: { status: 400, ...INVALID, headers: { connection: 'close' } },
  encoding_unsupported: { status: 415, ...INVALID, headers: { 'accept-encoding': ACCEPTED_ENCODINGS } },
  path_unknown: { status: 404, code: 'request_invalid', ...NOT_FOUND },
  method_not_allowed: { status: 405, code: 'request_invalid', ...NOT_FOUND },
  model_not_found: { status: 404, code: 'model_not_found', ...NOT_FOUND },
  input_too_long: { status: 400, ...INVALID, code: 'input_too_long' },
  rate_limit_exceeded: { code: 'rate_limit_exceeded', ...LIMITED },
  token_limit_exceeded: { code: 'token_limit_exceeded', ...LIMITED },
  concurrency_limit_exceeded: { code: 'concurrency_limit_exceeded', ...LIMITED },
  no_agents_available: { code: 'no_agents_available', ...OVERLOADED },
  no_capacity: { code: 'no_capacity', ...OVERLOADED, headers: { 'retry-after': '1' } },
  queue_full: { code: 'queue_full', ...OVERLOADED, headers: { 'retry-after': '1' } },
  shutting_down: { code: 'backend_unavailable', ...OVERLOADED, headers: { 'retry-after': '1' } },
  backend_unavailable: { ...OVERLOADED, code: 'backend_unavailable', source: 'backend' },
  backend_error: { status: 502, code: 'backend_error', type: 'api_error', source: 'backend' },
  request_timeout: { status: 504, code: 'request_timeout', type: 'api_error', source: 'router' },
  client_gone: { status: 499, code: 'client_gone', type: 'api_error', source: 'router' },
  internal_error: { status: 500, code: 'backend_error', type: 'api_error', source: 'router' },
};

/** The error response of `/v1/*`, of unknown paths and of every 401. */
export function errorResponse(code: ErrorCode, message: string, headers: ErrorHeaders = {}): Response {
  const wire = WIRE_ERRORS[code];
  return jsonResponse(wire.status, errorBody(wire, message), { ...wire.headers, ...headers });
}

/** `error.code` on the wire, also for the logs: a client's report and the operator's query then use one word. */
export function wireCodeOf(code: ErrorCode): string {
  return WIRE_ERRORS[code].code;
}

/** The status of an answer that ends so. */
export function statusOf(code: ErrorCode): number {
  return WIRE_ERRORS[code].status;
}

/** The error body as one line of JSON, for the error event of a stream that broke off (E8). */
export function errorText(code: ErrorCode, message: string): string {
  return JSON.stringify(errorBody(WIRE_ERRORS[code], message));
}

/** The body of E4: `type` at the top for Anthropic clients, `error.code` and `param` for OpenAI clients. */
export function errorBody(
  wire: Pick<WireError, 'type' | 'code' | 'source'>,
  message: string,
  more: object = {},
): object {
  const { type, code, source } = wire;
  // A client may put a token where a model name belongs, and the message repeats it (R-207).
  return { type: 'error', error: { type, message: redactText(message), code, param: null, source, ...more } };
}

export const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' } as const;

/** A JSON response in one write with its length. */
export function jsonResponse(status: number, body: unknown, headers: ErrorHeaders = {}): Response {
  return jsonText(status, JSON.stringify(body), headers);
}

/**
 * The same of JSON that is text already, where a number must keep digits that no JavaScript number holds (D-58). HEAD comes
 * as GET and loses the body, so the length must stand beside it.
 */
export function jsonText(status: number, text: string, headers: ErrorHeaders = {}): Response {
  const length = String(Buffer.byteLength(text));
  return new Response(text, { status, headers: { ...JSON_HEADERS, 'content-length': length, ...headers } });
}

/** The headers that tell a client how to go on after this error. */
export function headersOf(code: ErrorCode): ErrorHeaders {
  return WIRE_ERRORS[code].headers ?? {};
}

/** The simple form of admin errors (api.md, 6.1). */
export function adminError(status: number, message: string, headers: ErrorHeaders = {}): Response {
  return jsonResponse(status, { error: message }, headers);
}

/** Any thrown value as the RouterError it is, or as the one fixed text that tells a client nothing. */
export function toRouterError(error: unknown): RouterError {
  return error instanceof RouterError
    ? error
    : new RouterError('internal_error', 'The router failed to handle this request. It has been logged.', {
        cause: error,
      });
}
