// The official `@anthropic-ai/sdk` package against one router, with either of the two headers that it can show a key in.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { API_KEY, type OneSite, PACE, paceOf, showingApiKey, startOneSite } from './one-site.ts';

let site: OneSite;
/** One shows `Authorization: Bearer`, the other `x-api-key` as older versions and the Python package do. */
let clients: readonly Anthropic[];

before(async () => {
  site = await startOneSite();
  const common = { baseURL: site.router.url, maxRetries: 0 };
  clients = [
    new Anthropic({ ...common, apiKey: API_KEY.secret }),
    new Anthropic({ ...common, apiKey: 'unused', defaultHeaders: showingApiKey(API_KEY.secret) }),
  ];
});

after(() => site.kill());

const ASK = { model: 'chat', max_tokens: 64, messages: [{ role: 'user' as const, content: 'Hello' }] };

describe('anthropic messages', () => {
  it('gets the answer of the engine, on x-api-key and on a bearer token (E1)', async () => {
    for (const client of clients) {
      const answer = await client.messages.create(ASK);
      const [block] = answer.content;
      assert.match(block?.type === 'text' ? block.text : '', /^engine fast, model chat: prompt 185f8db3 /);
      assert.equal(answer.stop_reason, 'end_turn');
      assert.equal(answer.usage.input_tokens, 2);
    }
  });

  it('gets a stream whole', async () => {
    for (const client of clients) {
      const [streamed, whole] = await Promise.all([
        client.messages.stream(ASK).finalMessage(),
        client.messages.create(ASK),
      ]);
      assert.deepEqual(streamed.content, whole.content);
      assert.equal(streamed.stop_reason, 'end_turn');
      assert.deepEqual(streamed.usage.output_tokens, whole.usage.output_tokens);
    }
  });

  it('gets a stream event by event, as the engine makes it', async () => {
    const tokens = 16;
    const stream = await clients[0]?.messages.create({ ...ASK, model: 'paced', max_tokens: tokens, stream: true });
    assert.ok(stream);
    const { count, spanMs } = await paceOf(stream);
    assert.ok(count >= tokens, `${count} events`);
    const engineMs = ((tokens - 1) * 1000) / PACE;
    assert.ok(
      spanMs > engineMs * 0.7,
      `all ${count} events within ${spanMs} ms, though the engine took ${engineMs} ms`,
    );
  });

  it('counts the tokens that an answer is charged as input', async () => {
    for (const client of clients) {
      const { max_tokens: _, ...question } = ASK;
      const [counted, answer] = await Promise.all([client.messages.countTokens(question), client.messages.create(ASK)]);
      assert.equal(counted.input_tokens, answer.usage.input_tokens);
    }
  });

  it('is told of an unknown model and of a wrong key in its own error classes', async () => {
    for (const client of clients) {
      const unknown = client.messages.create({ ...ASK, model: 'nobody' });
      await assert.rejects(
        unknown,
        (error) => error instanceof Anthropic.NotFoundError && error.type === 'not_found_error',
      );
    }
    const stranger = new Anthropic({
      baseURL: site.router.url,
      maxRetries: 0,
      apiKey: 'sk-of-nobody',
      authToken: null,
    });
    await assert.rejects(
      stranger.messages.create(ASK),
      (error) => error instanceof Anthropic.AuthenticationError && error.type === 'authentication_error',
    );
  });
});
