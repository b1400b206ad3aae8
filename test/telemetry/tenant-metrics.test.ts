import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import type { RequestRecord } from '../../src/telemetry/request-record.ts';
import { SERIES_MAX } from '../../src/telemetry/series.ts';
import { HISTOGRAMS_MAX, tenantMetrics } from '../../src/telemetry/tenant-metrics.ts';

const ROUTING = { region: 'eu', engine: 'vllm', model: 'm', tenant_id: 'acme' };
const SERIES = 'tenant_id="acme",key_id="k",deployment_id="d",model="m"';

function counting() {
  const registry = new Registry();
  const count = tenantMetrics([registry]);
  const lines = async (name: string) =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith(`hivenet_tenant_${name}`));
  const ended = (change: Partial<RequestRecord> = {}, seconds = 3) => {
    const record = { routing: ROUTING, keyId: 'k', deploymentId: 'd', status: 200, arrivedMs: 5_999, ...change };
    count(record as RequestRecord, seconds);
  };
  return { ended, lines };
}

describe('tenantMetrics()', () => {
  it('counts answers, failures and tokens by owner, key, deployment and model (routing.md §24)', async () => {
    const { ended, lines } = counting();
    ended({ inputTokens: 5, outputTokens: 7 });
    ended({ status: 502, errorCode: 'backend_error' });
    ended({ status: 429, errorCode: 'rate_limit_exceeded' });
    ended({ status: 499, errorCode: 'client_gone', inputTokens: 5, outputTokens: 1 });
    assert.deepEqual(await lines('requests_success_total'), [`hivenet_tenant_requests_success_total{${SERIES}} 1`]);
    assert.deepEqual(await lines('requests_failed_total'), [`hivenet_tenant_requests_failed_total{${SERIES}} 1`]);
    assert.deepEqual(await lines('input_tokens_total'), [`hivenet_tenant_input_tokens_total{${SERIES}} 10`]);
    assert.deepEqual(await lines('output_tokens_total'), [`hivenet_tenant_output_tokens_total{${SERIES}} 8`]);
    const key = 'tenant_id="acme",key_id="k",deployment_id="d"';
    assert.deepEqual(await lines('last_request_timestamp'), [`hivenet_tenant_last_request_timestamp{${key}} 5`]);
  });

  it('counts nothing of what this site was not to serve', async () => {
    const { ended, lines } = counting();
    ended({ routing: undefined, status: 307 });
    assert.deepEqual(await lines(''), []);
  });

  it('has tokens of every request, also none, and answers and failures from the first on', async () => {
    const { ended, lines } = counting();
    ended({ status: 429, errorCode: 'rate_limit_exceeded' });
    assert.deepEqual(await lines('requests_'), []);
    assert.deepEqual(await lines('input_tokens_total'), [`hivenet_tenant_input_tokens_total{${SERIES}} 0`]);
    assert.deepEqual(await lines('output_tokens_total'), [`hivenet_tenant_output_tokens_total{${SERIES}} 0`]);
  });

  it('names keys without an ID, and agents that were not chosen', async () => {
    const { ended, lines } = counting();
    ended({ keyId: '', deploymentId: undefined });
    const series = 'tenant_id="acme",key_id="anonymous",deployment_id="unset",model="m"';
    assert.deepEqual(await lines('requests_success_total'), [`hivenet_tenant_requests_success_total{${series}} 1`]);
  });

  it('measures the time to the end, of a stream to its first byte, of answers that came to their end', async () => {
    const { ended, lines } = counting();
    ended({ firstByteMs: 40 });
    ended({ streaming: true, firstByteMs: 500 });
    ended({ status: 502, errorCode: 'backend_error' });
    const [sum, count] = (await lines('request_duration_seconds_')).slice(-2);
    assert.deepEqual([sum?.endsWith(' 3.5'), count?.endsWith(' 2')], [true, true]);
  });

  it('has a bound on its series, and counts all beyond as one', async () => {
    const { ended, lines } = counting();
    for (let index = 0; index < SERIES_MAX + 2; index += 1) ended({ keyId: `k${index}` });
    const all = await lines('requests_success_total');
    assert.equal(all.length, SERIES_MAX + 1);
    assert.ok(all.at(-1)?.endsWith('{tenant_id="other",key_id="other",deployment_id="other",model="other"} 2'));
    assert.equal((await lines('request_duration_seconds_count')).length, HISTOGRAMS_MAX + 1);
    assert.equal((await lines('last_request_timestamp')).length, SERIES_MAX + 1);
  });
});
