// A router without sockets: the real application over real stores, with a clock that the test moves, agents that it
// declares healthy, and an engine that is a function.

import { agentSeries } from '../../src/agents/agent-series.ts';
import type { EngineFetch } from '../../src/agents/engine-fetch.ts';
import { systemTimers, type Timers } from '../../src/agents/timers.ts';
import { parseAdminKeys } from '../../src/auth/admin.ts';
import type { ClientAuth } from '../../src/auth/authenticate.ts';
import { KeyRegistry } from '../../src/auth/key-registry.ts';
import { StaticKeys } from '../../src/auth/static-keys.ts';
import { heldRooms } from '../../src/cli/wire-limits.ts';
import { dispatch } from '../../src/dispatch/dispatch.ts';
import type { ProviderAccount } from '../../src/dispatch/providers/provider.ts';
import { SeatQueue } from '../../src/dispatch/queue.ts';
import { ActiveRequests } from '../../src/http/active-requests.ts';
import { PushQueue } from '../../src/http/admin/push-queue.ts';
import { createFetch } from '../../src/http/app.ts';
import { BodyBudget } from '../../src/http/body-budget.ts';
import type { RouterPorts } from '../../src/http/router-ports.ts';
import { Turns } from '../../src/http/turns.ts';
import { type PolicySet, PolicyStore } from '../../src/policy/store.ts';
import { AliasStore } from '../../src/routing/alias-store.ts';
import type { Connection, Fetch } from '../../src/runtime/runtime.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { RegistrationStream } from '../../src/telemetry/registration-stream.ts';
import { registryOf, type TestAgent } from './test-agents.ts';
import { testDispatchPorts } from './test-dispatch.ts';
import { type HoldSettings, testHolds, type Wake } from './test-holds.ts';
import { type ExtraKey, KEYS, keyRegistry } from './test-keys.ts';
import { type LimitSettings, testLimits } from './test-limits.ts';
import { must, type RedirectSettings, redirectGauges, redirectSite } from './test-redirect.ts';

export const NOW_MS = Date.parse('2026-11-03T12:00:00Z');
export const ADMIN_KEY = 'admin-secret';
/** The fixture of the requirements: models `m` on B, C, D, `emb` and `rr` on B (redirect-requirements, section 1). */
export const FIXTURE_MAP = {
  schema: 3,
  version: 1,
  region: 'eu',
  sites: [
    { id: 'site-fr-1', url: 'https://site-fr-1.example.com', country: 'FR', eu: true },
    { id: 'site-fr-2', url: 'https://site-fr-2.example.com', country: 'FR', eu: true },
    { id: 'site-de-1', url: 'https://site-de-1.example.com', country: 'DE', eu: true },
    { id: 'site-us-1', url: 'https://site-us-1.example.com', country: 'US', eu: false },
  ],
  placements: [
    ...['site-fr-2', 'site-de-1', 'site-us-1'].map((site) => placement('m', 'chat', site)),
    placement('emb', 'embedding', 'site-fr-2'),
    placement('rr', 'rerank', 'site-fr-2'),
  ],
};

export function placement(model: string, kind: string, site: string): Record<string, unknown> {
  return { model, kind, site, scale_from_zero: false };
}

export interface TestRouterSettings extends HoldSettings, RedirectSettings, LimitSettings {
  readonly authMode?: 'none' | 'api-key' | 'dynamic';
  readonly agents?: readonly TestAgent[];
  /** Alias to its models. */
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  /** The engine behind every agent; by default it echoes the request it was sent as JSON. */
  readonly engine?: EngineFetch;
  /** Providers that a policy may name, asked by `engine` too; none by default. */
  readonly accounts?: readonly ProviderAccount[];
  /** The built-in policy by default. */
  readonly policies?: PolicySet;
  /** Requests that may wait for one model; none by default. */
  readonly queueDepth?: number;
  readonly maxRequestBytes?: number;
  readonly bodyMemoryBytes?: number;
  readonly adminMemoryBytes?: number;
  /** What ends a body that is late. */
  readonly bodyTimers?: Timers;
  /** What ends a request that takes too long at its agent. */
  readonly requestTimers?: Timers;
  /** What ends a listing that its client does not take. */
  readonly stallTimers?: Timers;
  /** Keys beside {@link KEYS}: their secret, and the fields of an entry that differ from a plain enabled key. */
  readonly extraKeys?: readonly ExtraKey[];
  readonly state?: Pick<RouterPorts, 'kept' | 'restoredAtMs'>;
  /** As after a start: nobody has pushed a key. */
  readonly isWithoutKeys?: boolean;
  readonly isAdminInsecure?: boolean;
  /** What the runtime says of the peer. */
  readonly remoteAddress?: string;
}

export interface TestRouter {
  readonly ports: RouterPorts;
  /** The application as a listener would serve it. */
  readonly fetch: Fetch;
  /** Unix ms of this router's clock; assign to move it. */
  nowMs: number;
  /** The monotonic clock, for durations; it follows `nowMs` until it is assigned. */
  monotonicMs: number | undefined;
  /** Requests the engines were sent. */
  readonly engineCalls: { readonly url: string; readonly headers: Headers; readonly body: Uint8Array }[];
  readonly accessLines: Record<string, unknown>[];
  /** Everything written to any sink, for canary searches. */
  readonly written: string[];
  readonly wakes: readonly Wake[];
  stopping: boolean;
  /** What the application told the connection about silence, in order. */
  readonly silence: ('allow' | 'end' | 'close')[];
  send(target: string, init?: RequestInit): Promise<Response>;
  /** POST of a JSON body on `path` with the secret of a key, or with none. */
  ask(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Value of one metric line, such as `hivenet_sibling_map_version` or `name{label="x"}`. */
  metric(series: string): Promise<number | undefined>;
  /** Every metric line of one family, as exposed. */
  family(name: string): Promise<readonly string[]>;
  /** An admin request with the admin key. */
  admin(method: string, path: string, body?: unknown): Promise<Response>;
}

export function createTestRouter(settings: TestRouterSettings = {}): TestRouter {
  const written: string[] = [];
  const accessLines: Record<string, unknown>[] = [];
  const engineCalls: TestRouter['engineCalls'] = [];
  const engine: EngineFetch = async (url, init) => {
    engineCalls.push({ url, headers: new Headers(init.headers), body: init.body as Uint8Array });
    return (settings.engine ?? echo)(url, init);
  };
  const redirect = redirectSite(settings);
  // One clock for all that is measured: a real one would put the same requests into other buckets.
  const clock = { read: () => NOW_MS };
  const monotonicMs = (): number => clock.read();
  const timers = settings.requestTimers ?? { ...systemTimers, monotonicMs };
  const agents = registryOf(settings.agents ?? [], { nowMs: () => NOW_MS, monotonicMs });
  const active = new ActiveRequests();
  const bodyBudget = new BodyBudget(settings.bodyMemoryBytes ?? 268_435_456);
  const adminBudget = new BodyBudget(settings.adminMemoryBytes ?? 134_217_728);
  const sources = {
    redirect: redirect === undefined ? undefined : redirectGauges(redirect, () => router.nowMs),
    activeRequests: () => active.count,
    bodyBytes: () => bodyBudget.bytes + adminBudget.bytes,
    droppedLogLines: () => 0,
    agents: () => agentSeries(agents.all()),
    engines: () => [],
    queueDepths: () => queue.depths(),
    heldRooms: () => heldRooms(limits, agents, policies),
    held: () => holds.counts(),
  };
  const metrics = createMetrics(sources, 'test');
  const queue = new SeatQueue({
    registry: agents,
    timers,
    depth: settings.queueDepth ?? 0,
    onWaited: metrics.queueWaited,
  });
  const policies = new PolicyStore(settings.policies);
  const nowMs = (): number => router.nowMs;
  const limits = testLimits(settings, monotonicMs);
  const parts = { agents, policies, queue, metrics, engine, nowMs, timers };
  const dispatchPorts = testDispatchPorts(settings.accounts ?? [], parts);
  const here = () => redirect && { siteId: redirect.siteId, map: redirect.maps.current() };
  const { holds, wakes } = testHolds({ ...dispatchPorts, here, nowMs }, settings);
  const ports: RouterPorts = {
    version: 'test',
    auth: authIn(settings),
    admin:
      settings.isAdminInsecure === true
        ? { mode: 'insecure' }
        : { mode: 'api-key', keys: must(parseAdminKeys(ADMIN_KEY)) },
    redirect,
    ...(settings.state ?? { kept: undefined, restoredAtMs: undefined }),
    agents,
    registrations: new RegistrationStream(),
    aliases: new AliasStore(new Map(Object.entries(settings.aliases ?? {}))),
    policies,
    providers: new Set(settings.accounts?.map(({ dialect }) => dialect)),
    ...limits,
    limitWrites: new PushQueue(),
    queueDepths: () => queue.depths(),
    dispatch: (request) => dispatch(request, dispatchPorts),
    holds,
    maxRequestBytes: settings.maxRequestBytes ?? 10_485_760,
    bodies: { budget: bodyBudget, timeoutMs: 60_000, timers: settings.bodyTimers ?? systemTimers },
    adminBodies: { budget: adminBudget, timeoutMs: 60_000, timers: settings.bodyTimers ?? systemTimers },
    stalls: { timeoutMs: 60_000, timers: settings.stallTimers ?? systemTimers },
    active,
    turns: new Turns(monotonicMs),
    metrics,
    log: createLog(
      () => router.nowMs,
      (line) => void written.push(line),
    ),
    writeAccessLine: (line) => {
      written.push(line);
      accessLines.push(JSON.parse(line) as Record<string, unknown>);
    },
    isStopping: () => router.stopping,
    nowMs,
    monotonicMs,
    random: (size) => crypto.getRandomValues(new Uint8Array(size)),
  };
  const fetch = createFetch(ports);
  const silence: TestRouter['silence'] = [];
  const connection: Connection = {
    remoteAddress: settings.remoteAddress ?? '192.0.2.1',
    allowSilence: () => void silence.push('allow'),
    endSilence: () => void silence.push('end'),
    closeSoon: () => void silence.push('close'),
  };
  const router: TestRouter = {
    ports,
    fetch,
    nowMs: NOW_MS,
    monotonicMs: undefined,
    engineCalls,
    accessLines,
    written,
    wakes,
    stopping: false,
    silence,
    send: async (target, init = {}) => {
      const request = new Request(new URL(target, 'https://site-fr-1.example.com'), init);
      if (!request.headers.has('host')) request.headers.set('host', new URL(request.url).host);
      return fetch(request, connection);
    },
    ask: (path, body, headers = {}) =>
      router.send(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: bodyOf(body),
      }),
    metric: async (series) => {
      const line = (await metrics.expose()).split('\n').find((candidate) => candidate.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length + 1));
    },
    family: async (name) =>
      (await metrics.expose()).split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `)),
    admin: (method, path, body) =>
      router.send(path, {
        method,
        headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: bodyOf(body) }),
      }),
  };
  clock.read = () => router.monotonicMs ?? router.nowMs;
  return router;
}

/** Makes each step of long work use up its turn, so that requests come in between any two. */
export function pauseAtEachStep(site: TestRouter): void {
  let nowMs = 0;
  Object.defineProperty(site, 'monotonicMs', { get: () => (nowMs += 10) });
}

/** Static keys are the enabled ones of the registry, without their IDs. */
function authIn(settings: TestRouterSettings): ClientAuth {
  const registry = registryIn(settings);
  if (settings.authMode === 'none') return { mode: 'none' };
  if (settings.authMode !== 'api-key') return { mode: 'dynamic', registry };
  const keys = registry.all().filter(({ enabled }) => enabled);
  return { mode: 'api-key', keys: new StaticKeys(keys.map((key) => ({ ...key, id: '' }))) };
}

function registryIn({ isWithoutKeys = false, extraKeys }: TestRouterSettings): KeyRegistry {
  return isWithoutKeys ? new KeyRegistry() : keyRegistry(extraKeys);
}

function bodyOf(body: unknown): BodyInit {
  return typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body);
}

/** Headers that show the key with this ID. */
export function bearer(keyId: keyof typeof KEYS): Record<string, string> {
  return { authorization: `Bearer ${KEYS[keyId]}` };
}

const echo: EngineFetch = async (url, init) =>
  Response.json({ url, body: new TextDecoder().decode(init.body as Uint8Array<ArrayBuffer>) });
