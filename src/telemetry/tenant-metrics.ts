// What each owner's keys asked of this site, and got (routing.md §24). Each request counts once, where its record ends; one
// that was redirected, or that no agent here could serve, is no request of this site's.

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { boundedLabels } from './bounded-labels.ts';
import type { RequestRecord } from './request-record.ts';
import { outcomeOf } from './routing-metrics.ts';

const LABELS = ['tenant_id', 'key_id', 'deployment_id', 'model'] as const;
const KEY_LABELS = ['tenant_id', 'key_id', 'deployment_id'] as const;

/** Label sets of the histogram, which has twelve series for each. */
export const HISTOGRAMS_MAX = 1_000;

const BUCKETS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];

/** What stands for a key without an ID, and for an agent of which none was chosen. */
export const ANONYMOUS = 'anonymous';
export const UNSET = 'unset';

type TenantLabels = Readonly<Record<(typeof LABELS)[number], string>>;

/** Takes each ended record, and the seconds that it took. */
export function tenantMetrics(registers: Registry[]): (record: RequestRecord, seconds: number) => void {
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames: LABELS, registers });
  const succeeded = counter('hivenet_tenant_requests_success_total', 'Requests answered to the end');
  const failed = counter('hivenet_tenant_requests_failed_total', 'Requests that got no answer, or a broken one');
  const input = counter(
    'hivenet_tenant_input_tokens_total',
    'Tokens of prompts: as engines told them, of cut answers as charged',
  );
  const output = counter(
    'hivenet_tenant_output_tokens_total',
    'Tokens of answers: as engines told them, of cut ones as charged',
  );
  const lastRequest = new Gauge({
    name: 'hivenet_tenant_last_request_timestamp',
    help: 'When the last request came, Unix seconds',
    labelNames: KEY_LABELS,
    registers,
  });
  const duration = new Histogram({
    name: 'hivenet_tenant_request_duration_seconds',
    help: 'Time to the end of an answer, or to the first byte of a stream; of answers that came to their end',
    labelNames: LABELS,
    buckets: BUCKETS,
    registers,
  });
  const [bounded, boundedKeys] = [boundedLabels(LABELS), boundedLabels(KEY_LABELS)];
  const boundedDurations = boundedLabels(LABELS, HISTOGRAMS_MAX);
  return (record, seconds) => {
    const labels = labelsOf(record);
    if (labels === undefined) return;
    const { model: _model, ...keyLabels } = labels;
    lastRequest.set(boundedKeys(keyLabels), Math.floor(record.arrivedMs / 1_000));
    input.inc(bounded(labels), record.inputTokens ?? 0);
    output.inc(bounded(labels), record.outputTokens ?? 0);
    const outcome = outcomeOf(record);
    if (outcome === 'failed') failed.inc(bounded(labels));
    if (outcome !== 'routed') return;
    succeeded.inc(bounded(labels));
    duration.observe(boundedDurations(labels), record.streaming ? (record.firstByteMs ?? 0) / 1_000 : seconds);
  };
}

function labelsOf({ routing, keyId, deploymentId }: RequestRecord): TenantLabels | undefined {
  if (routing === undefined) return undefined;
  return {
    tenant_id: routing.tenant_id,
    key_id: keyId || ANONYMOUS,
    deployment_id: deploymentId ?? UNSET,
    model: routing.model,
  };
}
