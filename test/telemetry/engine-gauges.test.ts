import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { type EngineFigures, type EngineSeries, engineGauges } from '../../src/telemetry/engine-gauges.ts';

const FIGURES: EngineFigures = {
  kvCacheUse: 0.5,
  runningRequests: 3,
  waitingRequests: 0,
  preemptionsTotal: 7,
  generatedTokensPerSecond: 40,
  promptTokensPerSecond: 500,
  ttftMs: 250,
  ttftP90Ms: 900,
  itlMs: 25,
  itlP90Ms: 50,
};

const LABELS = { peer_id: 'a', model: 'm', engine: 'vllm', organization: 'Unknown', machine: 'Unknown' };
const LABEL_TEXT = '{peer_id="a",model="m",engine="vllm",organization="Unknown",machine="Unknown"}';

async function samples(series: readonly EngineSeries[]): Promise<readonly string[]> {
  const registry = new Registry();
  engineGauges([registry], () => series);
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('engineGauges()', () => {
  it('exposes every figure under its name, labels and unit (routing.md §24)', async () => {
    assert.deepEqual(await samples([{ labels: LABELS, figures: FIGURES }]), [
      `hivenet_agent_engine_kv_cache_utilization${LABEL_TEXT} 0.5`,
      `hivenet_agent_engine_running_requests${LABEL_TEXT} 3`,
      `hivenet_agent_engine_waiting_requests${LABEL_TEXT} 0`,
      `hivenet_agent_engine_preemptions_total${LABEL_TEXT} 7`,
      `hivenet_agent_engine_avg_ttft_seconds${LABEL_TEXT} 0.25`,
      `hivenet_agent_engine_p90_ttft_seconds${LABEL_TEXT} 0.9`,
      `hivenet_agent_engine_avg_itl_seconds${LABEL_TEXT} 0.025`,
      `hivenet_agent_engine_p90_itl_seconds${LABEL_TEXT} 0.05`,
      `hivenet_agent_engine_predicted_tps${LABEL_TEXT} 40`,
      `hivenet_agent_engine_prompt_tps${LABEL_TEXT} 500`,
    ]);
  });

  it('has no series for what an engine does not tell', async () => {
    const figures = { ...FIGURES, kvCacheUse: undefined, ttftMs: undefined, itlP90Ms: undefined };
    const lines = await samples([{ labels: LABELS, figures }]);
    assert.equal(lines.length, 7);
    assert.ok(!lines.some((line) => /kv_cache|avg_ttft|p90_itl/.test(line)));
  });

  it('drops the series of an agent that is gone at the next scrape', async () => {
    const registry = new Registry();
    const series: EngineSeries[] = [{ labels: LABELS, figures: FIGURES }];
    engineGauges([registry], () => series);
    assert.match(await registry.metrics(), /peer_id="a"/);
    series[0] = { labels: { ...LABELS, peer_id: 'b' }, figures: FIGURES };
    const text = await registry.metrics();
    assert.match(text, /peer_id="b"/);
    assert.doesNotMatch(text, /peer_id="a"/);
  });
});
