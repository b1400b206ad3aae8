// The one place where the rooms are wired together: settings → stores → dispatch → the ports of the application.

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
import { DailyBudgets } from '../quota/daily-budget.ts';
import { AliasStore } from '../routing/alias-store.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Log } from '../telemetry/log.ts';
import { createMetrics, type MetricSources } from '../telemetry/metrics.ts';
import { RegistrationStream } from '../telemetry/registration-stream.ts';
import type { LineWriter } from './line-writer.ts';
import { Shutdown } from './shutdown.ts';
import { agentSources, createAgents } from './wire-agents.ts';
import { clientAuth } from './wire-auth.ts';
import { dispatchPorts, engineFetch, seatQueue } from './wire-dispatch.ts';
import { holdQueue } from './wire-hold.ts';
import { heldRooms, limitPorts } from './wire-limits.ts';
import { redirectGauges, redirectSite } from './wire-redirect.ts';
import type { ForgetfulPorts } from './wire-state.ts';

/** Where the router runs, and what it writes to. */
export interface Surroundings {
  readonly version: string;
  readonly stdout: LineWriter;
  readonly stderr: LineWriter;
  readonly log: Log;
}

export interface Router {
  readonly ports: ForgetfulPorts;
  readonly shutdown: Shutdown;
  /** Where daily use is counted. */
  readonly tokens: DailyBudgets;
}

const MACHINE = {
  nowMs: Date.now,
  monotonicMs: systemTimers.monotonicMs,
  // As strong as `randomBytes`, which takes five times as long on Bun.
  random: (size: number) => crypto.getRandomValues(new Uint8Array(size)),
};

/** Nothing of it runs yet: nobody listens, no engine is probed, and nothing is restored. */
export function createRouter(runtime: Runtime, config: Config, around: Surroundings): Router {
  const { version, stdout, stderr, log } = around;
  const shutdown = new Shutdown(config.shutdown, systemTimers, log);
  const registrations = registrationStream(shutdown);
  const active = new ActiveRequests();
  const redirect = redirectSite(config);
  const bodies = bodyPorts(config);
  const agents = createAgents(config.agents, { log, registrations, onHealthy: () => noteHealthy(ports) });
  const sources: MetricSources = {
    ...agentSources(agents, systemTimers),
    redirect: redirectGauges(redirect),
    activeRequests: () => active.count,
    bodyBytes: () => bodies.bodies.budget.bytes + bodies.adminBodies.budget.bytes,
    droppedLogLines: () => stdout.dropped + stderr.dropped,
    // Queue and metrics need each other, but the queue only once a scrape asks for it.
    queueDepths: () => queue.depths(),
    heldRooms: () => heldRooms(limits, agents, policies),
    held: () => holds.counts(),
  };
  const metrics = createMetrics(sources, version);
  const queue = seatQueue(config, agents, metrics);
  const tokens = new DailyBudgets();
  const limits = limitPorts(config, tokens, shutdown.graceOver);
  const policies = new PolicyStore(config.policies.loaded, config.dispatch.maxTries);
  const parts = { agents, policies, queue, metrics, log, graceOver: shutdown.graceOver };
  const dispatching = dispatchPorts(engineFetch(runtime), config, parts);
  const holds = holdQueue(config, { ...parts, redirect, dispatching, registrations, stopping: shutdown.stopping });
  const ports: ForgetfulPorts = {
    version,
    auth: clientAuth(config.auth),
    admin: config.admin,
    redirect,
    agents,
    registrations,
    aliases: new AliasStore(config.modelAliases.table),
    policies,
    providers: config.policies.keyed,
    ...limits,
    limitWrites: new PushQueue(),
    queueDepths: () => queue.depths(),
    dispatch: (request) => dispatch(request, dispatching),
    holds,
    maxRequestBytes: config.http.maxRequestBytes,
    stalls: { timeoutMs: config.timeouts.streamIdleMs, timers: systemTimers },
    ...bodies,
    active,
    turns: new Turns(systemTimers.monotonicMs),
    metrics,
    log,
    writeAccessLine: (line) => stdout.write(line),
    isStopping: () => shutdown.isStopping,
    ...MACHINE,
  };
  return { ports, shutdown, tokens };
}

/** How bodies are read, those of requests and those of the admins on budgets of their own. */
function bodyPorts({ http, timeouts }: Config): Pick<RouterPorts, 'bodies' | 'adminBodies'> {
  const reading = { timeoutMs: timeouts.bodyMs, timers: systemTimers };
  return {
    bodies: { ...reading, budget: new BodyBudget(http.bodyMemoryBytes) },
    adminBodies: { ...reading, budget: new BodyBudget(ADMIN_BODY_MEMORY_BYTES) },
  };
}

function registrationStream({ stopping }: Shutdown): RegistrationStream {
  const registrations = new RegistrationStream();
  stopping.addEventListener('abort', () => registrations.close());
  return registrations;
}

/** An agent turned healthy: it may bring a model's name, and room. */
function noteHealthy(ports: ForgetfulPorts): void {
  warnOfHiddenAliases(ports);
  ports.gates.occupancy.roomMayHaveGrown();
}
