// What the admin API tells of the fleet as a whole: the routing table, health, models and the registration stream.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fault, ok } from '../../src/lib/result.ts';
import { SUBSCRIBERS_MAX } from '../../src/telemetry/registration-stream.ts';
import { latency, reading } from '../agents/readings.ts';
import { registryOf } from '../support/test-agents.ts';
import { bearer, createTestRouter, NOW_MS } from '../support/test-router.ts';
import { siteA } from './redirect-fixture.ts';

const NOW = new Date(NOW_MS).toISOString();

describe('GET /admin/routing-table', () => {
  it('shows metadata, status and counters under the Go router’s names (api.md 17)', async () => {
    const site = createTestRouter({
      agents: [
        {
          id: 'a',
          models: ['m', 'n'],
          capacity: 4,
          region: 'eu-west',
          organization: 'acme',
          machine: 'gpu-7',
          gpuModel: 'H100',
          tags: ['blue'],
          prettyName: 'The model',
          info: 'Large',
          isHidden: true,
          deploymentId: 'dep-1',
          replicaId: 'rep-1',
        },
      ],
    });
    const [agent] = site.ports.agents.all();
    agent?.take();
    agent?.record.succeeded({ inputTokens: 3, outputTokens: 5 });
    agent?.record.failed();
    agent?.record.sample(100);
    const table = (await (await site.admin('GET', '/admin/routing-table')).json()) as object;
    assert.deepEqual(table, {
      total: 1,
      agents: [
        {
          peer_id: 'a',
          metadata: {
            model: 'm',
            models: ['m', 'n'],
            engine: 'vllm',
            capacity: 4,
            region: 'eu-west',
            organization: 'acme',
            machine: 'gpu-7',
            tags: ['blue'],
            hide_llm: true,
            llm_pretty_name: 'The model',
            llm_info: 'Large',
            capability: 'llm',
            gpu_model: 'H100',
            deployment_id: 'dep-1',
            replica_id: 'rep-1',
          },
          status: {
            healthy: true,
            backend_healthy: true,
            state: 'healthy',
            reason: 'probe answered',
            since: NOW,
            standing: 'trusted',
            active_requests: 1,
            capacity_utilization: 0.25,
            last_seen: NOW,
          },
          universal: {
            successful_requests_total: 1,
            failed_requests_total: 1,
            success_rate: 0.5,
            consecutive_failures: 1,
            input_tokens_total: 3,
            output_tokens_total: 5,
            rejected_requests_total: 0,
            disconnections_total: 0,
            agent_failures_total: 0,
            backend_failures_total: 0,
            srtt_ms: 100,
            rttvar_ms: 50,
            latency_state: 'KNOWN',
          },
        },
      ],
    });
  });

  it('leaves out what is not known, and shows fresh metrics of the engine', async () => {
    const site = createTestRouter({ agents: [{ models: ['m'], down: true }, { models: ['m'] }] });
    const figures = reading({
      runningRequests: 3,
      waitingRequests: 4,
      kvCacheUse: 0.5,
      preemptionsTotal: 5,
      ttft: latency(0, 0, [
        [0.5, 0],
        [1, 0],
        [Number.POSITIVE_INFINITY, 0],
      ]),
      itl: latency(0, 0, [
        [0.25, 0],
        [Number.POSITIVE_INFINITY, 0],
      ]),
    });
    const later = {
      ...figures,
      ttft: latency(10, 4, [
        [0.5, 0],
        [1, 10],
        [Number.POSITIVE_INFINITY, 10],
      ]),
      itl: latency(10, 1, [
        [0.25, 10],
        [Number.POSITIVE_INFINITY, 10],
      ]),
    };
    const [old, fresh] = site.ports.agents.all();
    old?.reportMetrics(figures, NOW_MS - 10_001);
    fresh?.reportMetrics(figures, NOW_MS - 12_000);
    fresh?.reportMetrics(later, NOW_MS - 10_000);
    for (let probe = 0; probe < 2; probe += 1) old?.reportProbe(ok(['m']));
    for (let probe = 0; probe < 3; probe += 1) old?.reportProbe(fault('down'));
    const table = (await (await site.admin('GET', '/admin/routing-table')).json()) as {
      agents: readonly Record<string, Record<string, unknown>>[];
    };
    const [down, up] = table.agents;
    assert.equal(down?.['status']?.['healthy'], false);
    assert.equal('engine' in (down ?? {}), false);
    assert.equal('region' in (down?.['metadata'] ?? {}), false);
    assert.equal(down?.['universal']?.['latency_state'], 'UNKNOWN');
    const { success_rate, disconnections_total, agent_failures_total, backend_failures_total } =
      down?.['universal'] ?? {};
    assert.deepEqual([success_rate, disconnections_total, agent_failures_total, backend_failures_total], [0, 1, 2, 1]);
    assert.deepEqual(up?.['engine'], {
      kv_cache_utilization: 0.5,
      running_requests: 3,
      waiting_requests: 4,
      preemptions_total: 5,
      avg_ttft_seconds: 0.4,
      p90_ttft_seconds: 0.95,
      avg_itl_seconds: 0.1,
      p90_itl_seconds: 0.225,
    });
  });
});

describe('GET /admin/health', () => {
  it('is degraded without a healthy agent, and always 200 (routing.md §22)', async () => {
    const health = async (site: ReturnType<typeof createTestRouter>) => {
      const response = await site.admin('GET', '/admin/health');
      assert.equal(response.status, 200);
      return (await response.json()) as Record<string, unknown>;
    };
    assert.deepEqual(await health(createTestRouter()), {
      status: 'degraded',
      timestamp: NOW_MS / 1000,
      total_agents: 0,
      healthy_agents: 0,
      queue_length: 0,
      agents: [],
    });
    const { agents, ...summary } = await health(
      createTestRouter({ agents: [{ models: ['m'], region: 'eu', down: true }, { models: ['n'] }] }),
    );
    assert.deepEqual(summary, {
      status: 'healthy',
      timestamp: NOW_MS / 1000,
      total_agents: 2,
      healthy_agents: 1,
      queue_length: 0,
    });
    assert.deepEqual((agents as readonly object[])[0], {
      peer_id: 'agent-1',
      model: 'm',
      engine: 'vllm',
      version: 'test',
      capacity: 10,
      region: 'eu',
      is_healthy: false,
      state: 'unhealthy',
      reason: 'connection refused',
      last_seen: NOW_MS / 1000,
    });
  });
});

describe('GET /admin/health, last_seen', () => {
  it('is of the last good probe, and not of the last change', async () => {
    const site = createTestRouter();
    let nowMs = NOW_MS;
    const agents = registryOf([{ models: ['m'] }], { nowMs: () => nowMs, monotonicMs: () => nowMs });
    Object.assign(site.ports, { agents });
    agents.all()[0]?.reportProbe(ok(['m']));
    nowMs += 5_000;
    agents.all()[0]?.reportProbe(ok(['m']));
    const health = (await (await site.admin('GET', '/admin/health')).json()) as {
      agents: readonly Record<string, unknown>[];
    };
    assert.equal(health.agents[0]?.['last_seen'], NOW_MS / 1000 + 5);
  });
});

describe('GET /admin/health, queue_length', () => {
  it('is how many requests wait for a slot, over all models', async () => {
    const site = createTestRouter();
    const queueDepths = () => [
      { model: 'm', depth: 2 },
      { model: 'n', depth: 3 },
    ];
    Object.assign(site.ports, { queueDepths });
    const health = (await (await site.admin('GET', '/admin/health')).json()) as Record<string, unknown>;
    assert.equal(health['queue_length'], 5);
  });
});

describe('GET /admin/models', () => {
  it('lists as /v1/models does, without a key’s limits', async () => {
    const site = siteA({ agents: [{ models: ['org/x'] }], aliases: { auto: ['org/x'] } });
    const all = await (await site.admin('GET', '/admin/models')).text();
    assert.equal(all, await (await site.send('/v1/models', { headers: bearer('key-1') })).text());
    assert.notEqual(all, await (await site.send('/v1/models', { headers: bearer('key-2') })).text());
    for (const id of ['org/x', 'org%2Fx', 'auto', 'm']) {
      const one = await site.admin('GET', `/admin/models/${id}`);
      const same = await site.send(`/v1/models/${id}`, { headers: bearer('key-1') });
      assert.equal(await one.text(), await same.text());
    }
    const none = await site.admin('GET', '/admin/models/none');
    assert.equal(none.status, 404);
    assert.match(await none.text(), /"code":"model_not_found"/);
    assert.equal((await site.send('/admin/models', { headers: bearer('key-1') })).status, 401);
  });
});

describe('GET /admin/registration-stream', () => {
  const PATH = '/admin/registration-stream';

  it('streams events, and its access line comes when the client leaves', async () => {
    const site = createTestRouter();
    const response = await site.admin('GET', PATH);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    assert.match(response.headers.get('cache-control') ?? '', /no-cache/);
    const reader = response.body?.getReader();
    await reader?.read();
    site.ports.registrations.publish({
      event_type: 'registered',
      deployment_id: '',
      replica_id: '',
      agent_id: 'a',
      timestamp: NOW,
    });
    assert.match(new TextDecoder().decode((await reader?.read())?.value), /^data: \{"event_type":"registered"/);
    assert.equal(site.accessLines.length, 0);
    await reader?.cancel();
    assert.deepEqual(
      site.accessLines.map((line) => [line['path'], line['status_code']]),
      [[PATH, 200]],
    );
    assert.equal(site.ports.active.count, 0);
  });

  it('is 503 beyond the bound of subscribers, and while the router stops', async () => {
    const site = createTestRouter();
    const streams = [];
    for (let count = 0; count < SUBSCRIBERS_MAX; count += 1) streams.push(await site.admin('GET', PATH));
    const full = await site.admin('GET', PATH);
    assert.equal(full.status, 503);
    assert.match(await full.text(), /there are 64 subscribers already/);
    site.ports.registrations.close();
    for (const stream of streams) assert.equal(await stream.text(), ': subscribed\n\n');
    site.stopping = true;
    assert.match(await (await site.admin('GET', PATH)).text(), /the router is stopping/);
  });

  it('subscribes nobody for HEAD, and is for admin keys', async () => {
    const site = createTestRouter();
    const head = await site.admin('HEAD', PATH);
    assert.deepEqual([head.status, site.ports.registrations.subscribers], [200, 0]);
    assert.equal((await site.send(PATH, { headers: bearer('key-1') })).status, 401);
    assert.equal(site.ports.active.count, 0);
  });
});
