// What each engine answers, restated from its source, as the router reads it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineName } from '../../../src/agents/agent-setting.ts';
import { ENGINES } from '../../../src/agents/engines/engines.ts';
import { probeEngine } from '../../../src/agents/probe-engine.ts';
import { type Fixture, fixture, responseOf } from './fixture.ts';

/** The result of one probe of an engine that answers as these fixtures do, and with 404 elsewhere. */
function probe(engine: EngineName, names: readonly string[]) {
  const answers = new Map(names.map((name) => fixture(`${engine}/${name}`)).map((answer) => [answer.path, answer]));
  const setting = { id: 'e', engine, capability: 'llm', backendUrl: 'http://e', models: [], capacity: 1 } as const;
  const notFound: Fixture = { method: 'GET', path: '', status: 404, body: '' };
  const fetch = async (url: string) => responseOf(answers.get(new URL(url).pathname) ?? notFound);
  return probeEngine(setting, fetch, new AbortController().signal);
}

describe('probeEngine() of an engine that is up', () => {
  const up: readonly (readonly [engine: EngineName, names: readonly string[], models: readonly string[]])[] = [
    ['vllm', ['health', 'models'], ['llama-3-70b', 'support-lora']],
    ['sglang', ['health', 'models'], ['llama-3-70b']],
    ['llamacpp', ['health', 'models'], ['llama-3-8b']],
    ['ollama', ['models'], ['llama3', 'qwen3-coder:30b']],
    ['infinity', ['health', 'models'], ['bge-m3', 'bge-reranker']],
  ];
  for (const [engine, names, models] of up) {
    it(`reads the models of ${engine}`, async () => {
      assert.deepEqual(await probe(engine, names), { ok: true, value: models });
    });
  }
});

describe('probeEngine() of an engine that is not ready', () => {
  const down: readonly (readonly [engine: EngineName, names: readonly string[], fault: string])[] = [
    ['vllm', ['health-dead', 'models'], 'GET /health: status 503'],
    ['sglang', ['health-starting', 'models'], 'GET /health: status 503'],
    ['llamacpp', ['health-loading', 'models'], 'GET /health: status 503'],
    ['ollama', ['models-none'], 'GET /api/tags: no model listed'],
    ['infinity', ['health', 'models-without-prefix'], 'GET /v1/models: status 404'],
  ];
  for (const [engine, names, fault] of down) {
    it(`tells what ${engine} lacks`, async () => {
      assert.deepEqual(await probe(engine, names), { ok: false, fault });
    });
  }
});

describe('ENGINES', () => {
  const CHAT = ['/v1/chat/completions', '/v1/messages', '/v1/messages/count_tokens'];
  const ALL = [...CHAT, '/v1/embeddings', '/v1/rerank'];
  const endpoints = {
    vllm: ALL,
    sglang: ALL,
    llamacpp: ALL,
    custom: ALL,
    ollama: ['/v1/chat/completions', '/v1/messages', '/v1/embeddings'],
    infinity: ['/v1/embeddings', '/v1/rerank'],
  } satisfies Record<EngineName, readonly string[]>;
  for (const [engine, paths] of Object.entries(endpoints)) {
    it(`knows the endpoints of ${engine}`, () => {
      assert.deepEqual(ENGINES[engine as EngineName].endpoints, paths);
    });
  }
});
