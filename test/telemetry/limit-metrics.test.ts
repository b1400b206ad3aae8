import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { limitMetrics } from '../../src/telemetry/limit-metrics.ts';

describe('limitMetrics()', () => {
  it('names the owner and the key of those beyond their limits, and a key without an ID', async () => {
    const registry = new Registry();
    const metrics = limitMetrics([registry], () => []);
    for (const keyId of ['k', '']) {
      metrics.rateLimited({ tenant: 'acme', keyId });
      metrics.tokenLimited({ tenant: 'acme', keyId });
    }
    const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('hivenet_tenant_'));
    assert.deepEqual(lines, [
      'hivenet_tenant_rate_limited_total{tenant_id="acme",key_id="k"} 1',
      'hivenet_tenant_rate_limited_total{tenant_id="acme",key_id="anonymous"} 1',
      'hivenet_tenant_token_limited_total{tenant_id="acme",key_id="k",deployment_id="unset",phase="input"} 1',
      'hivenet_tenant_token_limited_total{tenant_id="acme",key_id="anonymous",deployment_id="unset",phase="input"} 1',
    ]);
  });
});
