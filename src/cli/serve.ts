// The `serve` command: settings → stores → application → listeners. The one place where the rooms are wired together.

import { randomBytes } from 'node:crypto';
import process from 'node:process';
import type { Agent } from '../agents/agent.ts';
import { createEngineFetch } from '../agents/engine-fetch.ts';
import { engineSeries } from '../agents/engine-series.ts';
import { startMetricsPolling } from '../agents/metrics-poll.ts';
import { startProbing } from '../agents/probe.ts';
import { AgentRegistry } from '../agents/registry.ts';
import { systemTimers } from '../agents/timers.ts';
import { KeyRegistry } from '../auth/key-registry.ts';
import { type Config, readConfig } from '../config/config.ts';
import { readTextFile } from '../config/text-file.ts';
import { dispatch } from '../dispatch/dispatch.ts';
import { ActiveRequests } from '../http/active-requests.ts';
import { createFetch } from '../http/app.ts';
import { BodyBudget } from '../http/body-budget.ts';
import { warnOfHiddenAliases } from '../http/model-aliases.ts';
import { errorText } from '../http/respond.ts';
import type { RedirectSite, RouterPorts } from '../http/router-ports.ts';
import { Turns } from '../http/turns.ts';
import { UsedTokenLedger } from '../redirect/ledger.ts';
import { AliasStore } from '../routing/alias-store.ts';
import type { Listener, Runtime } from '../runtime/runtime.ts';
import { areHintsFresh } from '../site/sibling-map.ts';
import { SiblingMapStore } from '../site/sibling-map-store.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import { createMetrics, type MetricSources, type Metrics } from '../telemetry/metrics.ts';
import type { CommandOutput } from './command-output.ts';
import type { LineWriter } from './line-writer.ts';
import { openListeners } from './listeners.ts';
import { Reloader } from './reload.ts';
import { modelAliasReload } from './reload-model-aliases.ts';
import { tlsReload } from './reload-tls.ts';
import { Shutdown } from './shutdown.ts';

/** Serves until a signal ends it; resolves with the exit code. */
export async function runServe(runtime: Runtime, args: readonly string[], surroundings: Surroundings): Promise<number> {
  const read = readConfig({ args, env: process.env, readFile: readTextFile });
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
  const bodyBudget = new BodyBudget(config.http.bodyMemoryBytes);
  const shutdown = new Shutdown(config.shutdown, systemTimers, log);
  const redirect = redirectSite(config);
  // Each needs the other, but the registry only once a scrape asks for it.
  const engines = () => engineSeries(agents.all(), systemTimers.monotonicMs());
  const metrics = createMetrics(
    { ...metricSources(around, redirect, { active, bodyBudget }), engines },
    around.version,
  );
  const agents = createAgents(config, metrics, log, () => warnOfHiddenAliases(ports));
  const ports: RouterPorts = routerPorts(runtime, config, {
    shutdown,
    redirect,
    active,
    bodyBudget,
    metrics,
    agents,
    log,
    stdout,
  });
  const listeners = openListeners(runtime, {
    http: { address: config.http.address, tls: config.http.tls, fetch: createFetch(ports) },
    metrics: { address: config.metrics.address, fetch: () => exposeMetrics(metrics) },
  });
  if (!listeners.ok) {
    complain(listeners.fault);
    return 1;
  }
  const stopWatching = watchEngines(runtime, agents, log);
  process.on('SIGHUP', reloaderOf(config, ports, listeners.value.http));
  print(`listening http ${listeners.value.http.url}`);
  print(`listening metrics ${listeners.value.metrics.url}`);
  await shutdown.run(listeners.value, active);
  stopWatching();
  await endLogs(around);
  return 0;
}

/** Probes and scrapes, until what it returns is called. */
function watchEngines(runtime: Runtime, agents: AgentRegistry, log: Log): () => void {
  const ports = { fetch: engineFetch(runtime), timers: systemTimers };
  const stopProbing = startProbing(agents, ports);
  const stopPolling = startMetricsPolling(agents, {
    ...ports,
    onChange: ({ setting }, reason) =>
      reason === undefined
        ? log.info('Engine metrics are there', { agent_id: setting.id })
        : log.info('No engine metrics', { agent_id: setting.id, reason }),
  });
  return () => {
    stopProbing();
    stopPolling();
  };
}

/** What SIGHUP renews, each thing on its own. */
function reloaderOf(config: Config, ports: RouterPorts, api: Listener): () => void {
  const things = [...modelAliasReload(config.modelAliases.file, ports), ...tlsReload(config.http.tls, api)];
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
  { active, bodyBudget }: Pick<Parts, 'active' | 'bodyBudget'>,
): Omit<MetricSources, 'engines'> {
  return {
    redirect: redirect === undefined ? undefined : redirectGauges(redirect),
    activeRequests: () => active.count,
    bodyBytes: () => bodyBudget.bytes,
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

function createAgents(config: Config, metrics: Metrics, log: Log, onHealthy: () => void): AgentRegistry {
  const agents = new AgentRegistry((agent, from, to, reason) => {
    const agentId = agent.setting.id;
    if (from === to) log.info('Agent is not ready yet', { agent_id: agentId, reason });
    else log.info('Agent changed state', { agent_id: agentId, from, to, reason });
    metrics.agentHealthy({ peer_id: agent.setting.id, engine: agent.setting.engine }, to === 'healthy');
    if (to === 'healthy') onHealthy();
  });
  for (const setting of config.agents) {
    agents.add(setting);
    metrics.agentHealthy({ peer_id: setting.id, engine: setting.engine }, false);
  }
  return agents;
}

interface Parts {
  readonly shutdown: Shutdown;
  readonly redirect: RedirectSite | undefined;
  readonly active: ActiveRequests;
  readonly bodyBudget: BodyBudget;
  readonly metrics: Metrics;
  readonly agents: AgentRegistry;
  readonly log: Log;
  readonly stdout: LineWriter;
}

function routerPorts(runtime: Runtime, config: Config, parts: Parts): RouterPorts {
  const { shutdown, redirect, active, bodyBudget, metrics, agents, log, stdout } = parts;
  const dispatchPorts = {
    registry: agents,
    fetch: engineFetch(runtime),
    timers: systemTimers,
    requestTimeoutMs: config.timeouts.requestMs,
    streamIdleTimeoutMs: config.timeouts.streamIdleMs,
    shutdown: shutdown.graceOver,
    errorBody: errorText,
    onFailedTry: (agent: Agent, requestId: string, reason: string) =>
      log.warn('Engine gave no usable answer', { agent_id: agent.setting.id, request_id: requestId, reason }),
  };
  return {
    auth: config.auth.mode === 'none' ? { mode: 'none' } : { mode: 'dynamic', registry: new KeyRegistry() },
    admin: config.admin,
    redirect,
    agents,
    aliases: new AliasStore(config.modelAliases.table),
    dispatch: (request) => dispatch(request, dispatchPorts),
    maxRequestBytes: config.http.maxRequestBytes,
    bodies: { budget: bodyBudget, timeoutMs: config.timeouts.bodyMs, timers: systemTimers },
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
