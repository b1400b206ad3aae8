// The dispatch of `serve`: which policies, queue and limits a request is brought to its agent with, and who is told.

import type { Agent } from '../agents/agent.ts';
import { createEngineFetch, type EngineFetch } from '../agents/engine-fetch.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import { systemTimers } from '../agents/timers.ts';
import type { Config } from '../config/config.ts';
import type { DispatchPorts } from '../dispatch/dispatch.ts';
import { SeatQueue } from '../dispatch/queue.ts';
import { errorText } from '../http/respond.ts';
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
  { timeouts }: Config,
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
    shutdown: graceOver,
    errorBody: errorText,
    onFailedTry: (agent: Agent, requestId: string, reason: string) =>
      log.warn('Engine gave no usable answer', { agent_id: agent.setting.id, request_id: requestId, reason }),
    onRouted: metrics.policy.routed,
    onExhausted: (model: string, requestId: string, findings: string) => {
      metrics.policy.exhausted(model);
      log.warn('No agent for a request', { model, request_id: requestId, findings });
    },
  };
}
