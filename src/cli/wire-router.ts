// The one place where the rooms are wired together: settings → stores → dispatch → the ports of the application.

import { randomBytes } from 'node:crypto';
import { systemTimers } from '../agents/timers.ts';
import type { Config } from '../config/config.ts';
import { dispatch } from '../dispatch/dispatch.ts';
import { ActiveRequests } from '../http/active-requests.ts';
import { ADMIN_BODY_MEMORY_BYTES } from '../http/admin/admin-body.ts';
import { PushQueue } from '../http/admin/push-queue.ts';
import { BodyBudget } from '../http/body-budget.ts';
import { warnOfHiddenAliases } from '../http/model-aliases.ts';
import type { RouterPorts } from '../http/router-ports.ts';
import { Turns } from '../http/turns.ts';
import { PolicyStore } from '../policy/store.ts';
import { AliasStore } from '../routing/alias-store.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Log } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { RegistrationStream } from '../telemetry/registration-stream.ts';
import type { LineWriter } from './line-writer.ts';
import { Shutdown } from './shutdown.ts';
import { agentSources, createAgents } from './wire-agents.ts';
import { clientAuth } from './wire-auth.ts';
import { dispatchPorts, engineFetch, seatQueue } from './wire-dispatch.ts';
import { redirectGauges, redirectSite } from './wire-redirect.ts';

/** Where the router runs, and what it writes to. */
export interface Surroundings {
  readonly version: string;
  readonly stdout: LineWriter;
  readonly stderr: LineWriter;
  readonly log: Log;
}

export interface Router {
  readonly ports: RouterPorts;
  readonly shutdown: Shutdown;
}

/** Nothing of it runs yet: nobody listens, and no engine is probed. */
export function createRouter(runtime: Runtime, config: Config, around: Surroundings): Router {
  const { version, stdout, stderr, log } = around;
  const shutdown = new Shutdown(config.shutdown, systemTimers, log);
  const registrations = new RegistrationStream();
  shutdown.stopping.addEventListener('abort', () => registrations.close());
  const active = new ActiveRequests();
  const redirect = redirectSite(config);
  const inference = new BodyBudget(config.http.bodyMemoryBytes);
  const admin = new BodyBudget(ADMIN_BODY_MEMORY_BYTES);
  const agents = createAgents(config.agents, { log, registrations, onHealthy: () => warnOfHiddenAliases(ports) });
  const metrics = createMetrics(
    {
      ...agentSources(agents, systemTimers),
      redirect: redirectGauges(redirect),
      activeRequests: () => active.count,
      bodyBytes: () => inference.bytes + admin.bytes,
      droppedLogLines: () => stdout.dropped + stderr.dropped,
      // Queue and metrics need each other, but the queue only once a scrape asks for it.
      queueDepths: () => queue.depths(),
    },
    version,
  );
  const queue = seatQueue(config, agents, metrics);
  const policies = new PolicyStore(config.policies.loaded, config.dispatch.maxTries);
  const parts = { agents, policies, queue, metrics, log, graceOver: shutdown.graceOver };
  const dispatching = dispatchPorts(engineFetch(runtime), config, parts);
  const bodies = { timeoutMs: config.timeouts.bodyMs, timers: systemTimers };
  const ports: RouterPorts = {
    version,
    auth: clientAuth(config.auth),
    admin: config.admin,
    redirect,
    agents,
    registrations,
    aliases: new AliasStore(config.modelAliases.table),
    policies,
    providers: config.policies.keyed,
    limitWrites: new PushQueue(),
    queueDepths: () => queue.depths(),
    dispatch: (request) => dispatch(request, dispatching),
    maxRequestBytes: config.http.maxRequestBytes,
    bodies: { ...bodies, budget: inference },
    stalls: { timeoutMs: config.timeouts.streamIdleMs, timers: systemTimers },
    adminBodies: { ...bodies, budget: admin },
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
  return { ports, shutdown };
}
