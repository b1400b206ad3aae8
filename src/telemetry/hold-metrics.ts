// How many requests wait for their model to wake, what became of those that did, and whether whoever should wake it can
// be told. Models are names that the map places here; still they are bounded, for maps may come and go for years.

import type { Registry } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';

/** How a hold ends (decisions.md, "Hold at zero"). `full`: it never began. */
export const HOLD_OUTCOMES = [
  'served',
  'timeout',
  'client_gone',
  'full',
  'redirected',
  'revoked',
  'shutdown',
  'unplaced',
] as const;

export type HoldOutcome = (typeof HOLD_OUTCOMES)[number];

export interface HeldCount {
  readonly model: string;
  /** Requests that are held now. */
  readonly held: number;
}

export interface HoldMetrics {
  /** `seconds`: since its start; 0 for `full`, which is not observed as a wait. */
  ended(model: string, outcome: HoldOutcome, seconds: number): void;
  /** A call to wake a model failed. */
  webhookFailed(): void;
}

/** Models with series of their own; what comes beyond is counted as `other`. */
export const MODELS_MAX = 1_000;

/** To the longest budget there is, 1h. */
const SECONDS_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 3_600];

/** The gauge is read at each scrape. */
export function holdMetrics(registers: Registry[], counts: () => readonly HeldCount[]): HoldMetrics {
  const known = new Set<string>();
  const total = new Counter({
    name: 'hivenet_hold_total',
    help: 'Holds that ended, by how',
    labelNames: ['model', 'outcome'],
    registers,
  });
  const labelOf = (model: string): string => {
    if (known.has(model)) return model;
    if (known.size >= MODELS_MAX) return 'other';
    known.add(model);
    // Present as 0 from its first hold on, so that the first end of a kind shows as an increase.
    for (const outcome of HOLD_OUTCOMES) total.labels(model, outcome).inc(0);
    return model;
  };
  gaugeOfHeld(registers, () => counts().map(({ model, held }) => ({ model: labelOf(model), held })), known);
  const seconds = new Histogram({
    name: 'hivenet_hold_seconds',
    help: 'Time for which requests were held, however it ended',
    buckets: SECONDS_BUCKETS,
    registers,
  });
  const failures = new Counter({
    name: 'hivenet_wake_webhook_failures_total',
    help: 'Calls of --wake-webhook-url that failed',
    registers,
  });
  return {
    ended: (model, outcome, heldSeconds) => {
      total.labels(labelOf(model), outcome).inc();
      if (outcome !== 'full') seconds.observe(heldSeconds);
    },
    webhookFailed: () => failures.inc(),
  };
}

/** A model that was held once stays, at 0: who watches it wants to see it come down. */
function gaugeOfHeld(registers: Registry[], counts: () => readonly HeldCount[], known: ReadonlySet<string>): void {
  new Gauge({
    name: 'hivenet_hold_requests',
    help: 'Requests that are held until their model wakes',
    labelNames: ['model'],
    registers,
    collect() {
      this.reset();
      const held = counts();
      for (const model of known) this.labels(model).set(0);
      for (const count of held) this.labels(count.model).inc(count.held);
    },
  });
}
