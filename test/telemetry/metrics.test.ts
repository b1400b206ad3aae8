import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REFUSAL_REASONS } from '../../src/redirect/verify.ts';
import { createMetrics, type MetricSources, type Metrics } from '../../src/telemetry/metrics.ts';
import type { RequestRecord } from '../../src/telemetry/request-record.ts';

const NONE: MetricSources = {
  redirect: undefined,
  activeRequests: () => 0,
  bodyBytes: () => 0,
  droppedLogLines: () => 0,
  agents: () => [],
  engines: () => [],
  queueDepths: () => [],
  heldRooms: () => [],
  held: () => [],
};
const OFF = createMetrics(NONE, '1.2.3');

function metricsOn(gauges: { version?: bigint; expired?: boolean } = {}): Metrics {
  const redirect = { mapVersion: () => gauges.version ?? 0n, areHintsExpired: () => gauges.expired ?? true };
  return createMetrics({ ...NONE, redirect }, '1.2.3');
}

async function samples(metrics: Metrics, name: string): Promise<readonly string[]> {
  const lines = (await metrics.expose()).split('\n');
  return lines.filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
}

const ENDED = { method: 'POST', route: '/v1/messages', status: 200 } as RequestRecord;

describe('createMetrics()', () => {
  it('exposes all ten reasons as 0 from the start, in the order of the checks (R-201)', async () => {
    assert.deepEqual(
      await samples(metricsOn(), 'hivenet_redirect_rejections_total'),
      REFUSAL_REASONS.map((reason) => `hivenet_redirect_rejections_total{reason="${reason}"} 0`),
    );
    assert.equal(REFUSAL_REASONS.length, 10);
  });

  it('counts a refusal under its reason alone (R-125)', async () => {
    const metrics = metricsOn();
    metrics.redirect?.refused('replay');
    metrics.redirect?.refused('replay');
    assert.deepEqual(
      (await samples(metrics, 'hivenet_redirect_rejections_total')).filter((line) => !line.endsWith(' 0')),
      ['hivenet_redirect_rejections_total{reason="replay"} 2'],
    );
  });

  it('counts redirects by model, site and hop, and has no such series before (R-199)', async () => {
    const metrics = metricsOn();
    assert.deepEqual(await samples(metrics, 'hivenet_redirects_total'), []);
    metrics.redirect?.redirected({ model: 'm', site: 'site-fr-2', hop: 1 });
    metrics.redirect?.redirected({ model: 'm', site: 'site-fr-2', hop: 2 });
    metrics.redirect?.redirected({ model: 'm', site: 'site-fr-2', hop: 1 });
    assert.deepEqual(await samples(metrics, 'hivenet_redirects_total'), [
      'hivenet_redirects_total{model="m",site="site-fr-2",hop="1"} 2',
      'hivenet_redirects_total{model="m",site="site-fr-2",hop="2"} 1',
    ]);
  });

  it('escapes what an operator named a model (R-199)', async () => {
    const metrics = metricsOn();
    metrics.redirect?.redirected({ model: 'a"b\\c\nd', site: 's', hop: 1 });
    const [line] = await samples(metrics, 'hivenet_redirects_total');
    assert.equal(line, 'hivenet_redirects_total{model="a\\"b\\\\c\\nd",site="s",hop="1"} 1');
  });

  it('reads both gauges at each scrape (R-202, R-203)', async () => {
    const gauges = { version: 0n, expired: true };
    const metrics = metricsOn(gauges);
    const scrape = async () => [
      ...(await samples(metrics, 'hivenet_sibling_map_version')),
      ...(await samples(metrics, 'hivenet_sibling_map_hints_expired')),
    ];
    assert.deepEqual(await scrape(), ['hivenet_sibling_map_version 0', 'hivenet_sibling_map_hints_expired 1']);
    Object.assign(gauges, { version: 1_762_171_200n, expired: false });
    assert.deepEqual(await scrape(), ['hivenet_sibling_map_version 1762171200', 'hivenet_sibling_map_hints_expired 0']);
  });

  it('has none of the four families with the feature off (R-204)', async () => {
    const text = await OFF.expose();
    assert.equal(OFF.redirect, undefined);
    assert.doesNotMatch(text, /hivenet_redirect|hivenet_sibling/);
  });

  it('reads running requests, their bodies and dropped log lines at each scrape', async () => {
    let count = 2;
    const read = () => count;
    const sources = { ...NONE, activeRequests: read, bodyBytes: read, droppedLogLines: read };
    const metrics = createMetrics(sources, '1.2.3');
    for (const expected of [2, 2, 5]) {
      count = expected;
      assert.deepEqual(await samples(metrics, 'http_server_active_requests'), [
        `http_server_active_requests ${expected}`,
      ]);
      assert.deepEqual(await samples(metrics, 'hivenet_router_body_bytes'), [`hivenet_router_body_bytes ${expected}`]);
      assert.deepEqual(await samples(metrics, 'hivenet_router_log_lines_dropped_total'), [
        `hivenet_router_log_lines_dropped_total ${expected}`,
      ]);
    }
  });

  it('observes each request once by method, route and status (api.md 1)', async () => {
    const metrics = metricsOn();
    metrics.requestEnded(ENDED, 0.25);
    const labels = 'method="POST",route="/v1/messages",status_code="200"';
    assert.deepEqual(await samples(metrics, 'http_server_request_duration_seconds_count'), [
      `http_server_request_duration_seconds_count{${labels}} 1`,
    ]);
    assert.deepEqual(await samples(metrics, 'http_server_request_duration_seconds_sum'), [
      `http_server_request_duration_seconds_sum{${labels}} 0.25`,
    ]);
  });

  it('shows the version', async () => {
    const metrics = metricsOn();
    assert.deepEqual(await samples(metrics, 'hivenet_router_build_info'), [
      'hivenet_router_build_info{version="1.2.3"} 1',
    ]);
  });

  it('keeps its series apart from those of another router in the same process', async () => {
    const one = metricsOn();
    const other = metricsOn();
    one.redirect?.refused('body');
    assert.ok((await samples(one, 'hivenet_redirect_rejections_total')).some((line) => line.endsWith(' 1')));
    assert.ok((await samples(other, 'hivenet_redirect_rejections_total')).every((line) => line.endsWith(' 0')));
  });

  it('is Prometheus text (R-201)', () => {
    assert.match(OFF.contentType, /^text\/plain; version=0\.0\.4/);
  });
});
