// What engines tell of themselves, under the Go router's names (routing.md §24). The values are read at each scrape, so
// that an agent that is gone, or an engine that has fallen silent, leaves no series behind.

import type { Registry } from 'prom-client';
import Gauge from 'prom-client/lib/gauge.js';
import { AGENT_LABELS, type AgentLabels } from './agent-metrics.ts';

/** What one engine told; undefined leaves the gauge without a series. */
export interface EngineFigures {
  readonly kvCacheUse: number | undefined;
  readonly runningRequests: number | undefined;
  readonly waitingRequests: number | undefined;
  readonly preemptionsTotal: number | undefined;
  readonly generatedTokensPerSecond: number | undefined;
  readonly promptTokensPerSecond: number | undefined;
  readonly ttftMs: number | undefined;
  readonly ttftP90Ms: number | undefined;
  readonly itlMs: number | undefined;
  readonly itlP90Ms: number | undefined;
}

export interface EngineSeries {
  readonly labels: AgentLabels;
  readonly figures: EngineFigures;
}

/** Behind `hivenet_agent_engine_`, in the order in which they are exposed. */
const GAUGES = {
  kv_cache_utilization: { help: 'Share of the KV cache in use, 0 to 1', read: ({ kvCacheUse }) => kvCacheUse },
  running_requests: { help: 'Requests that the engine works on', read: ({ runningRequests }) => runningRequests },
  waiting_requests: { help: 'Requests that wait inside the engine', read: ({ waitingRequests }) => waitingRequests },
  preemptions_total: {
    help: 'Requests that lost their KV cache since the engine started',
    read: ({ preemptionsTotal }) => preemptionsTotal,
  },
  avg_ttft_seconds: {
    help: 'Mean time to first token of the last half minute',
    read: ({ ttftMs }) => seconds(ttftMs),
  },
  p90_ttft_seconds: {
    help: '90th percentile of the time to first token of the last half minute',
    read: ({ ttftP90Ms }) => seconds(ttftP90Ms),
  },
  avg_itl_seconds: {
    help: 'Mean time between two tokens of the last half minute',
    read: ({ itlMs }) => seconds(itlMs),
  },
  p90_itl_seconds: {
    help: '90th percentile of the time between two tokens of the last half minute',
    read: ({ itlP90Ms }) => seconds(itlP90Ms),
  },
  predicted_tps: {
    help: 'Tokens generated a second, as the engine measures it',
    read: ({ generatedTokensPerSecond }) => generatedTokensPerSecond,
  },
  prompt_tps: {
    help: 'Prompt tokens read a second, as the engine measures it',
    read: ({ promptTokensPerSecond }) => promptTokensPerSecond,
  },
} as const satisfies Record<string, { help: string; read: (figures: EngineFigures) => number | undefined }>;

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

export function engineGauges(registers: Registry[], series: () => readonly EngineSeries[]): void {
  for (const [name, { help, read }] of Object.entries(GAUGES)) {
    new Gauge({
      name: `hivenet_agent_engine_${name}`,
      help,
      labelNames: AGENT_LABELS,
      registers,
      collect() {
        this.reset();
        for (const { labels, figures } of series()) {
          const value = read(figures);
          if (value !== undefined) this.set({ ...labels }, value);
        }
      },
    });
  }
}
