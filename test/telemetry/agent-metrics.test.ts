import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { type AgentSeries, agentMetrics } from '../../src/telemetry/agent-metrics.ts';

const SERIES: AgentSeries = {
  labels: {
    peer_id: 'a',
    region: 'eu',
    engine: 'vllm',
    model: 'm',
    capacity: 10,
    organization: 'acme',
    machine: 'gpu-7',
  },
  figures: {
    isHealthy: true,
    lastSeenMs: 1_762_171_200_123,
    successes: 7,
    failures: 3,
    successRate: 0.7,
    load: 0.5,
    inputTokens: 100,
    outputTokens: 200,
    srttMs: 80,
    rttvarMs: 47.5,
    disconnections: 1,
    agentFailures: 3,
    backendFailures: 2,
  },
};

const R = '{peer_id="a",region="eu",engine="vllm",model="m",capacity="10",organization="acme",machine="gpu-7"}';
const A = '{peer_id="a",model="m",engine="vllm",organization="acme",machine="gpu-7"}';

function exposing(series: () => readonly AgentSeries[]) {
  const registry = new Registry();
  agentMetrics([registry], series);
  return async () => (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('agentMetrics()', () => {
  it('exposes every family under its name and labels (routing.md §24)', async () => {
    assert.deepEqual(await exposing(() => [SERIES])(), [
      `hivenet_routing_agent_info${R} 1`,
      `hivenet_routing_agent_healthy${R} 1`,
      `hivenet_routing_agent_last_seen_timestamp${R} 1762171200123`,
      `hivenet_agent_success_rate${A} 0.7`,
      `hivenet_agent_capacity_utilization${A} 0.5`,
      `hivenet_agent_srtt_ms${A} 80`,
      `hivenet_agent_rttvar_ms${A} 47.5`,
      `hivenet_agent_requests_success_total${A} 7`,
      `hivenet_agent_requests_failed_total${A} 3`,
      `hivenet_agent_input_tokens_total${A} 100`,
      `hivenet_agent_output_tokens_total${A} 200`,
      `hivenet_agent_disconnections_total${A} 1`,
      `hivenet_agent_failure_total${A} 3`,
      `hivenet_model_backend_failure_total${A} 2`,
    ]);
  });

  it('shows counters as 0 and no latency before the first request', async () => {
    const unknown = { lastSeenMs: undefined, successRate: undefined, srttMs: undefined, rttvarMs: undefined };
    const figures = { ...SERIES.figures, ...unknown, isHealthy: false, successes: 0 };
    const lines = await exposing(() => [{ ...SERIES, figures }])();
    assert.ok(lines.includes(`hivenet_agent_requests_success_total${A} 0`));
    assert.ok(lines.includes(`hivenet_routing_agent_healthy${R} 0`));
    assert.doesNotMatch(lines.join('\n'), /srtt|rttvar|last_seen|success_rate/);
  });

  it('counts what it reads, not what it read before, and forgets an agent that is gone', async () => {
    let series: readonly AgentSeries[] = [SERIES];
    const scrape = exposing(() => series);
    await scrape();
    assert.ok((await scrape()).includes(`hivenet_agent_requests_success_total${A} 7`));
    series = [];
    assert.deepEqual(await scrape(), []);
  });
});
