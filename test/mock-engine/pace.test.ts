import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ask, EngineUnderTest, START_MS, settle } from './engine-under-test.ts';

const PATH = '/v1/chat/completions';
const RUNNING = 'vllm:num_requests_running';
const CACHE = 'vllm:kv_cache_usage_perc';
const ABORTED = 'vllm:request_success_total{finished_reason="abort"';

const SLOW = { ttftMs: 1000, tokensPerSecond: 10 };

/** A streaming request whose next chunks come only as the test moves the clock. */
async function startStream(tokens: number, signal?: AbortSignal) {
  const engine = new EngineUnderTest(SLOW);
  engine.time.isFlowing = false;
  const body = ask('hello', { stream: true, min_tokens: tokens, max_tokens: tokens });
  const response = await engine.post(PATH, body, signal);
  const reader = response.body?.getReader();
  assert.ok(reader);
  return { engine, reader };
}

describe('pace of an answer', () => {
  for (const stream of [true, false]) {
    it(`takes ttft and then one token's time for each further token (stream: ${stream})`, async () => {
      const engine = new EngineUnderTest(SLOW);
      await (await engine.post(PATH, ask('hello', { stream, max_tokens: 5 }))).text();
      assert.equal(engine.time.nowMs() - START_MS, 1400);
    });
  }

  it('takes no time without pace and ttft', async () => {
    const engine = new EngineUnderTest();
    await (await engine.post(PATH, ask('hello'))).text();
    assert.equal(engine.time.nowMs(), START_MS);
  });

  for (const [capability, path, fields] of [
    ['embedding', '/v1/embeddings', { input: 'hi' }],
    ['reranker', '/v1/rerank', { query: 'hi', documents: ['a'] }],
  ] as const) {
    it(`takes ttft for ${capability}`, async () => {
      const engine = new EngineUnderTest({ ...SLOW, capability });
      await engine.post(path, { model: 'tiny', ...fields });
      assert.equal(engine.time.nowMs() - START_MS, 1000);
      assert.equal(await engine.metric(RUNNING), 0);
      assert.equal(await engine.metric('vllm:request_success_total{finished_reason="stop"'), 1);
    });
  }

  it('sends nothing before the first token, and one token when it is due', async () => {
    const { engine, reader } = await startStream(2);
    let chunks = 0;
    const readAll = async () => {
      for (let read = await reader.read(); !read.done; read = await reader.read()) chunks += 1;
    };
    const end = readAll();
    for (const [ms, expected] of [
      [999, 0],
      [1, 1],
      [99, 1],
      [1, 3],
    ] as const) {
      engine.time.advance(ms);
      await settle();
      assert.equal(chunks, expected, `at ${engine.time.nowMs() - START_MS} ms`);
    }
    await end;
  });

  it('generates nothing that no client pulls', async () => {
    const { engine, reader } = await startStream(100);
    engine.time.advance(60_000);
    await settle();
    assert.equal(await engine.metric('vllm:generation_tokens_total'), 0);
    await reader.read();
    await reader.read();
    await settle();
    assert.equal(await engine.metric('vllm:generation_tokens_total'), 2);
  });
});

describe('a client that leaves', () => {
  it('ends a stream that waits for its next token', async () => {
    const { engine, reader } = await startStream(100);
    const pending = reader.read();
    assert.equal(await engine.metric(RUNNING), 1);
    await reader.cancel();
    await pending;
    assert.equal(await engine.metric(RUNNING), 0);
    assert.equal(await engine.metric(ABORTED), 1);
    engine.time.advance(60_000);
    await settle();
    assert.equal(await engine.metric('vllm:generation_tokens_total'), 0);
  });

  it('ends a stream by its signal, and the stream then breaks off', async () => {
    const client = new AbortController();
    const { engine, reader } = await startStream(100, client.signal);
    engine.time.advance(1000);
    await reader.read();
    const pending = reader.read();
    client.abort();
    await assert.rejects(pending, /The client left/);
    assert.equal(await engine.metric(RUNNING), 0);
    assert.equal(await engine.metric(ABORTED), 1);
  });

  it('ends an answer that is not streamed', async () => {
    const client = new AbortController();
    const engine = new EngineUnderTest(SLOW);
    engine.time.isFlowing = false;
    const answer = engine.post(PATH, ask('hello'), client.signal);
    await settle();
    assert.equal(await engine.metric(RUNNING), 1);
    client.abort();
    await answer;
    assert.equal(await engine.metric(RUNNING), 0);
    assert.equal(await engine.metric(ABORTED), 1);
  });

  it('ends an answer before it has begun', async () => {
    const engine = new EngineUnderTest(SLOW);
    engine.time.isFlowing = false;
    await engine.post(PATH, ask('hello'), AbortSignal.abort());
    assert.equal(await engine.metric(RUNNING), 0);
    assert.equal(await engine.metric(ABORTED), 1);
  });

  it('is counted once, and not at all after the last token', async () => {
    const client = new AbortController();
    const { engine, reader } = await startStream(1, client.signal);
    engine.time.isFlowing = true;
    while (!(await reader.read()).done);
    client.abort();
    await reader.cancel();
    assert.equal(await engine.metric(RUNNING), 0);
    assert.equal(await engine.metric(ABORTED), 0);
    assert.equal(await engine.metric('vllm:request_success_total{finished_reason="length"'), 1);
  });
});

describe('GET /metrics', () => {
  it('counts tokens, reasons and latencies of finished requests', async () => {
    const engine = new EngineUnderTest(SLOW);
    await engine.post(PATH, ask('hello', { max_tokens: 3 }));
    await engine.post(PATH, ask('hello', { min_tokens: 60 }));
    const expected = {
      'vllm:prompt_tokens_total': 4,
      'vllm:generation_tokens_total': 63,
      'vllm:request_success_total{finished_reason="length"': 1,
      'vllm:request_success_total{finished_reason="stop"': 1,
      'vllm:time_to_first_token_seconds_count': 2,
      'vllm:time_to_first_token_seconds_sum': 2,
      'vllm:time_to_first_token_seconds_bucket{le="0.75"': 0,
      'vllm:time_to_first_token_seconds_bucket{le="1"': 2,
      'vllm:inter_token_latency_seconds_count': 61,
      'vllm:inter_token_latency_seconds_bucket{le="0.075"': 0,
      'vllm:inter_token_latency_seconds_bucket{le="0.15"': 61,
      'vllm:num_requests_waiting': 0,
      [RUNNING]: 0,
      [CACHE]: 0,
    };
    for (const [name, value] of Object.entries(expected)) assert.equal(await engine.metric(name), value, name);
  });

  it('shows the share of 65536 tokens that running requests keep, at most all of it', async () => {
    const { engine, reader } = await startStream(1);
    assert.equal(await engine.metric(CACHE), 2 / 65_536);
    engine.time.advance(1000);
    await reader.read();
    assert.equal(await engine.metric(CACHE), 3 / 65_536);
    await engine.post(PATH, ask('x'.repeat(4 * 65_536), { stream: true }));
    assert.equal(await engine.metric(CACHE), 1);
  });

  it('answers while the engine is starting, labelled with the first model', async () => {
    const text = await (await new EngineUnderTest({ startDelayMs: 1, models: ['a', 'b'] }).get('/metrics')).text();
    assert.match(text, /^vllm:num_requests_running\{model_name="a"\} 0$/m);
  });
});

describe('silence of the connection', () => {
  for (const stream of [true, false]) {
    it(`is allowed from the whole body to the end of the answer (stream: ${stream})`, async () => {
      const calls: string[] = [];
      const silence = { allowSilence: () => calls.push('allow'), endSilence: () => calls.push('end') };
      const engine = new EngineUnderTest(SLOW);
      const quiet = { allowSilence: () => void silence.allowSilence(), endSilence: () => void silence.endSilence() };
      await engine.post(PATH, '{', undefined, quiet);
      assert.deepEqual(calls, []);
      const response = await engine.post(PATH, ask('hello', { stream }), undefined, quiet);
      assert.deepEqual(calls, stream ? ['allow'] : ['allow', 'end']);
      await response.text();
      assert.deepEqual(calls, ['allow', 'end']);
    });
  }
});
