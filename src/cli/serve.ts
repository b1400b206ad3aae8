// The `serve` command: settings → stores → application → listeners. The one place where the rooms are wired together.

import { randomBytes } from 'node:crypto';
import process from 'node:process';
import type { Agent } from '../agents/agent.ts';
import { createEngineFetch } from '../agents/engine-fetch.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import { systemTimers } from '../agents/timers.ts';
import { KeyRegistry } from '../auth/key-registry.ts';
import { type Config, readConfig } from '../config/config.ts';
import { listDirectory, readTextFile } from '../config/text-file.ts';
import { dispatch } from '../dispatch/dispatch.ts';
import { SeatQueue } from '../dispatch/queue.ts';
import { ActiveRequests } from '../http/active-requests.ts';
import { ADMIN_BODY_MEMORY_BYTES } from '../http/admin/admin-body.ts';
import { createFetch } from '../http/app.ts';
import { BodyBudget } from '../http/body-budget.ts';
import { warnOfHiddenAliases } from '../http/model-aliases.ts';
import { errorText } from '../http/respond.ts';
import type { RedirectSite, RouterPorts } from '../http/router-ports.ts';
import { Turns } from '../http/turns.ts';
import { PolicyStore } from '../policy/store.ts';
import { UsedTokenLedger } from '../redirect/ledger.ts';
import { AliasStore } from '../routing/alias-store.ts';
import type { Listener, Runtime } from '../runtime/runtime.ts';
import { areHintsFresh } from '../site/sibling-map.ts';
import { SiblingMapStore } from '../site/sibling-map-store.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import { createMetrics, type MetricSources, type Metrics } from '../telemetry/metrics.ts';
import { RegistrationStream } from '../telemetry/registration-stream.ts';
import type { CommandOutput } from './command-output.ts';
import type { LineWriter } from './line-writer.ts';
import { openListeners } from './listeners.ts';
import { Reloader } from './reload.ts';
import { agentsReload } from './reload-agents.ts';
import { modelAliasReload } from './reload-model-aliases.ts';
import { policyReload } from './reload-policies.ts';
import { tlsReload } from './reload-tls.ts';
import { Shutdown } from './shutdown.ts';
import { agentSources, createAgents, watchEngines } from './wire-agents.ts';

/** Serves until a signal ends it; resolves with the exit code. */
export async function runServe(runtime: Runtime, args: readonly string[], surroundings: Surroundings): Promise<number> {
  const read = readConfig({ args, env: process.env, readFile: readTextFile, listDirectory });
  if (!read.ok) {
    for (const error of read.fault) surroundings.complain(error);
    return 1;
  }
  const log = createLog(Date.now, (line) => surroundings.stderr.write(line));
  for (const warning of read.value.warnings) log.warn(warning);
  return serve(runtime, read.value.config, { ...surroundings, log });
}

export interface Surroundings extends CommandOutput {
  readonly version: string;
  readonly stdout: LineWriter;
  readonly stderr: LineWriter;
}

/** How long the end waits for readers of the logs that lag. */
const FLUSH_MS = 1_000;

async function serve(runtime: Runtime, config: Config, around: Surroundings & { readonly log: Log }): Promise<number> {
  const { log, print, complain, stdout } = around;
  const active = new ActiveRequests();
  const budgets = {
    inference: new BodyBudget(config.http.bodyMemoryBytes),
    admin: new BodyBudget(ADMIN_BODY_MEMORY_BYTES),
  };
  const shutdown = new Shutdown(config.shutdown, systemTimers, log);
  const redirect = redirectSite(config);
  const registrations = new RegistrationStream();
  shutdown.stopping.addEventListener('abort', () => registrations.close());
  const onHealthy = () => warnOfHiddenAliases(ports);
  const agents = createAgents(config.agents, { log, registrations, onHealthy });
  const gauges = { active, budgets };
  // Each needs the other, but the queue only once a scrape asks for it.
  const queueDepths = () => queue.depths();
  const sources = { ...metricSources(around, redirect, gauges), ...agentSources(agents, systemTimers), queueDepths };
  const metrics = createMetrics(sources, around.version);
  const queue = seatQueue(config, agents, metrics);
  const { version } = around;
  const parts = { version, shutdown, redirect, active, budgets, metrics, agents, queue, registrations, log, stdout };
  const ports: RouterPorts = routerPorts(runtime, config, parts);
  // One that comes before there is anything to renew must not end the process.
  process.on('SIGHUP', () => undefined);
  const listeners = openListeners(runtime, {
    http: { address: config.http.address, tls: config.http.tls, fetch: createFetch(ports) },
    metrics: { address: config.metrics.address, fetch: () => exposeMetrics(metrics) },
  });
  if (!listeners.ok) {
    complain(listeners.fault);
    return 1;
  }
  const fetch = engineFetch(runtime);
  const stopWatching = watchEngines(agents, { log, registrations, fetch, timers: systemTimers });
  process.on('SIGHUP', reloaderOf(config, ports, listeners.value.http));
  print(`listening http ${listeners.value.http.url}`);
  print(`listening metrics ${listeners.value.metrics.url}`);
  await shutdown.run(listeners.value, active);
  stopWatching();
  await endLogs(around);
  return 0;
}

/** What SIGHUP renews, each thing on its own. */
function reloaderOf(config: Config, ports: RouterPorts, api: Listener): () => void {
  // Agents first: aliases are judged against their models.
  const things = [
    ...agentsReload(config.agents.file, ports.agents),
    ...policyReload(config.policies.paths, ports),
    ...modelAliasReload(config.modelAliases.file, ports),
    ...tlsReload(config.http.tls, api),
  ];
  const reloader = new Reloader(things, ports.log, ports.isStopping);
  return () => void reloader.run();
}

/** A pipe that nobody empties would keep the process alive for the lines in it. */
async function endLogs({ stdout, stderr }: Surroundings): Promise<void> {
  const cancel = systemTimers.after(FLUSH_MS, () => process.exit(0));
  await Promise.all([stdout.flushed(), stderr.flushed()]);
  cancel();
}

function metricSources(
  { stdout, stderr }: Surroundings,
  redirect: RedirectSite | undefined,
  { active, budgets }: Pick<Parts, 'active' | 'budgets'>,
): Omit<MetricSources, 'agents' | 'engines' | 'queueDepths'> {
  return {
    redirect: redirect === undefined ? undefined : redirectGauges(redirect),
    activeRequests: () => active.count,
    bodyBytes: () => budgets.inference.bytes + budgets.admin.bytes,
    droppedLogLines: () => stdout.dropped + stderr.dropped,
  };
}

function redirectSite(config: Config): RedirectSite | undefined {
  if (config.redirect === undefined) return undefined;
  const { siteId, keyring, tokenTtlMs, allowedDomains } = config.redirect;
  const state = { ledger: new UsedTokenLedger(), maps: new SiblingMapStore() };
  return { siteId, keyring, tokenTtlMs, domains: allowedDomains, ...state };
}

function redirectGauges({ maps }: RedirectSite) {
  return {
    mapVersion: () => maps.current().version,
    areHintsExpired: () => !areHintsFresh(maps.current(), Date.now()),
  };
}

function seatQueue(config: Config, registry: AgentRegistry, metrics: Metrics): SeatQueue {
  const { queueDepth: depth } = config.dispatch;
  return new SeatQueue({ registry, timers: systemTimers, depth, onWaited: metrics.queueWaited });
}

interface Parts {
  readonly version: string;
  readonly shutdown: Shutdown;
  readonly redirect: RedirectSite | undefined;
  readonly active: ActiveRequests;
  readonly budgets: Readonly<Record<'inference' | 'admin', BodyBudget>>;
  readonly metrics: Metrics;
  readonly agents: AgentRegistry;
  readonly registrations: RegistrationStream;
  readonly queue: SeatQueue;
  readonly log: Log;
  readonly stdout: LineWriter;
}

function routerPorts(runtime: Runtime, config: Config, parts: Parts): RouterPorts {
  const { version, shutdown, redirect, active, budgets, metrics, agents, queue, registrations, log, stdout } = parts;
  const policies = new PolicyStore(config.policies.loaded, config.dispatch.maxTries);
  const dispatchPorts = {
    registry: agents,
    policies,
    queue,
    fetch: engineFetch(runtime),
    timers: systemTimers,
    requestTimeoutMs: config.timeouts.requestMs,
    streamIdleTimeoutMs: config.timeouts.streamIdleMs,
    streamMaxDurationMs: config.timeouts.streamMaxMs,
    shutdown: shutdown.graceOver,
    errorBody: errorText,
    onFailedTry: (agent: Agent, requestId: string, reason: string) =>
      log.warn('Engine gave no usable answer', { agent_id: agent.setting.id, request_id: requestId, reason }),
    onRouted: metrics.policy.routed,
    onExhausted: (model: string, requestId: string, findings: string) => {
      metrics.policy.exhausted(model);
      log.warn('No agent for a request', { model, request_id: requestId, findings });
    },
  };
  const bodies = { timeoutMs: config.timeouts.bodyMs, timers: systemTimers };
  return {
    version,
    auth: config.auth.mode === 'none' ? { mode: 'none' } : { mode: 'dynamic', registry: new KeyRegistry() },
    admin: config.admin,
    redirect,
    agents,
    registrations,
    aliases: new AliasStore(config.modelAliases.table),
    policies,
    providers: config.policies.keyed,
    queueDepths: () => queue.depths(),
    dispatch: (request) => dispatch(request, dispatchPorts),
    maxRequestBytes: config.http.maxRequestBytes,
    bodies: { ...bodies, budget: budgets.inference },
    stalls: { timeoutMs: config.timeouts.streamIdleMs, timers: systemTimers },
    adminBodies: { ...bodies, budget: budgets.admin },
    active,
    turns: new Turns(systemTimers.monotonicMs),
    metrics,
    log,
    writeAccessLine: (line) => stdout.write(line),
    isStopping: () => shutdown.isStopping,
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
    random: randomBytes,
  };
}

function engineFetch(runtime: Runtime) {
  return createEngineFetch((url, init) => fetch(url, init), runtime.engineFetchInit);
}

async function exposeMetrics(metrics: Metrics): Promise<Response> {
  return new Response(await metrics.expose(), { headers: { 'content-type': metrics.contentType } });
}
