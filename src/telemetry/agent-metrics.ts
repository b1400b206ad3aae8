// What the router itself knows of each agent, under the Go router's names (routing.md §24). The values are read at each
// scrape, so that nothing is kept twice and an agent that is gone leaves no series behind.

import type { Registry } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';

/** Of an agent with several models the first names it, or there would be a series for each. */
export interface AgentLabels {
  readonly peer_id: string;
  readonly model: string;
  readonly engine: string;
  readonly organization: string;
  readonly machine: string;
}

/** Label set R of routing.md §24. */
interface RoutingLabels extends AgentLabels {
  readonly region: string;
  readonly capacity: number;
}

/** Undefined leaves a gauge without a series. */
interface AgentFigures {
  readonly isHealthy: boolean;
  /** Unix ms of its last good probe. */
  readonly lastSeenMs: number | undefined;
  readonly successes: number;
  readonly failures: number;
  readonly successRate: number | undefined;
  readonly load: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly srttMs: number | undefined;
  readonly rttvarMs: number | undefined;
  readonly disconnections: number;
  readonly agentFailures: number;
  readonly backendFailures: number;
}

export interface AgentSeries {
  readonly labels: RoutingLabels;
  readonly figures: AgentFigures;
}

interface Family {
  readonly help: string;
  readonly read: (figures: AgentFigures) => number | undefined;
}

/** Label set A of routing.md §24. */
export const AGENT_LABELS = [
  'peer_id',
  'model',
  'engine',
  'organization',
  'machine',
] as const satisfies readonly (keyof AgentLabels)[];

const ROUTING_LABELS = ['peer_id', 'region', 'engine', 'model', 'capacity', 'organization', 'machine'] as const;

const ROUTING_GAUGES: Readonly<Record<string, Family>> = {
  hivenet_routing_agent_info: { help: 'Always 1, for every agent that the router has', read: () => 1 },
  hivenet_routing_agent_healthy: {
    help: '1 while the agent is given requests, else 0',
    read: ({ isHealthy }) => (isHealthy ? 1 : 0),
  },
  hivenet_routing_agent_last_seen_timestamp: {
    help: 'Unix milliseconds of the last good probe',
    read: ({ lastSeenMs }) => lastSeenMs,
  },
};

const GAUGES: Readonly<Record<string, Family>> = {
  hivenet_agent_success_rate: {
    help: 'Share of tries that were answered, 0 to 1',
    read: ({ successRate }) => successRate,
  },
  hivenet_agent_capacity_utilization: { help: 'Share of the slots in use', read: ({ load }) => load },
  hivenet_agent_srtt_ms: { help: 'Smoothed time to the head of an answer', read: ({ srttMs }) => srttMs },
  hivenet_agent_rttvar_ms: { help: 'Smoothed deviation of that time', read: ({ rttvarMs }) => rttvarMs },
};

const COUNTERS: Readonly<Record<string, Family>> = {
  hivenet_agent_requests_success_total: {
    help: 'Tries that were answered to the end',
    read: ({ successes }) => successes,
  },
  hivenet_agent_requests_failed_total: { help: 'Tries that the engine failed', read: ({ failures }) => failures },
  hivenet_agent_input_tokens_total: {
    help: 'Prompt tokens, as the engine counted them',
    read: ({ inputTokens }) => inputTokens,
  },
  hivenet_agent_output_tokens_total: {
    help: 'Generated tokens, as the engine counted them',
    read: ({ outputTokens }) => outputTokens,
  },
  hivenet_agent_disconnections_total: {
    help: 'Times that a request could not connect to a healthy agent: nobody listening, no such host, no route',
    read: ({ disconnections }) => disconnections,
  },
  hivenet_agent_failure_total: {
    help: 'Times that the agent turned from healthy to unhealthy',
    read: ({ agentFailures }) => agentFailures,
  },
  hivenet_model_backend_failure_total: {
    help: 'Times that failed probes turned the agent unhealthy',
    read: ({ backendFailures }) => backendFailures,
  },
};

const FAMILIES = [
  [Gauge, ROUTING_LABELS, ROUTING_GAUGES],
  [Gauge, AGENT_LABELS, GAUGES],
  [Counter, AGENT_LABELS, COUNTERS],
] as const;

export function agentMetrics(registers: Registry[], series: () => readonly AgentSeries[]): void {
  for (const [Metric, labelNames, families] of FAMILIES) {
    for (const [name, { help, read }] of Object.entries(families)) {
      const collect = (): void => {
        metric.reset();
        for (const { labels, figures } of series()) {
          const value = read(figures);
          if (value !== undefined) metric.inc(picked(labels, labelNames), value);
        }
      };
      const metric = new Metric({ name, help, labelNames, registers, collect });
    }
  }
}

function picked(labels: RoutingLabels, names: readonly (keyof RoutingLabels)[]): Record<string, string | number> {
  return Object.fromEntries(names.map((name) => [name, labels[name]]));
}
