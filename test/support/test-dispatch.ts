// What a test router's dispatch asks for: the engine function, timers, and the metrics as the binary wires them.

import type { EngineFetch } from '../../src/agents/engine-fetch.ts';
import type { AgentRegistry } from '../../src/agents/registry.ts';
import type { Timers } from '../../src/agents/timers.ts';
import type { DispatchPorts } from '../../src/dispatch/dispatch.ts';
import { LivesUnderWay } from '../../src/dispatch/lives-under-way.ts';
import { modelLabel } from '../../src/dispatch/model-label.ts';
import type { ProviderAccount } from '../../src/dispatch/providers/provider.ts';
import type { SeatQueue } from '../../src/dispatch/queue.ts';
import { errorText } from '../../src/http/respond.ts';
import type { PolicyStore } from '../../src/policy/store.ts';
import type { Metrics } from '../../src/telemetry/metrics.ts';

interface DispatchParts {
  readonly agents: AgentRegistry;
  readonly policies: PolicyStore;
  readonly queue: SeatQueue;
  readonly metrics: Metrics;
  readonly engine: EngineFetch;
  readonly nowMs: () => number;
  readonly timers: Timers;
}

export function testDispatchPorts(
  accounts: readonly ProviderAccount[],
  { agents, policies, queue, metrics, engine, nowMs, timers }: DispatchParts,
): DispatchPorts {
  return {
    registry: agents,
    policies,
    queue,
    fetch: engine,
    timers,
    requestTimeoutMs: 60_000,
    streamIdleTimeoutMs: 60_000,
    streamMaxDurationMs: undefined,
    lives: new LivesUnderWay(new AbortController().signal),
    errorBody: errorText,
    accounts: new Map(accounts.map((account) => [account.dialect, account])),
    nowMs,
    onFailedTry: () => undefined,
    onRouted: metrics.policy.routed,
    onNoAgent: () => undefined,
    onProviderHead: metrics.providerAsked,
    onProviderUsed: (model) => metrics.policy.providerUsed(modelLabel(model, agents, policies)),
    onExhausted: (model) => metrics.policy.exhausted(modelLabel(model, agents, policies)),
  };
}
