import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ENGINE_NAMES, type EngineName } from '../../src/agents/agent-setting.ts';
import { ENGINES } from '../../src/agents/engines/engines.ts';

/** Paths and capabilities as in routing.md §8, §9; the documents as the engines write them, with fields we ignore. */
const OPENAI_LISTING = { object: 'list', data: [{ id: 'org/a', object: 'model' }, { id: 'b:latest' }] };
const CASES = {
  vllm: { health: '/health', models: '/v1/models', capabilities: ['llm', 'embedding', 'reranker'] },
  sglang: { health: '/health', models: '/v1/models', capabilities: ['llm', 'embedding', 'reranker'] },
  llamacpp: { health: '/health', models: '/v1/models', capabilities: ['llm', 'embedding', 'reranker'] },
  infinity: { health: '/health', models: '/v1/models', capabilities: ['embedding', 'reranker'] },
  custom: { health: '/v1/models', models: '/v1/models', capabilities: ['llm', 'embedding', 'reranker'] },
  ollama: { health: '/api/tags', models: '/api/tags', capabilities: ['llm', 'embedding'] },
} satisfies Record<EngineName, object>;

describe('ENGINES', () => {
  for (const name of ENGINE_NAMES) {
    it(`knows where ${name} tells its health and models, and what it can do`, () => {
      const { healthPath, modelsPath, capabilities } = ENGINES[name];
      assert.deepEqual({ health: healthPath, models: modelsPath, capabilities: [...capabilities] }, CASES[name]);
    });
  }

  for (const name of ENGINE_NAMES.filter((engine) => engine !== 'ollama')) {
    it(`reads the OpenAI listing of ${name}, names as they are`, () => {
      assert.deepEqual(ENGINES[name].readModels(OPENAI_LISTING), ['org/a', 'b:latest']);
    });
  }

  it('reads the tags of ollama without the default tag, and keeps other tags', () => {
    const document = {
      models: [{ name: 'llama3:latest', size: 1 }, { name: 'llama3:70b' }, { name: 'x:latest:latest' }],
    };
    assert.deepEqual(ENGINES.ollama.readModels(document), ['llama3', 'llama3:70b', 'x:latest']);
  });

  for (const name of ENGINE_NAMES) {
    it(`reads an empty listing of ${name} as one without models`, () => {
      assert.deepEqual(ENGINES[name].readModels({ data: [], models: [] }), []);
    });

    for (const document of [undefined, null, [], 'data', {}, { data: {}, models: {} }]) {
      it(`finds no listing of ${name} in ${JSON.stringify(document)}`, () => {
        assert.equal(ENGINES[name].readModels(document), undefined);
      });
    }

    it(`finds no listing of ${name} in entries without a name`, () => {
      assert.equal(ENGINES[name].readModels({ data: [{ id: 1 }], models: [{ name: 1 }] }), undefined);
    });
  }
});
