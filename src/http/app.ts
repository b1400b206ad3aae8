// The whole HTTP surface on one screen: what every request passes, and which path leads where.

import { type Context, type Handler, Hono, type Next } from 'hono';
import { RegExpRouter } from 'hono/router/reg-exp-router';
import { type ErrorCode, RouterError } from '../errors.ts';
import { ENDPOINTS } from '../routing/endpoint.ts';
import type { Fetch } from '../runtime/runtime.ts';
import { redactText } from '../telemetry/redact.ts';
import type { RequestRecord } from '../telemetry/request-record.ts';
import { adminOnly } from './admin/admin-only.ts';
import { drainAgent, listAgents, pushAgent, readAgent, removeAgent, resumeAgent } from './admin/agents.ts';
import { deleteKey, putKey, readKey } from './admin/api-key.ts';
import { listKeys, readKeyVersion, replaceKeys } from './admin/api-keys.ts';
import { readFleetHealth } from './admin/fleet-health.ts';
import { readAliases, replaceAliases } from './admin/model-aliases.ts';
import { listAllModels, readAnyModel } from './admin/models.ts';
import {
  deletePolicy,
  listPolicies,
  readGlobalPolicy,
  readPolicy,
  replaceGlobalPolicy,
  replacePolicy,
} from './admin/policy.ts';
import { streamRegistrations } from './admin/registration-stream.ts';
import { readRoutingTable } from './admin/routing-table.ts';
import { pushSiblingMap, readSiblingMap } from './admin/sibling-map.ts';
import { allowAnyOrigin, isForAnyOrigin, preflightResponse } from './cors.ts';
import { liveness, readiness } from './health.ts';
import { hasValidHost } from './host.ts';
import { inferenceRoute } from './inference.ts';
import { listModels, readModel } from './models.ts';
import { completeRecord, logFailure, noteRoute, startRecord } from './record-request.ts';
import { adminError, type ErrorHeaders, errorResponse, statusOf, toRouterError, wireCodeOf } from './respond.ts';
import type { RouterEnv, RouterPorts } from './router-ports.ts';

/** Characters of an unknown path that its error repeats. */
const PATH_SHOWN_MAX = 128;

/** The application as the runtime serves it. */
export function createFetch(ports: RouterPorts): Fetch {
  const app = createApp(ports);
  return async (request, connection) => {
    const record = startRecord(ports, request, connection);
    // Before routing and before any URL parsing: with a bad Host the runtime's request URL is relative (D-49, R-217).
    const isRouted = hasValidHost(request);
    const response = isRouted ? await app.fetch(request, { connection, record }) : refuseHost(record);
    if (isForAnyOrigin(record.target)) allowAnyOrigin(response.headers);
    completeRecord(ports, record, response);
    return request.method === 'HEAD' ? headOf(response) : response;
  };
}

/** Without the length that GET has, and without a body to count, a runtime would say 0 (RFC 9110 §8.6): a stream has none. */
function headOf(response: Response): Response {
  if (response.headers.has('content-length')) return response;
  return new Response(new ReadableStream({ pull: (controller) => controller.close() }, { highWaterMark: 0 }), response);
}

function refuseHost(record: RequestRecord): Response {
  record.errorCode = wireCodeOf('request_invalid');
  return errorResponse('request_invalid', 'The Host header is missing or is not host[:port].');
}

function createApp(ports: RouterPorts): Hono<RouterEnv> {
  // One expression finds every route. A route that it cannot hold throws here, where Hono's default would search a tree.
  const app = new Hono<RouterEnv>({ router: new RegExpRouter() });
  for (const path of ['/v1/models/*', '/health/*', '/admin/*']) app.use(path, noteRoute);
  app.options('*', noteRoute, (c) => preflightResponse(c.req.raw));
  app.use('/admin/*', adminOnly(ports));

  // One handler for all methods of a path, and no middleware: what is asked for most passes the least.
  for (const endpoint of ENDPOINTS) app.all(endpoint.path, postOnly(endpoint.path, inferenceRoute(ports, endpoint)));
  app.get('/v1/models', listModels(ports)).all(only('GET, HEAD'));
  app.get('/v1/models/:id{.+}', readModel(ports)).all(only('GET, HEAD'));

  app.get('/health', liveness).all(only('GET, HEAD'));
  app.get('/health/ready', readiness(ports)).all(only('GET, HEAD'));

  app.get('/admin/sibling-map', readSiblingMap(ports)).post(pushSiblingMap(ports)).all(only('GET, HEAD, POST'));
  app.get('/admin/api-keys', listKeys(ports)).all(only('GET, HEAD'));
  // Keys may have these two as IDs: only what such a key cannot be asked for is taken from it (api.md §2).
  app
    .get('/admin/api-keys/:id', insteadOfId('version', readKeyVersion(ports)), readKey(ports))
    .post(insteadOfId('replace', replaceKeys(ports)))
    .put(putKey(ports))
    .delete(deleteKey(ports))
    .all(insteadOfId('replace', only('GET, HEAD, POST, PUT, DELETE')), only('GET, HEAD, PUT, DELETE'));
  app.get('/admin/agents', listAgents(ports)).all(only('GET, HEAD'));
  app
    .get('/admin/agents/:id', readAgent(ports))
    .put(pushAgent(ports))
    .delete(removeAgent(ports))
    .all(only('GET, HEAD, PUT, DELETE'));
  app.post('/admin/agents/:id/drain', drainAgent(ports)).delete(resumeAgent(ports)).all(only('POST, DELETE'));
  app.get('/admin/health', readFleetHealth(ports)).all(only('GET, HEAD'));
  app.get('/admin/routing-table', readRoutingTable(ports)).all(only('GET, HEAD'));
  app.get('/admin/registration-stream', streamRegistrations(ports)).all(only('GET, HEAD'));
  app.get('/admin/models', listAllModels(ports)).all(only('GET, HEAD'));
  app.get('/admin/models/:id{.+}', readAnyModel(ports)).all(only('GET, HEAD'));
  app.get('/admin/model-aliases', readAliases(ports)).put(replaceAliases(ports)).all(only('GET, HEAD, PUT'));

  app.get('/admin/policy', readGlobalPolicy(ports)).put(replaceGlobalPolicy(ports)).all(only('GET, HEAD, PUT'));
  app.get('/admin/policy/models', listPolicies(ports)).all(only('GET, HEAD'));
  app
    .get('/admin/policy/models/:name{.+}', readPolicy(ports))
    .put(replacePolicy(ports))
    .delete(deletePolicy(ports))
    .all(only('GET, HEAD, PUT, DELETE'));

  app.notFound((c) => {
    c.env.record.errorCode = wireCodeOf('path_unknown');
    return refuse(c.req.path, 'path_unknown', `No such path: ${c.req.path.slice(0, PATH_SHOWN_MAX)}`);
  });
  app.onError((thrown, c) => {
    const error = toRouterError(thrown);
    c.env.record.errorCode = wireCodeOf(error.code);
    if (error.code === 'internal_error') logFailure(ports, c.env.record, error.cause);
    return refuse(c.req.path, error.code, error.message, headersOf(error));
  });
  return app;
}

/** What these say is said in one form everywhere: every 401, and models as `/v1/models` has them (api.md, 6.1). */
const IN_ONE_FORM: ReadonlySet<ErrorCode> = new Set(['unauthorized', 'model_not_found']);

/** The error body of E4, and below `/admin` the simple form. */
function refuse(path: string, code: ErrorCode, message: string, headers: ErrorHeaders = {}): Response {
  const isAdmins = path === '/admin' || path.startsWith('/admin/');
  if (!isAdmins || IN_ONE_FORM.has(code)) return errorResponse(code, message, headers);
  return adminError(statusOf(code), redactText(message), headers);
}

function headersOf(error: RouterError): ErrorHeaders {
  if (error instanceof MethodNotAllowed) return { allow: error.allow };
  return {
    ...(error.retryAfterS === undefined ? {} : { 'retry-after': String(error.retryAfterS) }),
    ...(error.isPermanent ? { 'x-should-retry': 'false' } : {}),
  };
}

class MethodNotAllowed extends RouterError {
  readonly allow: string;

  constructor(method: string, allow: string) {
    super('method_not_allowed', `${method} is not allowed on this path: use ${allow}.`);
    this.allow = allow;
  }
}

/** What has a constant path where others have an ID. */
function insteadOfId(id: string, handler: Handler<RouterEnv>): Handler<RouterEnv> {
  return (c: Context<RouterEnv>, next: Next) => {
    if (c.req.param('id') !== id) return next();
    const { record } = c.env;
    record.route = record.route.replace('{id}', id);
    return handler(c, next);
  };
}

/** The one handler of a path: it notes the route itself. */
function postOnly(route: string, handler: Handler<RouterEnv>): Handler<RouterEnv> {
  return (c, next) => {
    c.env.record.route = route;
    if (c.req.method !== 'POST') throw new MethodNotAllowed(c.req.method, 'POST');
    return handler(c, next);
  };
}

/** 405 with `Allow` for a known path (E10). */
function only(allow: string) {
  return (c: { req: { method: string } }): never => {
    throw new MethodNotAllowed(c.req.method, allow);
  };
}
