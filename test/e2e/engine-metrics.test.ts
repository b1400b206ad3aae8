// What the router's metrics port tells of an engine that works.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import {
  type EngineProcess,
  engineFlags,
  type RouterProcess,
  startEngine,
  startRouter,
  untilServing,
} from '../support/router-process.ts';

const MODEL = 'paced';

describe('The metrics of an engine behind the compiled router', () => {
  let engine: EngineProcess;
  let router: RouterProcess;

  before(async () => {
    engine = await startEngine({ name: 'e', models: [MODEL], args: ['--tokens-per-second', '50', '--ttft', '100ms'] });
    router = await startRouter(engineFlags([engine]));
    await untilServing(router, [MODEL]);
  });

  after(async () => {
    await Promise.all([router.kill(), engine.kill()]);
  });

  /** The value of one engine gauge, once it is what `isRight` asks for. */
  const gauge = (name: string, isRight: (value: number) => boolean) =>
    eventually(`hivenet_agent_engine_${name}`, async () => {
      const text = await (await fetch(`${router.metricsUrl}/metrics`)).text();
      const found = new RegExp(`^hivenet_agent_engine_${name}\\{(.*)\\} (\\S+)$`, 'm').exec(text);
      return found !== null && isRight(Number(found[2])) ? found : undefined;
    });

  it('are on its metrics port, with the agent’s labels', async () => {
    const [, labels] = await gauge('running_requests', (value) => value === 0);
    assert.match(labels ?? '', /^peer_id="vllm-127\.0\.0\.1-\d+",model="paced",engine="vllm",/);
    await gauge('kv_cache_utilization', (value) => value === 0);
  });

  it('follow a stream: running, then its first-token time and pace', async () => {
    const body = { model: MODEL, stream: true, max_tokens: 40, messages: [{ role: 'user', content: 'Count.' }] };
    const answer = await fetch(`${router.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body) });
    await gauge('running_requests', (value) => value === 1);
    await answer.text();
    await gauge('running_requests', (value) => value === 0);
    await gauge('avg_ttft_seconds', (value) => value >= 0.09 && value < 1);
    await gauge('avg_itl_seconds', (value) => value >= 0.015 && value < 0.2);
  });
});
