// The engine behind a real socket, asked by the official clients.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { embed } from '../../src/mock-engine/embeddings.ts';
import type { MockEngineSettings } from '../../src/mock-engine/settings.ts';
import { bunRuntime } from '../../src/runtime/bun.ts';
import type { Listener } from '../../src/runtime/runtime.ts';
import { EngineUnderTest } from './engine-under-test.ts';

const listeners: Listener[] = [];
after(() => {
  for (const listener of listeners) listener.abort();
});

function listen(settings: Partial<MockEngineSettings> = {}) {
  const under = new EngineUnderTest(settings);
  const listener = bunRuntime.listen({ address: '127.0.0.1:0', maxBodyBytes: 1_000_000, fetch: under.engine.fetch });
  listeners.push(listener);
  const { url } = listener;
  return {
    under,
    url,
    openai: new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 0 }),
  };
}

const MESSAGES = [{ role: 'user' as const, content: 'hello' }];
const TEXT = 'engine gpu-1, model tiny: prompt 2cf24dba';

describe('the openai client', () => {
  it('completes, whole and streamed', async () => {
    const { openai } = listen();
    const question = { model: 'tiny', messages: MESSAGES, max_tokens: 6 };
    const { data, response } = await openai.chat.completions.create(question).withResponse();
    assert.equal(data.choices[0]?.message.content, TEXT);
    assert.equal(response.headers.get('x-mock-engine'), 'gpu-1');
    const stream = openai.chat.completions.stream({ ...question, stream_options: { include_usage: true } });
    const final = await stream.finalChatCompletion();
    assert.equal(final.choices[0]?.message.content, TEXT);
    assert.deepEqual(final.usage, data.usage);
  });

  it('embeds, in base64 as it asks for by itself', async () => {
    const { openai } = listen({ capability: 'embedding' });
    const { data } = await openai.embeddings.create({ model: 'tiny', input: ['hello', 'bye'] });
    assert.deepEqual(
      data.map(({ embedding }) => Float32Array.from(embedding)),
      [embed('hello'), embed('bye')],
    );
  });

  it('lists the models', async () => {
    const { openai } = listen({ models: ['a', 'b'] });
    assert.deepEqual(
      (await openai.models.list()).data.map(({ id }) => id),
      ['a', 'b'],
    );
  });

  it('reads the errors', async () => {
    const { openai } = listen();
    const question = openai.chat.completions.create({ model: 'other', messages: MESSAGES });
    await assert.rejects(question, (error) => error instanceof OpenAI.NotFoundError && /`other`/.test(error.message));
  });

  it('stops the engine by leaving a stream', { timeout: 5000 }, async () => {
    const { openai, under } = listen({ tokensPerSecond: 1 });
    under.time.isFlowing = false;
    const stream = await openai.chat.completions.create({ model: 'tiny', messages: MESSAGES, stream: true });
    assert.equal(await under.metric('vllm:num_requests_running'), 1);
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'engine') break;
    await untilIdle(under);
    assert.equal(await under.metric('vllm:generation_tokens_total'), 1);
  });
});

describe('the @anthropic-ai/sdk client', () => {
  it('gets messages, whole and streamed', async () => {
    const { anthropic } = listen();
    const question = { model: 'tiny', messages: MESSAGES, max_tokens: 6 };
    const whole = await anthropic.messages.create(question);
    assert.deepEqual(
      whole.content.map((block) => block.type === 'text' && block.text),
      [TEXT],
    );
    const streamed = await anthropic.messages.stream(question).finalMessage();
    assert.deepEqual(
      streamed.content.map((block) => block.type === 'text' && block.text),
      [TEXT],
    );
    assert.equal(streamed.stop_reason, 'max_tokens');
    assert.equal(streamed.usage.output_tokens, whole.usage.output_tokens);
  });

  it('counts tokens', async () => {
    const { anthropic } = listen();
    const { input_tokens } = await anthropic.messages.countTokens({ model: 'tiny', messages: MESSAGES });
    assert.equal(input_tokens, 2);
  });

  it('reads the errors', async () => {
    const { anthropic } = listen();
    const question = anthropic.messages.create({ model: 'other', messages: MESSAGES, max_tokens: 1 });
    await assert.rejects(
      question,
      (error) => error instanceof Anthropic.NotFoundError && /`other`/.test(error.message),
    );
  });

  it('stops the engine by leaving before the first token', { timeout: 5000 }, async () => {
    const { anthropic, under } = listen({ ttftMs: 60_000 });
    under.time.isFlowing = false;
    for (const stream of [true, false]) {
      const client = new AbortController();
      const question = { model: 'tiny', messages: MESSAGES, max_tokens: 6, stream };
      const answer = anthropic.messages.create(question, { signal: client.signal });
      while ((await under.metric('vllm:num_requests_running')) === 0) await turnOfTheLoop();
      client.abort();
      await assert.rejects(answer, Anthropic.APIUserAbortError);
      await untilIdle(under);
    }
  });
});

/** Other sockets' events get their turn; the test's time limit bounds how often. */
function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function untilIdle(under: EngineUnderTest): Promise<void> {
  while ((await under.metric('vllm:num_requests_running')) !== 0) await turnOfTheLoop();
}
