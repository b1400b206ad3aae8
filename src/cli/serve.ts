// The `serve` command: a router is made, listens, watches its engines, and ends when a signal says so.

import process from 'node:process';
import { systemTimers } from '../agents/timers.ts';
import { type Config, readConfig } from '../config/config.ts';
import { listDirectory, readTextFile } from '../config/text-file.ts';
import { createFetch } from '../http/app.ts';
import type { RouterPorts } from '../http/router-ports.ts';
import type { Listener, Runtime } from '../runtime/runtime.ts';
import { createLog } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { CommandOutput } from './command-output.ts';
import { openListeners } from './listeners.ts';
import { Reloader } from './reload.ts';
import { agentsReload } from './reload-agents.ts';
import { authFileReload } from './reload-auth-file.ts';
import { modelAliasReload } from './reload-model-aliases.ts';
import { policyReload } from './reload-policies.ts';
import { tlsReload } from './reload-tls.ts';
import { watchEngines } from './wire-agents.ts';
import { engineFetch } from './wire-dispatch.ts';
import { createRouter, type Surroundings } from './wire-router.ts';
import { keepState, openStateDirectory } from './wire-state.ts';

type ServeOutput = CommandOutput & Omit<Surroundings, 'log'>;

/** Serves until a signal ends it; resolves with the exit code. */
export async function runServe(runtime: Runtime, args: readonly string[], output: ServeOutput): Promise<number> {
  const read = readConfig({ args, env: process.env, readFile: readTextFile, listDirectory });
  if (!read.ok) {
    for (const error of read.fault) output.complain(error);
    return 1;
  }
  const log = createLog(Date.now, (line) => output.stderr.write(line));
  for (const warning of read.value.warnings) log.warn(warning);
  return serve(runtime, read.value.config, { ...output, log });
}

/** How long the end waits for readers of the logs that lag. */
const FLUSH_MS = 1_000;

async function serve(runtime: Runtime, config: Config, around: CommandOutput & Surroundings): Promise<number> {
  const { print, complain, log } = around;
  const state = openStateDirectory(config.stateDir, log);
  if (!state.ok) {
    complain(state.fault);
    return 1;
  }
  const { shutdown, ...router } = createRouter(runtime, config, around);
  const { ports, end: endState } = keepState(state.value, router);
  // One that comes before there is anything to renew must not end the process.
  process.on('SIGHUP', () => undefined);
  const listeners = openListeners(runtime, {
    http: { address: config.http.address, tls: config.http.tls, fetch: createFetch(ports) },
    metrics: { address: config.metrics.address, fetch: () => exposeMetrics(ports.metrics) },
  });
  if (!listeners.ok) {
    complain(listeners.fault);
    return 1;
  }
  const { agents, registrations, active } = ports;
  const watching = { log, registrations, fetch: engineFetch(runtime), timers: systemTimers };
  const stopWatching = watchEngines(agents, { ...watching, isAwaited: () => ports.holds.isHolding });
  process.on('SIGHUP', reloaderOf(config, ports, listeners.value.http));
  print(`listening http ${listeners.value.http.url}`);
  print(`listening metrics ${listeners.value.metrics.url}`);
  await shutdown.run(listeners.value, active);
  stopWatching();
  await endState();
  await endLogs(around);
  return 0;
}

/** What SIGHUP renews, each thing on its own. */
function reloaderOf(config: Config, ports: RouterPorts, api: Listener): () => void {
  // Agents first: aliases are judged against their models.
  const things = [
    ...authFileReload(config, ports),
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

async function exposeMetrics(metrics: Metrics): Promise<Response> {
  return new Response(await metrics.expose(), { headers: { 'content-type': metrics.contentType } });
}
