// The engine's figures under vLLM's names, so that routers and dashboards read this engine as they read that one.

import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';

/** How a request ended, in vLLM's words; `abort` is a client that left. */
const FINISHED_REASONS = ['stop', 'length', 'abort'] as const;

export type FinishedReason = (typeof FINISHED_REASONS)[number];

export interface EngineMetrics {
  requestStarted(): void;
  requestEnded(reason: FinishedReason): void;
  promptRead(tokens: number): void;
  firstToken(seconds: number): void;
  nextToken(seconds: number): void;
  tokenGenerated(): void;
  /** Adds to, or with a negative number takes from, the tokens that running requests keep in memory. */
  tokensKept(change: number): void;
  /** Prometheus text format. */
  expose(): Promise<string>;
  readonly contentType: string;
}

/** Tokens that fill the pretended KV cache: 16 requests of 4096. */
const KV_CACHE_TOKENS = 65_536;

const TTFT_BUCKETS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80];
const ITL_BUCKETS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80];

/** One series a name, labelled with the first model, as vLLM labels an engine that serves one model under many names. */
export function createEngineMetrics(model: string): EngineMetrics {
  const registry = new Registry();
  registry.setDefaultLabels({ model_name: model });
  const load = createLoad(registry);
  const latency = createLatency(registry);
  const totals = createTotals(registry);
  let kept = 0;
  return {
    requestStarted: () => load.running.inc(),
    requestEnded: (reason) => {
      load.running.dec();
      totals.finished.inc({ finished_reason: reason });
    },
    promptRead: (tokens) => totals.prompt.inc(tokens),
    firstToken: (seconds) => latency.ttft.observe(seconds),
    nextToken: (seconds) => latency.itl.observe(seconds),
    tokenGenerated: () => totals.generation.inc(),
    tokensKept: (change) => {
      kept += change;
      load.cache.set(Math.min(1, kept / KV_CACHE_TOKENS));
    },
    expose: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function createLoad(registry: Registry) {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
  // Every request runs at once, so none ever waits; the series is there because readers look for it.
  gauge('vllm:num_requests_waiting', 'Requests waiting to be processed');
  return {
    running: gauge('vllm:num_requests_running', 'Requests being answered'),
    cache: gauge('vllm:kv_cache_usage_perc', 'Share of the KV cache in use, 0 to 1'),
  };
}

function createLatency(registry: Registry) {
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name, help, buckets, registers: [registry] });
  return {
    ttft: histogram('vllm:time_to_first_token_seconds', 'Time to first token', TTFT_BUCKETS),
    itl: histogram('vllm:inter_token_latency_seconds', 'Time between two tokens', ITL_BUCKETS),
  };
}

function createTotals(registry: Registry) {
  const counter = (name: string, help: string) => new Counter({ name, help, registers: [registry] });
  const finished = new Counter({
    name: 'vllm:request_success_total',
    help: 'Requests that ended, by reason',
    labelNames: ['finished_reason'],
    registers: [registry],
  });
  for (const reason of FINISHED_REASONS) finished.inc({ finished_reason: reason }, 0);
  return {
    finished,
    prompt: counter('vllm:prompt_tokens_total', 'Prompt tokens read'),
    generation: counter('vllm:generation_tokens_total', 'Tokens generated'),
  };
}
