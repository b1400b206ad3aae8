import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SHOWN_MAX_AGE_MS } from '../../src/agents/agent.ts';
import { agentSeries, engineSeries } from '../../src/agents/agent-series.ts';
import { AgentRegistry } from '../../src/agents/registry.ts';
import { ok } from '../../src/lib/result.ts';
import { reading } from './readings.ts';

function registryWithTwo() {
  const registry = new AgentRegistry(() => undefined);
  for (const id of ['a', 'b']) {
    registry.add({ id, engine: 'vllm', capability: 'llm', backendUrl: `http://${id}`, models: [], capacity: 1 });
  }
  return registry;
}

describe('engineSeries()', () => {
  it('has the agents with metrics, under their first model', () => {
    const registry = registryWithTwo();
    const [agent] = registry.all();
    agent?.reportProbe(ok(['m-1', 'm-2']));
    agent?.reportMetrics(reading({ runningRequests: 3 }), 0);
    const [series, ...more] = engineSeries(registry.all(), 0);
    assert.deepEqual(more, []);
    assert.deepEqual(series?.labels, {
      peer_id: 'a',
      model: 'm-1',
      engine: 'vllm',
      organization: 'Unknown',
      machine: 'Unknown',
    });
    assert.equal(series?.figures.runningRequests, 3);
  });

  it('shows metrics of 10 s, and none that are older', () => {
    const registry = registryWithTwo();
    registry.all()[0]?.reportMetrics(reading({ runningRequests: 3 }), 1000);
    assert.equal(engineSeries(registry.all(), 1000 + SHOWN_MAX_AGE_MS).length, 1);
    assert.equal(engineSeries(registry.all(), 1001 + SHOWN_MAX_AGE_MS).length, 0);
  });
});

describe('agentSeries()', () => {
  it('has every agent, with Unknown for what nobody said (routing.md §3)', () => {
    const registry = registryWithTwo();
    const [a, b] = registry.all();
    a?.reportProbe(ok(['m']));
    a?.record.succeeded({ inputTokens: 3, outputTokens: 4 });
    a?.record.failed();
    a?.reportConnectionRefused();
    b?.reconfigure({ ...b.setting, region: 'eu', organization: 'acme', machine: 'gpu-7' });
    const [first, second] = agentSeries(registry.all());
    assert.deepEqual(first?.labels, {
      peer_id: 'a',
      model: 'm',
      engine: 'vllm',
      organization: 'Unknown',
      machine: 'Unknown',
      region: 'Unknown',
      capacity: 1,
    });
    const { isHealthy, successes, failures, successRate, inputTokens, outputTokens, ...rest } = first?.figures ?? {};
    assert.deepEqual(
      [isHealthy, successes, failures, successRate, inputTokens, outputTokens],
      [false, 1, 1, 0.5, 3, 4],
    );
    assert.deepEqual([rest.disconnections, rest.agentFailures, rest.backendFailures], [1, 1, 0]);
    const { region, organization, machine, model } = second?.labels ?? {};
    assert.deepEqual([region, organization, machine, model], ['eu', 'acme', 'gpu-7', '']);
  });
});
