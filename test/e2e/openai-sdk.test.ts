// The official `openai` package against one router, as its users call it.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { API_KEY, BEARER, type OneSite, PACE, paceOf, startOneSite } from './one-site.ts';

let site: OneSite;
let client: OpenAI;

before(async () => {
  site = await startOneSite();
  client = new OpenAI({ baseURL: `${site.router.url}/v1`, apiKey: API_KEY.secret, maxRetries: 0 });
});

after(() => site.kill());

const MESSAGES = [{ role: 'user', content: 'Hello' }] as const;

describe('openai chat.completions', () => {
  it('gets the answer of the engine, with its usage', async () => {
    const answer = await client.chat.completions.create({ model: 'chat', messages: [...MESSAGES] });
    assert.match(answer.choices[0]?.message.content ?? '', /^engine fast, model chat: prompt 185f8db3 /);
    assert.equal(answer.usage?.prompt_tokens, 2);
    assert.ok((answer.usage?.completion_tokens ?? 0) > 16);
  });

  it('gets a stream whole, with the usage it asked for', async () => {
    const stream = await client.chat.completions.create({
      model: 'chat',
      messages: [...MESSAGES],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
    const whole = await client.chat.completions.create({ model: 'chat', messages: [...MESSAGES] });
    assert.equal(text, whole.choices[0]?.message.content);
    assert.equal(chunks.findLast((chunk) => chunk.choices.length > 0)?.choices[0]?.finish_reason, 'stop');
    assert.deepEqual(chunks.at(-1)?.usage, whole.usage);
  });

  it('gets a stream chunk by chunk, as the engine makes it', async () => {
    const tokens = 16;
    const stream = await client.chat.completions.create({
      model: 'paced',
      messages: [...MESSAGES],
      max_completion_tokens: tokens,
      stream: true,
    });
    const { count, spanMs } = await paceOf(stream);
    assert.ok(count >= tokens, `${count} chunks`);
    const engineMs = ((tokens - 1) * 1000) / PACE;
    assert.ok(
      spanMs > engineMs * 0.7,
      `all ${count} chunks within ${spanMs} ms, though the engine took ${engineMs} ms`,
    );
  });

  it('is told of an unknown model and of a wrong key in its own error classes', async () => {
    const unknown = client.chat.completions.create({ model: 'nobody', messages: [...MESSAGES] });
    await assert.rejects(unknown, (error) => error instanceof OpenAI.NotFoundError && error.code === 'model_not_found');
    const stranger = client.withOptions({ apiKey: 'sk-of-nobody' });
    const refused = stranger.chat.completions.create({ model: 'chat', messages: [...MESSAGES] });
    await assert.rejects(
      refused,
      (error) => error instanceof OpenAI.AuthenticationError && error.code === 'unauthorized',
    );
  });
});

describe('openai embeddings', () => {
  it('gets the same vectors as floats and as base64, which the package asks for by itself', async () => {
    const input = ['a river', 'warm light'];
    const ask = (more: { encoding_format?: 'float' | 'base64' }) =>
      client.embeddings.create({ model: 'embed', input, ...more });
    const [floats, decoded, raw] = await Promise.all([
      ask({ encoding_format: 'float' }),
      ask({}),
      ask({ encoding_format: 'base64' }),
    ]);
    assert.equal(floats.data.length, 2);
    for (const [index, { embedding }] of floats.data.entries()) {
      assert.equal(embedding.length, 64);
      assert.deepEqual(Array.from(decoded.data[index]?.embedding ?? []), embedding);
      assert.equal(typeof raw.data[index]?.embedding, 'string');
    }
    assert.notDeepEqual(floats.data[0]?.embedding, floats.data[1]?.embedding);
  });
});

describe('openai post("/rerank")', () => {
  it('gets the documents in the order of their relevance', async () => {
    const body = {
      model: 'rank',
      query: 'warm light',
      documents: ['no word of it', 'warm light at noon', 'some light'],
    };
    const answer = await client.post<{ results: { index: number }[] }>('/rerank', { body });
    assert.deepEqual(
      answer.results.map(({ index }) => index),
      [1, 2, 0],
    );
  });
});

describe('openai models', () => {
  it('lists every model of every engine', async () => {
    const models = await Array.fromAsync(client.models.list());
    assert.deepEqual(models.map(({ id }) => id).toSorted(), ['acme/chat', 'chat', 'embed', 'paced', 'rank']);
  });

  it('finds a model whose ID holds a slash, percent-encoded and raw (E10)', async () => {
    assert.equal((await client.models.retrieve('acme/chat')).id, 'acme/chat');
    const raw = await fetch(`${site.router.url}/v1/models/acme/chat`, { headers: BEARER });
    assert.equal(((await raw.json()) as { id: string }).id, 'acme/chat');
    await assert.rejects(client.models.retrieve('acme/none'), OpenAI.NotFoundError);
  });
});
