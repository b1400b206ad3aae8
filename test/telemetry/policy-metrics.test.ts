import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { policyMetrics } from '../../src/telemetry/policy-metrics.ts';

describe('policyMetrics()', () => {
  it('counts under the names of the Go router (routing.md §24)', async () => {
    const registry = new Registry();
    const metrics = policyMetrics([registry]);
    metrics.routed('m', false);
    metrics.routed('m', true);
    metrics.routed('n', true);
    metrics.providerUsed('m');
    metrics.exhausted('m');
    metrics.reloaded({ trigger: 'api', result: 'error' });
    metrics.reloaded({ trigger: 'sighup', result: 'success' });
    const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('hivenet_'));
    assert.deepEqual(lines, [
      'hivenet_policy_primary_routed_total{model="m"} 1',
      'hivenet_policy_fallback_routed_total{model="m"} 1',
      'hivenet_policy_fallback_routed_total{model="n"} 1',
      'hivenet_policy_provider_fallback_total{model="m"} 1',
      'hivenet_policy_exhausted_total{model="m"} 1',
      'hivenet_policy_reload_total{trigger="api",result="error"} 1',
      'hivenet_policy_reload_total{trigger="sighup",result="success"} 1',
    ]);
  });
});
