import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { engineSeries, SHOWN_MAX_AGE_MS } from '../../src/agents/engine-series.ts';
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
