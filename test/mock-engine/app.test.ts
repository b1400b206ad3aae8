import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededNumbers } from '../../src/mock-engine/chance.ts';
import type { Capability } from '../../src/mock-engine/settings.ts';
import { ask, EngineUnderTest, START_MS } from './engine-under-test.ts';

/** Path, capability that has it, and a body that it takes. */
const ENDPOINTS: readonly (readonly [string, Capability, object])[] = [
  ['/v1/chat/completions', 'llm', ask('hi')],
  ['/v1/messages', 'llm', ask('hi', { max_tokens: 5 })],
  ['/v1/messages/count_tokens', 'llm', ask('hi')],
  ['/v1/embeddings', 'embedding', { model: 'tiny', input: 'hi' }],
  ['/v1/rerank', 'reranker', { model: 'tiny', query: 'hi', documents: ['a'] }],
];

/** What an error of that path must look like. */
function assertRefusal(path: string, body: unknown, types: { openai: string; anthropic: string }): void {
  const error = { error: { message: 'm', type: types.openai, param: null, code: 0 } };
  const expected = path.startsWith('/v1/messages')
    ? { type: 'error', error: { type: types.anthropic, message: 'm' } }
    : error;
  assert.deepEqual(
    JSON.parse(JSON.stringify(body), (key, value) => ({ message: 'm', code: 0 })[key] ?? value),
    expected,
  );
}

describe('createMockEngine()', () => {
  for (const [path, capability, body] of ENDPOINTS) {
    it(`serves ${path} only as ${capability}`, async () => {
      for (const each of ['llm', 'embedding', 'reranker'] as const) {
        const response = await new EngineUnderTest({ capability: each }).post(path, body);
        assert.equal(response.status, each === capability ? 200 : 404, each);
        if (each === capability) continue;
        assertRefusal(path, await response.json(), { openai: 'NotFoundError', anthropic: 'not_found_error' });
      }
    });

    it(`refuses a model it does not serve at ${path}`, async () => {
      const response = await new EngineUnderTest({ capability }).post(path, { ...body, model: 'tiny2' });
      assert.equal(response.status, 404);
      const answer = await response.json();
      assertRefusal(path, answer, { openai: 'NotFoundError', anthropic: 'not_found_error' });
      assert.match(answer.error.message, /`tiny2`/);
    });

    for (const bad of ['', '{', '[]', 'null', '{"model":"tiny"}', JSON.stringify({ ...body, model: 1 })]) {
      it(`refuses ${bad.slice(0, 30) || 'an empty body'} at ${path}`, async () => {
        const response = await new EngineUnderTest({ capability }).post(path, bad);
        assert.equal(response.status, 400);
        const answer = await response.json();
        assertRefusal(path, answer, { openai: 'BadRequestError', anthropic: 'invalid_request_error' });
      });
    }

    it(`fails at ${path} when chance is below the error rate`, async () => {
      const rolls = [0.29, 0.3];
      const engine = new EngineUnderTest({ capability, errorRate: 0.3 }, () => rolls.shift() ?? 1);
      const failed = await engine.post(path, body);
      assert.equal(failed.status, 500);
      assertRefusal(path, await failed.json(), { openai: 'InternalServerError', anthropic: 'api_error' });
      assert.equal((await engine.post(path, body)).status, 200);
    });

    it(`answers 503 at ${path} until the start delay has passed`, async () => {
      const engine = new EngineUnderTest({ capability, startDelayMs: 1000 });
      engine.time.advance(999);
      const refused = await engine.post(path, body);
      assert.equal(refused.status, 503);
      assertRefusal(path, await refused.json(), { openai: 'ServiceUnavailableError', anthropic: 'overloaded_error' });
      engine.time.advance(1);
      assert.equal((await engine.post(path, body)).status, 200);
    });
  }

  for (const path of ['/health', '/v1/models', '/models', '/api/tags']) {
    it(`answers 503 at ${path} until the start delay has passed`, async () => {
      const engine = new EngineUnderTest({ startDelayMs: 1000 });
      engine.time.advance(999);
      assert.equal((await engine.get(path)).status, 503);
      engine.time.advance(1);
      assert.equal((await engine.get(path)).status, 200);
    });
  }

  it('says of a body whether it is no JSON or which field is wrong', async () => {
    const said = async (body: string) =>
      (await (await new EngineUnderTest().post('/v1/messages', body)).json()).error.message;
    assert.equal(await said('{'), 'body: not JSON');
    assert.match(await said('null'), /^body: Invalid type/);
    assert.match(await said('{"model":"tiny"}'), /^messages: /);
  });

  it('lists its models as OpenAI does', async () => {
    const engine = new EngineUnderTest({ models: ['a', 'org/b'] });
    const model = { object: 'model', created: START_MS / 1000, owned_by: 'mock-engine' };
    const expected = {
      object: 'list',
      data: [
        { id: 'a', ...model },
        { id: 'org/b', ...model },
      ],
    };
    assert.deepEqual(await (await engine.get('/v1/models')).json(), expected);
    assert.deepEqual(await (await engine.get('/models')).json(), expected);
  });

  it('lists its models as Ollama does, each with a tag', async () => {
    const engine = new EngineUnderTest({ models: ['a', 'b:7b'] });
    assert.deepEqual(await (await engine.get('/api/tags')).json(), {
      models: [
        { name: 'a:latest', model: 'a:latest' },
        { name: 'b:7b', model: 'b:7b' },
      ],
    });
  });

  it('names itself in a header of every answer', async () => {
    const engine = new EngineUnderTest({ name: 'gpu-7' });
    const stream = ask('hi', { stream: true });
    const responses = await Promise.all([
      engine.get('/health'),
      engine.get('/metrics'),
      engine.get('/nowhere'),
      engine.post('/v1/chat/completions', '{'),
      engine.post('/v1/chat/completions', stream),
      new EngineUnderTest({ name: 'gpu-7', startDelayMs: 1 }).get('/health'),
    ]);
    assert.deepEqual(
      responses.map(({ status, headers }) => [status, headers.get('x-mock-engine')]),
      [200, 200, 404, 400, 200, 503].map((status) => [status, 'gpu-7']),
    );
  });

  it('fails the wanted share of requests', async () => {
    const engine = new EngineUnderTest({ errorRate: 0.2 }, seededNumbers('gpu-1'));
    let failures = 0;
    for (let count = 0; count < 500; count += 1) {
      const { status } = await engine.post('/v1/messages/count_tokens', ask('hi'));
      if (status === 500) failures += 1;
    }
    assert.ok(failures > 70 && failures < 130, `${failures} of 500`);
  });
});
