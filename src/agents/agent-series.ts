// What the metrics show of the agents that the router has now: its own figures of each, and those of engines whose
// metrics are fresh.

import type { AgentLabels, AgentSeries } from '../telemetry/agent-metrics.ts';
import type { EngineSeries } from '../telemetry/engine-gauges.ts';
import type { Agent } from './agent.ts';

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
        agentFailures: record.timesLost,
        backendFailures: losses.probes,
      },
    };
  });
}

export function engineSeries(agents: readonly Agent[], nowMs: number): readonly EngineSeries[] {
  return agents.flatMap((agent) => {
    const figures = agent.shownMetrics(nowMs);
    return figures === undefined ? [] : [{ labels: labelsOf(agent), figures }];
  });
}

function labelsOf({ setting, models }: Agent): AgentLabels {
  const { id, engine, organization = UNKNOWN, machine = UNKNOWN } = setting;
  return { peer_id: id, model: models[0] ?? '', engine, organization, machine };
}
