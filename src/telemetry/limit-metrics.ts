// Whom quotas and gates refused, and what the gates hold now (routing.md §24). Models are names that an agent here lists, or
// `other`.

import type { Registry } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import { Series } from './series.ts';
import { SeriesCounter } from './series-metrics.ts';
import { ANONYMOUS, UNSET } from './tenant-metrics.ts';

/** Gates by the names of the Go router, the requests per minute of a key among them. */
type RejectionReason = 'b1' | 'b2' | 'b3' | 'b4_occupancy' | 'b4_otpm' | 'b4_itpm' | 'b4_rpm';

/** Whose limit it was. */
interface Limited {
  readonly tenant: string;
  /** Empty where keys have no ID. */
  readonly keyId: string;
}

export interface LimitMetrics {
  refused(reason: RejectionReason, model: string): void;
  /** By the requests per minute. */
  rateLimited(limited: Limited): void;
  /** By the tokens of the day. */
  tokenLimited(limited: Limited): void;
}

/** What a model's running requests hold, and may at most; undefined: no limit. */
export interface HeldRoom {
  readonly model: string;
  readonly tokens: number;
  readonly requests: number;
  readonly tokensMax: number | undefined;
  readonly requestsMax: number | undefined;
}

export function limitMetrics(registers: Registry[], held: () => readonly HeldRoom[]): LimitMetrics {
  const rejections = new Counter({
    name: 'hivenet_admission_rejections_total',
    help: 'Requests that a gate of their model or a rate of their key refused',
    labelNames: ['reason', 'model'],
    registers,
  });
  const rateLimited = new Series(['tenant_id', 'key_id'], () => ({ count: 0 }));
  new SeriesCounter(
    {
      name: 'hivenet_tenant_rate_limited_total',
      help: 'Requests beyond the requests per minute of their owner',
      registers,
    },
    rateLimited,
    ({ count }) => count,
  );
  const tokenLimited = new Series(['tenant_id', 'key_id'], () => ({ count: 0 }));
  new SeriesCounter(
    {
      name: 'hivenet_tenant_token_limited_total',
      help: 'Requests beyond the tokens per day of their owner; always before they are dispatched',
      constant: { deployment_id: UNSET, phase: 'input' },
      registers,
    },
    tokenLimited,
    ({ count }) => count,
  );
  roomGauges(registers, held);
  return {
    refused: (reason, model) => rejections.labels(reason, model).inc(),
    rateLimited: ({ tenant, keyId }) => {
      rateLimited.of([tenant, keyId || ANONYMOUS]).count += 1;
    },
    tokenLimited: ({ tenant, keyId }) => {
      tokenLimited.of([tenant, keyId || ANONYMOUS]).count += 1;
    },
  };
}

/** Read at each scrape, so that a model without requests leaves no series behind. */
function roomGauges(registers: Registry[], held: () => readonly HeldRoom[]): void {
  const gauges = [
    ['hivenet_admission_occupancy_tokens', 'Tokens that admitted requests hold', 'tokens'],
    ['hivenet_admission_budget_tokens', 'Tokens that they may hold together', 'tokensMax'],
    ['hivenet_admission_inflight_requests', 'Requests that are admitted', 'requests'],
    ['hivenet_admission_max_inflight', 'Requests that may be admitted at once', 'requestsMax'],
  ] as const;
  for (const [name, help, figure] of gauges) {
    new Gauge({
      name,
      help,
      labelNames: ['model'],
      registers,
      collect() {
        this.reset();
        for (const room of held()) if (room[figure] !== undefined) this.labels(room.model).set(room[figure]);
      },
    });
  }
}
