// What each owner's keys asked of this site, and got (routing.md §24). Each request counts once, where its record ends; one
// that was redirected, or that no agent here could serve, is no request of this site's.

import type { Registry } from 'prom-client';
import Gauge from 'prom-client/lib/gauge.js';
import type { RequestRecord } from './request-record.ts';
import { outcomeOf } from './routing-metrics.ts';
import { Series } from './series.ts';
import { SeriesCounter, SeriesHistogram } from './series-metrics.ts';

const LABELS = ['tenant_id', 'key_id', 'deployment_id', 'model'] as const;
const KEY_LABELS = ['tenant_id', 'key_id', 'deployment_id'] as const;

/** Label sets of the histogram, which has twelve series for each. */
export const HISTOGRAMS_MAX = 1_000;

const BUCKETS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];

/** What stands for a key without an ID, and for an agent of which none was chosen. */
export const ANONYMOUS = 'anonymous';
export const UNSET = 'unset';

/** Takes each ended record, and the seconds that it took. */
export function tenantMetrics(registers: Registry[]): (record: RequestRecord, seconds: number) => void {
  const requests = new Series(LABELS, () => ({ routed: 0, failed: 0, inputTokens: 0, outputTokens: 0 }));
  countRequests(registers, requests);
  const keys = new Series(KEY_LABELS, () => ({ lastRequest: 0 }));
  new Gauge({
    name: 'hivenet_tenant_last_request_timestamp',
    help: 'When the last request came, Unix seconds',
    labelNames: KEY_LABELS,
    registers,
    collect() {
      for (const { labels, figures } of keys.entries) this.set(labels, figures.lastRequest);
    },
  });
  const durations = new SeriesHistogram(
    {
      name: 'hivenet_tenant_request_duration_seconds',
      help: 'Time to the end of an answer, or to the first byte of a stream; of answers that came to their end',
      buckets: BUCKETS,
      registers,
    },
    LABELS,
    HISTOGRAMS_MAX,
  );
  return (record, seconds) => {
    const { routing, keyId, deploymentId = UNSET } = record;
    if (routing === undefined) return;
    const { tenant_id: tenant, model } = routing;
    keys.of([tenant, keyId || ANONYMOUS, deploymentId]).lastRequest = Math.floor(record.arrivedMs / 1_000);
    const labels = [tenant, keyId || ANONYMOUS, deploymentId, model] as const;
    const figures = requests.of(labels);
    figures.inputTokens += record.inputTokens ?? 0;
    figures.outputTokens += record.outputTokens ?? 0;
    const outcome = outcomeOf(record);
    if (outcome !== 'neither') figures[outcome] += 1;
    if (outcome !== 'routed') return;
    durations.of(labels).observe(record.streaming ? (record.firstByteMs ?? 0) / 1_000 : seconds);
  };
}

interface RequestFigures {
  routed: number;
  failed: number;
  inputTokens: number;
  outputTokens: number;
}

function countRequests(registers: Registry[], series: Series<typeof LABELS, RequestFigures>): void {
  const counter = (name: string, help: string, read: (figures: RequestFigures) => number | undefined) =>
    new SeriesCounter({ name, help, registers }, series, read);
  counter('hivenet_tenant_requests_success_total', 'Requests answered to the end', ({ routed }) => routed || undefined);
  counter(
    'hivenet_tenant_requests_failed_total',
    'Requests that got no answer, or a broken one',
    ({ failed }) => failed || undefined,
  );
  counter(
    'hivenet_tenant_input_tokens_total',
    'Tokens of prompts: as engines told them, of cut answers as charged',
    ({ inputTokens }) => inputTokens,
  );
  counter(
    'hivenet_tenant_output_tokens_total',
    'Tokens of answers: as engines told them, of cut ones as charged',
    ({ outputTokens }) => outputTokens,
  );
}
