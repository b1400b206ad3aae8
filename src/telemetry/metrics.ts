// Every metric the router exposes, by its public name. Labels come from closed sets or from the operator's own map
// and settings, never from what a client sends.

import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Registry from 'prom-client/lib/registry.js';
import { REFUSAL_REASONS, type RefusalReason } from '../redirect/verify.ts';
import { type AgentSeries, agentMetrics } from './agent-metrics.ts';
import { type EngineSeries, engineGauges } from './engine-gauges.ts';
import { type HeldCount, type HoldMetrics, holdMetrics } from './hold-metrics.ts';
import { type HeldRoom, type LimitMetrics, limitMetrics } from './limit-metrics.ts';
import { type PolicyMetrics, policyMetrics } from './policy-metrics.ts';
import { providerMetrics } from './provider-metrics.ts';
import { type QueueDepth, queueMetrics } from './queue-metrics.ts';
import type { RequestRecord } from './request-record.ts';
import { routingMetrics } from './routing-metrics.ts';
import { Series } from './series.ts';
import { SeriesCounter, SeriesHistogram } from './series-metrics.ts';
import { tenantMetrics } from './tenant-metrics.ts';

/** Read at each scrape, because both change without a push. */
interface RedirectGauges {
  mapVersion(): bigint;
  areHintsExpired(): boolean;
}

interface RedirectMetrics {
  /** A 307 was written. */
  redirected(labels: { model: string; site: string; hop: 1 | 2 }): void;
  /** A token was refused; once per request, by its first failing check. */
  refused(reason: RefusalReason): void;
}

export interface Metrics {
  readonly redirect: RedirectMetrics | undefined;
  /** With `redirect`: without a map nothing is held. */
  readonly hold: HoldMetrics | undefined;
  readonly policy: PolicyMetrics;
  readonly limits: LimitMetrics;
  requestEnded(record: RequestRecord, seconds: number): void;
  /** A request got its slot after that long in the queue of its model. */
  queueWaited(model: string, seconds: number): void;
  /** A provider was asked, and its head came after that long; status 0: none came. */
  providerAsked(provider: string, status: number, seconds: number): void;
  /** Something could not be written to the state directory. */
  stateWriteFailed(): void;
  /** Prometheus text format. */
  expose(): Promise<string>;
  readonly contentType: string;
}

const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** As many as the placements of the largest map, for both hops. */
const REDIRECTS_MAX = 200_000;

/** What is read at each scrape. */
export interface MetricSources {
  /** Undefined when the feature is off: then none of its four families exists. */
  readonly redirect: RedirectGauges | undefined;
  /** Requests under way, streams included. */
  readonly activeRequests: () => number;
  /** Bytes of request bodies held by them. */
  readonly bodyBytes: () => number;
  /** Lines of either log that could not be written, so far. */
  readonly droppedLogLines: () => number;
  /** Of every agent that the router has. */
  readonly agents: () => readonly AgentSeries[];
  /** Of every agent whose engine's metrics are fresh. */
  readonly engines: () => readonly EngineSeries[];
  /** Of every model that an agent lists. */
  readonly queueDepths: () => readonly QueueDepth[];
  /** Of every model with admitted requests. */
  readonly heldRooms: () => readonly HeldRoom[];
  /** Of every model for which requests are held. */
  readonly held: () => readonly HeldCount[];
}

export function createMetrics(sources: MetricSources, version: string): Metrics {
  const { redirect } = sources;
  const registry = new Registry();
  const registers = [registry];
  buildInfo(registers, version);
  const durations = new SeriesHistogram(
    {
      name: 'http_server_request_duration_seconds',
      help: 'Time from request head to last byte',
      buckets: DURATION_BUCKETS,
      registers,
    },
    ['method', 'route', 'status_code'],
  );
  scrapedGauge(
    registers,
    'http_server_active_requests',
    'Requests under way, streams included',
    sources.activeRequests,
  );
  scrapedGauge(
    registers,
    'hivenet_router_body_bytes',
    'Bytes of request bodies held, as --body-memory bounds them',
    sources.bodyBytes,
  );
  droppedLines(registers, sources.droppedLogLines);
  agentMetrics(registers, sources.agents);
  engineGauges(registers, sources.engines);
  const queue = queueMetrics(registers, sources.queueDepths);
  const countRouted = routingMetrics(registers);
  const countTenants = tenantMetrics(registers);
  const stateErrors = new Counter({
    name: 'hivenet_quota_backend_errors_total',
    help: 'Failed writes to the state directory',
    registers,
  });
  return {
    policy: policyMetrics(registers),
    limits: limitMetrics(registers, sources.heldRooms),
    redirect: redirect === undefined ? undefined : redirectMetrics(redirect, registers),
    hold: redirect === undefined ? undefined : holdMetrics(registers, sources.held),
    requestEnded: (record, seconds) => {
      durations.of([record.method, record.route, String(record.status)]).observe(seconds);
      countRouted(record);
      countTenants(record, seconds);
    },
    queueWaited: queue.waited,
    providerAsked: providerMetrics(registers),
    stateWriteFailed: () => stateErrors.inc(),
    expose: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function droppedLines(registers: Registry[], read: () => number): void {
  new Counter({
    name: 'hivenet_router_log_lines_dropped_total',
    help: 'Log lines lost to a full disk, a closed pipe or a reader that lags',
    registers,
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}

function buildInfo(registers: Registry[], version: string): void {
  const info = new Gauge({
    name: 'hivenet_router_build_info',
    help: 'Always 1; the version is the label',
    labelNames: ['version'],
    registers,
  });
  info.labels(version).set(1);
}

function redirectMetrics(gauges: RedirectGauges, registers: Registry[]): RedirectMetrics {
  const redirects = new Series(['model', 'site', 'hop'], () => ({ count: 0 }), REDIRECTS_MAX);
  new SeriesCounter(
    { name: 'hivenet_redirects_total', help: '307 responses written, by target site and hop', registers },
    redirects,
    ({ count }) => count,
  );
  const rejections = new Counter({
    name: 'hivenet_redirect_rejections_total',
    help: 'Refused redirect tokens, by the first failing check',
    labelNames: ['reason'],
    registers,
  });
  // Present as 0 from the start, so that a first refusal shows as an increase.
  for (const reason of REFUSAL_REASONS) rejections.labels(reason).inc(0);
  scrapedGauge(
    registers,
    'hivenet_sibling_map_version',
    'Version of the sibling map held, 0 before the first push',
    () => Number(gauges.mapVersion()),
  );
  scrapedGauge(registers, 'hivenet_sibling_map_hints_expired', '1 while every hint of the map is ignored', () =>
    gauges.areHintsExpired() ? 1 : 0,
  );
  return {
    redirected: ({ model, site, hop }) => {
      redirects.of([model, site, String(hop)]).count += 1;
    },
    refused: (reason) => rejections.labels(reason).inc(),
  };
}

function scrapedGauge(registers: Registry[], name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read());
    },
  });
}
