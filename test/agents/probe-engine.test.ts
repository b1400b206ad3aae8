import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentSetting } from '../../src/agents/agent-setting.ts';
import type { EngineFetch } from '../../src/agents/engine-fetch.ts';
import { AGENT_MODELS_MAX, PROBE_ANSWER_MAX_BYTES, probeEngine } from '../../src/agents/probe-engine.ts';

const SETTING: AgentSetting = {
  id: 'vllm-h-1',
  engine: 'vllm',
  capability: 'llm',
  backendUrl: 'http://h:1/base',
  models: [],
  capacity: 1,
};

const UP = () => new Response('');
const listing = (...ids: readonly string[]) => Response.json({ data: ids.map((id) => ({ id })) });

/** Probes an engine that answers by path, and tells which paths were asked. */
async function probe(answers: Record<string, () => Response>, setting: Partial<AgentSetting> = {}) {
  const asked: string[] = [];
  const fetch: EngineFetch = async (url) => {
    asked.push(url);
    const answer = answers[url.slice(SETTING.backendUrl.length)];
    return answer === undefined ? new Response('not found', { status: 404 }) : answer();
  };
  const result = await probeEngine({ ...SETTING, ...setting }, fetch, new AbortController().signal);
  return { result, asked };
}

/** A body of `size` bytes whose end is only reached by who reads all of it. */
function bodyOf(size: number, onCancel: () => unknown): ReadableStream<Uint8Array> {
  let left = size;
  return new ReadableStream({
    pull(controller) {
      const chunk = new Uint8Array(Math.min(left, 65_536)).fill(0x20);
      left -= chunk.byteLength;
      if (chunk.byteLength > 0) controller.enqueue(chunk);
      else controller.close();
    },
    cancel: () => void onCancel(),
  });
}

describe('probeEngine()', () => {
  it('asks for health, then for the models', async () => {
    const { result, asked } = await probe({ '/health': UP, '/v1/models': () => listing('a', 'b') });
    assert.deepEqual(result, { ok: true, value: ['a', 'b'] });
    assert.deepEqual(asked, ['http://h:1/base/health', 'http://h:1/base/v1/models']);
  });

  it('asks once when the listing is the health', async () => {
    const tags = () => Response.json({ models: [{ name: 'llama3:latest' }] });
    const { result, asked } = await probe({ '/api/tags': tags }, { engine: 'ollama' });
    assert.deepEqual(result, { ok: true, value: ['llama3'] });
    assert.deepEqual(asked, ['http://h:1/base/api/tags']);
  });

  it('asks for health where the setting says, and for the models where the engine has them', async () => {
    const answers = { '/ready': UP, '/v1/models': () => listing('a') };
    for (const engine of ['vllm', 'custom'] as const) {
      const { result, asked } = await probe(answers, { engine, healthPath: '/ready' });
      assert.deepEqual(result, { ok: true, value: ['a'] });
      assert.deepEqual(asked, ['http://h:1/base/ready', 'http://h:1/base/v1/models']);
    }
    const { result } = await probe({ '/v1/models': () => listing('a') }, { engine: 'custom', healthPath: '/ready' });
    assert.deepEqual(result, { ok: false, fault: 'GET /ready: status 404' });
  });

  it('asks for no listing when the models are pinned', async () => {
    const { result, asked } = await probe({ '/health': UP }, { models: ['pinned'] });
    assert.deepEqual(result, { ok: true, value: ['pinned'] });
    assert.equal(asked.length, 1);
  });

  it('fails an engine with pinned models that is not healthy', async () => {
    const { result } = await probe({}, { models: ['pinned'] });
    assert.deepEqual(result, { ok: false, fault: 'GET /health: status 404' });
  });

  const failing: readonly (readonly [name: string, answers: Record<string, () => Response>, fault: string])[] = [
    ['health 503', { '/health': () => new Response('', { status: 503 }) }, 'GET /health: status 503'],
    ['health 204', { '/health': () => new Response(null, { status: 204 }) }, 'GET /health: status 204'],
    ['health that redirects', { '/health': () => Response.redirect('http://other/', 307) }, 'GET /health: status 307'],
    ['no listing', { '/health': UP }, 'GET /v1/models: status 404'],
    [
      'an empty listing, which means not ready',
      { '/health': UP, '/v1/models': () => listing() },
      'GET /v1/models: no model listed',
    ],
    ['only nameless models', { '/health': UP, '/v1/models': () => listing('') }, 'GET /v1/models: no model listed'],
    ['HTML', { '/health': UP, '/v1/models': () => new Response('<html>') }, 'GET /v1/models: not a listing of models'],
    ['other JSON', { '/health': UP, '/v1/models': () => Response.json([]) }, 'GET /v1/models: not a listing of models'],
  ];
  for (const [name, answers, fault] of failing) {
    it(`fails an engine with ${name}`, async () => {
      assert.deepEqual((await probe(answers)).result, { ok: false, fault });
    });
  }

  it('names the cause of a failed connection', async () => {
    const refuse: EngineFetch = () => Promise.reject(Object.assign(new TypeError('x'), { code: 'ECONNREFUSED' }));
    const result = await probeEngine(SETTING, refuse, new AbortController().signal);
    assert.deepEqual(result, { ok: false, fault: 'GET /health: ECONNREFUSED' });
  });

  it('fails when it is ended before the answer', async () => {
    const aborter = new AbortController();
    const hang: EngineFetch = (_url, init) =>
      new Promise((_resolve, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    const probing = probeEngine(SETTING, hang, aborter.signal);
    aborter.abort();
    assert.deepEqual(await probing, { ok: false, fault: 'GET /health: no answer in time' });
  });

  it('reads a listing of 1 MiB, and none that is longer by a byte', async () => {
    const long = (size: number) => () => new Response(bodyOf(size, () => undefined));
    const whole = await probe({ '/health': UP, '/v1/models': long(PROBE_ANSWER_MAX_BYTES) });
    assert.deepEqual(whole.result, { ok: false, fault: 'GET /v1/models: not a listing of models' });
    const longer = await probe({ '/health': UP, '/v1/models': long(PROBE_ANSWER_MAX_BYTES + 1) });
    assert.deepEqual(longer.result, { ok: false, fault: 'GET /v1/models: answer above 1048576 bytes' });
  });

  it('cancels what is left of an answer that is too long', async () => {
    let isCancelled = false;
    const endless = () => new Response(bodyOf(Number.POSITIVE_INFINITY, () => (isCancelled = true)));
    await probe({ '/health': endless, '/v1/models': () => listing('a') });
    assert.equal(isCancelled, true);
  });

  it(`keeps the first ${AGENT_MODELS_MAX} models, each once, and no name that a request cannot carry`, async () => {
    const names = Array.from({ length: AGENT_MODELS_MAX + 1 }, (_, index) => `m${index}`);
    const models = () => listing('m0', 'x'.repeat(257), '\ud800', '\ud801', 'a\nb', ...names);
    const { result } = await probe({ '/health': UP, '/v1/models': models });
    assert.deepEqual(result, { ok: true, value: names.slice(0, AGENT_MODELS_MAX) });
  });
});
