// The dispatch of `serve`: which policies, queue and limits a request is brought to its agent with, and who is told.

import { createEngineFetch, type EngineFetch } from '../agents/engine-fetch.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import { systemTimers } from '../agents/timers.ts';
import type { Config } from '../config/config.ts';
import type { DispatchPorts } from '../dispatch/dispatch.ts';
import { LivesUnderWay } from '../dispatch/lives-under-way.ts';
import { modelLabel } from '../dispatch/model-label.ts';
import type { Answerer } from '../dispatch/outcome.ts';
import type { ProviderAccount } from '../dispatch/providers/provider.ts';
import { SeatQueue } from '../dispatch/queue.ts';
import { errorText } from '../http/respond.ts';
import { PROVIDERS, type Provider } from '../policy/policy.ts';
import type { PolicyStore } from '../policy/store.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export function engineFetch(runtime: Runtime) {
  return createEngineFetch((url, init) => fetch(url, init), runtime.engineFetchInit);
}

export function seatQueue(config: Config, registry: AgentRegistry, metrics: Metrics): SeatQueue {
  const { queueDepth: depth } = config.dispatch;
  return new SeatQueue({ registry, timers: systemTimers, depth, onWaited: metrics.queueWaited });
}

export interface DispatchParts {
  readonly agents: AgentRegistry;
  readonly policies: PolicyStore;
  readonly queue: SeatQueue;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Aborted when the grace of a shutdown is over. */
  readonly graceOver: AbortSignal;
}

export function dispatchPorts(
  fetch: EngineFetch,
  { timeouts, providers }: Config,
  { agents, policies, queue, metrics, log, graceOver }: DispatchParts,
): DispatchPorts {
  return {
    registry: agents,
    policies,
    queue,
    fetch,
    timers: systemTimers,
    requestTimeoutMs: timeouts.requestMs,
    streamIdleTimeoutMs: timeouts.streamIdleMs,
    streamMaxDurationMs: timeouts.streamMaxMs,
    lives: new LivesUnderWay(graceOver),
    errorBody: errorText,
    accounts: accountsIn(providers),
    nowMs: Date.now,
    onFailedTry: (by: Answerer, requestId: string, reason: string) =>
      typeof by === 'string'
        ? log.warn('Provider gave no usable answer', { provider: by, request_id: requestId, reason })
        : log.warn('Engine gave no usable answer', { agent_id: by.setting.id, request_id: requestId, reason }),
    onRouted: metrics.policy.routed,
    onNoAgent: (model: string, requestId: string, findings: string) =>
      log.warn('No agent for a request', { model, request_id: requestId, findings }),
    onProviderHead: metrics.providerAsked,
    onProviderUsed: (model: string) => metrics.policy.providerUsed(modelLabel(model, agents, policies)),
    onExhausted: (model: string) => metrics.policy.exhausted(modelLabel(model, agents, policies)),
  };
}

/** Of every provider of which there is a key. */
function accountsIn(providers: Config['providers']): ReadonlyMap<Provider, ProviderAccount> {
  const accounts = new Map<Provider, ProviderAccount>();
  for (const dialect of PROVIDERS) {
    const provider = providers[dialect];
    if (provider !== undefined) accounts.set(dialect, { dialect, ...provider });
  }
  return accounts;
}
