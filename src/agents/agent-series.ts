// What the metrics show of the agents that the router has now: its own figures of each, and those of engines whose
// metrics are fresh.

import type { AgentLabels, AgentSeries } from '../telemetry/agent-metrics.ts';
import type { EngineSeries } from '../telemetry/engine-gauges.ts';
import type { Agent } from './agent.ts';

/** Older metrics are not shown: a frozen gauge looks like a calm engine (routing.md §30, 17). */
export const SHOWN_MAX_AGE_MS = 10_000;

/** What the Go router puts where nothing is configured (routing.md §3). */
export const UNKNOWN = 'Unknown';

export function agentSeries(agents: readonly Agent[]): readonly AgentSeries[] {
  return agents.map((agent) => {
    const { setting, record, state, lastSeenMs, load } = agent;
    const { successes, failures, successRate, inputTokens, outputTokens, srttMs, rttvarMs, losses } = record;
    return {
      labels: { ...labelsOf(agent), region: setting.region ?? UNKNOWN, capacity: setting.capacity },
      figures: {
        isHealthy: state === 'healthy',
        lastSeenMs,
        successes,
        failures,
        successRate,
        load,
        inputTokens,
        outputTokens,
        srttMs,
        rttvarMs,
        disconnections: losses.refused,
        agentFailures: losses.refused + losses.probes,
        backendFailures: losses.probes,
      },
    };
  });
}

export function engineSeries(agents: readonly Agent[], nowMs: number): readonly EngineSeries[] {
  return agents.flatMap((agent) => {
    const { metrics } = agent;
    if (metrics === undefined || nowMs - metrics.takenMs > SHOWN_MAX_AGE_MS) return [];
    return [{ labels: labelsOf(agent), figures: metrics.metrics }];
  });
}

function labelsOf({ setting, models }: Agent): AgentLabels {
  const { id, engine, organization = UNKNOWN, machine = UNKNOWN } = setting;
  return { peer_id: id, model: models[0] ?? '', engine, organization, machine };
}
