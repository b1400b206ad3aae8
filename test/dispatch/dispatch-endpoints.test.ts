import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fault } from '../../src/lib/result.ts';
import { endpointOf, failureOf, MODEL, testSite } from './test-site.ts';

const COUNT = endpointOf('/v1/messages/count_tokens');

/** A site with an Ollama and, if wanted, a vLLM that serve the same model, and the URLs that they were sent. */
function mixedSite(engines: readonly ('ollama' | 'vllm')[]) {
  const asked: string[] = [];
  const fetch = async (url: string) => {
    asked.push(url);
    return Response.json({});
  };
  const site = testSite([], { fetch });
  for (const engine of engines) {
    const setting = { id: engine, engine, capability: 'llm', models: [MODEL], capacity: 10 } as const;
    site.registry.add({ ...setting, backendUrl: `http://${engine}` }).reportProbe({ ok: true, value: [MODEL] });
  }
  return { ...site, asked };
}

describe('dispatch() to engines that lack the endpoint', () => {
  it('asks only those that have it', async () => {
    const { ask, asked } = mixedSite(['ollama', 'vllm']);
    for (let count = 0; count < 3; count += 1) assert.equal((await ask({ endpoint: COUNT })).kind, 'answered');
    assert.deepEqual(new Set(asked), new Set(['http://vllm/v1/messages/count_tokens']));
  });

  it('asks them all for what they have', async () => {
    const { ask, asked } = mixedSite(['ollama', 'vllm']);
    for (let count = 0; count < 2; count += 1) await ask({ endpoint: endpointOf('/v1/messages') });
    assert.deepEqual(asked.toSorted(), ['http://ollama/v1/messages', 'http://vllm/v1/messages']);
  });

  it('finds no model where no engine of it has the endpoint', async () => {
    const { ask, asked } = mixedSite(['ollama']);
    assert.deepEqual(await failureOf(ask({ endpoint: COUNT })), [
      'model_not_found',
      `The engines of the model "${MODEL}" have no /v1/messages/count_tokens.`,
    ]);
    assert.deepEqual(asked, []);
  });

  it('finds no agent while the only engine that has it is down', async () => {
    const { ask, registry } = mixedSite(['ollama', 'vllm']);
    for (let count = 0; count < 3; count += 1) registry.all()[1]?.reportProbe(fault('down'));
    assert.equal((await failureOf(ask({ endpoint: COUNT })))[0], 'no_agents_available');
  });

  it('finds no agent for a model that none lists any more', async () => {
    const { ask } = mixedSite(['ollama']);
    assert.equal((await failureOf(ask({ endpoint: COUNT, model: 'gone' })))[0], 'no_agents_available');
  });
});
