// The way in and the way out of every request: it gets its ID and its record, and the record ends once the last byte has
// left.

import type { MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import { isUuid, uuidV4 } from '../lib/uuid.ts';
import type { Connection } from '../runtime/runtime.ts';
import { formatAccessLine } from '../telemetry/access-log.ts';
import { describeError } from '../telemetry/log.ts';
import type { RequestRecord } from '../telemetry/request-record.ts';
import type { RouterEnv, RouterPorts } from './router-ports.ts';
import { sourceIp } from './source-ip.ts';

/** Methods that may be a metric label; anything else a client makes up is one label. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

/** The metric label of a path that nothing serves. */
const UNMATCHED = 'unmatched';

/** A request has arrived. */
export function startRecord(ports: RouterPorts, request: Request, connection: Connection): RequestRecord {
  const record = newRecord(ports, request, connection);
  ports.active.begin();
  return record;
}

/** Middleware: the template of the path, as the metric names it, is that of the first route that it matches. */
export const noteRoute: MiddlewareHandler<RouterEnv> = (c, next) => {
  const route = matchedRoutes(c).find(({ path }) => !path.endsWith('*'));
  if (route !== undefined) c.env.record.route = route.path.replace(/:(\w+)(?:\{.*\})?/, '{$1}');
  return next();
};

/** Its response is there: `X-Request-ID` and `X-Client-Request-ID` are set, and unless it streams, it is over. */
export function completeRecord(ports: RouterPorts, record: RequestRecord, response: Response): void {
  // A stream that was cut short before this line has said how it ended.
  if (record.status === 0) record.status = response.status;
  const { headers } = response;
  headers.set('x-request-id', record.requestId);
  if (record.clientRequestId !== undefined) headers.set('x-client-request-id', record.clientRequestId);
  tellRemaining(headers, record);
  if (ports.isStopping()) headers.set('connection', 'close');
  if (!record.streaming) endRecord(ports, record);
}

/** Of limits that the request was let in under, or that it met (api.md §7). */
function tellRemaining(headers: Headers, { remainingRequests, remainingTokens }: RequestRecord): void {
  if (remainingRequests !== undefined) headers.set('x-ratelimit-remaining-requests', String(remainingRequests));
  if (remainingTokens !== undefined) headers.set('x-ratelimit-remaining-tokens', String(remainingTokens));
}

/** The request is over: one access line, one observation. Called once, by `completeRecord` or by whoever streams. */
export function endRecord(ports: RouterPorts, record: RequestRecord): void {
  const endedMs = ports.monotonicMs();
  ports.active.end();
  for (const { budget } of [ports.bodies, ports.adminBodies]) budget.giveBack(record);
  ports.metrics.requestEnded(record, (endedMs - record.startedMs) / 1000);
  ports.writeAccessLine(formatAccessLine(record, endedMs));
}

/** A bug: the operator is told what the client is not. */
export function logFailure(ports: RouterPorts, { requestId }: RequestRecord, cause: unknown): void {
  ports.log.error('Request failed', { request_id: requestId, cause: describeError(cause) });
}

function newRecord(ports: RouterPorts, request: Request, connection: Connection): RequestRecord {
  return {
    arrivedMs: ports.nowMs(),
    startedMs: ports.monotonicMs(),
    method: METHODS.has(request.method) ? request.method : 'OTHER',
    target: targetOf(request.url),
    sourceIp: sourceIp(request.headers, connection),
    ...requestIds(ports, request.headers),
    route: UNMATCHED,
    status: 0,
    errorCode: undefined,
    refusalReason: undefined,
    keyId: undefined,
    alias: undefined,
    model: undefined,
    agentId: undefined,
    deploymentId: undefined,
    routing: undefined,
    redirectSite: undefined,
    originSite: undefined,
    hop: undefined,
    remainingRequests: undefined,
    remainingTokens: undefined,
    inputTokens: undefined,
    outputTokens: undefined,
    isIncomplete: false,
    holdMs: undefined,
    firstByteMs: undefined,
    bodyBytes: 0,
    streaming: false,
  };
}

/**
 * With the feature on, the router's own fresh ID, and the client's valid UUID beside it; off, the client's valid
 * `X-Request-ID` is adopted (A4, D-40). Anything but a UUID never comes back, so no client writes into a log.
 */
export function requestIds(ports: RouterPorts, headers: Headers): Pick<RequestRecord, 'requestId' | 'clientRequestId'> {
  const sent = validUuid(headers.get('x-request-id'));
  if (ports.redirect === undefined) return { requestId: sent ?? uuidV4(ports.random), clientRequestId: undefined };
  return { requestId: uuidV4(ports.random), clientRequestId: validUuid(headers.get('x-client-request-id')) ?? sent };
}

function validUuid(text: string | null): string | undefined {
  return text !== null && isUuid(text) ? text : undefined;
}

/** Path and query of a URL, as sent; with a bad Host the URL is no more than that. No fragment: in a Location it would swallow the token (P-16). */
function targetOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
  const end = url.indexOf('#');
  return start === -1 ? '/' : url.slice(start, end === -1 ? url.length : end);
}
