import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import type { RequestRecord } from '../../src/telemetry/request-record.ts';
import { type RoutedLabels, routingMetrics } from '../../src/telemetry/routing-metrics.ts';
import { SERIES_MAX } from '../../src/telemetry/series.ts';

const ROUTING: RoutedLabels = { region: 'eu', engine: 'vllm', model: 'm', tenant_id: 'acme' };

function counting() {
  const registry = new Registry();
  const count = routingMetrics([registry]);
  const lines = async () => (await registry.metrics()).split('\n').filter((line) => /^hivenet/.test(line));
  const ended = (change: Partial<RequestRecord>) =>
    count({ routing: ROUTING, status: 200, errorCode: undefined, ...change } as RequestRecord);
  return { ended, lines };
}

const SERIES = '{region="eu",engine="vllm",model="m",tenant_id="acme"}';

describe('routingMetrics()', () => {
  const cases: readonly (readonly [what: string, ended: Partial<RequestRecord>, counted: 'routed' | 'failed' | ''])[] =
    [
      ['a whole answer', {}, 'routed'],
      ['a broken stream', { errorCode: 'backend_error' }, 'failed'],
      ['no usable answer', { status: 502, errorCode: 'backend_error' }, 'failed'],
      ['no free slot', { status: 503, errorCode: 'no_capacity' }, 'failed'],
      ['a bug', { status: 500, errorCode: 'backend_error' }, 'failed'],
      ['a client that left', { status: 499, errorCode: 'client_gone' }, ''],
      ['a mistake that the engine found', { status: 400 }, ''],
      ['a redirect', { status: 307 }, ''],
      ['a model that no agent here lists', { routing: undefined }, ''],
    ];
  for (const [what, end, counted] of cases) {
    it(`counts ${what} ${counted === '' ? 'neither way' : `as ${counted}`} (routing.md §24)`, async () => {
      const { ended, lines } = counting();
      ended(end);
      const expected = counted === '' ? [] : [`hivenet_routing_requests_${counted}_total${SERIES} 1`];
      assert.deepEqual(await lines(), expected);
    });
  }

  it(`has at most ${SERIES_MAX} series of either kind and one for the rest, whose counters go on`, async () => {
    const { ended, lines } = counting();
    for (let index = 0; index < SERIES_MAX + 2; index += 1) ended({ routing: { ...ROUTING, tenant_id: `t${index}` } });
    ended({ routing: { ...ROUTING, tenant_id: 't0' } });
    const all = await lines();
    assert.equal(all.length, SERIES_MAX + 1);
    assert.ok(all[0]?.endsWith('tenant_id="t0"} 2'));
    assert.ok(all.at(-1)?.endsWith('{region="other",engine="other",model="other",tenant_id="other"} 2'));
  });
});
