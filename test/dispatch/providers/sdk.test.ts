// Every converted answer and stream, read by the official SDK of the client's dialect over a real socket.

import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { bytes, json, openStream, startEngine, stopEngines } from '../engines.ts';
import { eventStream, eventText, goldenCases, goldenStreams } from './golden.ts';
import { API_KEY, listen, providerSite, stopListening } from './provider-site.ts';

afterEach(() => {
  stopListening();
  stopEngines();
});

const EVENTS = { 'content-type': 'text/event-stream' };

/** An SDK in front of a router whose provider answers so. */
async function openaiClient(answer: Parameters<typeof startEngine>[0]) {
  const provider = await startEngine(answer);
  const baseURL = `${listen(providerSite({ from: 'openai', to: 'anthropic', url: provider.url }))}/v1`;
  return { provider, client: new OpenAI({ baseURL, apiKey: 'client-key', maxRetries: 0 }) };
}

async function anthropicClient(answer: Parameters<typeof startEngine>[0]) {
  const provider = await startEngine(answer);
  const baseURL = listen(providerSite({ from: 'anthropic', to: 'openai', url: provider.url }));
  return { provider, client: new Anthropic({ baseURL, apiKey: 'client-key', authToken: null, maxRetries: 0 }) };
}

const OPENAI_REQUEST = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
const ANTHROPIC_REQUEST = { ...OPENAI_REQUEST, max_tokens: 10 };
const TOOL = { name: 'f', input_schema: { type: 'object' as const } };

describe('the OpenAI SDK', () => {
  for (const { name, in: answer, out } of goldenCases('answer-to-openai')) {
    it(`reads an answer of Anthropic: ${name}`, async () => {
      const { client, provider } = await openaiClient(json(200, answer));
      assert.deepEqual(JSON.parse(JSON.stringify(await client.chat.completions.create(OPENAI_REQUEST))), out);
      const [seen] = provider.seen;
      assert.equal(seen?.target, '/v1/messages');
      assert.equal(seen?.headers['x-api-key'], API_KEY);
      assert.equal(seen?.headers['authorization'], undefined);
    });
  }

  for (const { name, in: events, out, includeUsage = false } of goldenStreams('stream-to-openai')) {
    it(`reads a stream of Anthropic: ${name}`, async () => {
      const { client } = await openaiClient(bytes(200, eventStream('anthropic', events), EVENTS));
      const stream = await client.chat.completions.create({
        ...OPENAI_REQUEST,
        stream: true,
        stream_options: { include_usage: includeUsage },
      });
      const chunks: unknown[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      assert.deepEqual([...chunks, '[DONE]'], out);
    });
  }

  it('puts a stream of Anthropic with tool calls together as it does its own', async () => {
    const events = goldenStreams('stream-to-openai')[1]?.in ?? [];
    const { client } = await openaiClient(bytes(200, eventStream('anthropic', events), EVENTS));
    const completion = await client.chat.completions.stream({ ...OPENAI_REQUEST, stream: true }).finalChatCompletion();
    const [choice] = completion.choices;
    assert.equal(choice?.message.content, 'Look:');
    assert.equal(choice?.finish_reason, 'tool_calls');
    assert.deepEqual(
      choice?.message.tool_calls?.map((call) => call.type === 'function' && [call.id, call.function.arguments]),
      [
        ['t1', '{"a": 1}'],
        ['t2', '{}'],
      ],
    );
  });

  it('gets each chunk while the provider still holds back the next', async () => {
    const stream = openStream();
    const { client } = await openaiClient(stream.answer);
    const asking = client.chat.completions.create({ ...OPENAI_REQUEST, stream: true });
    const provider = await stream.started;
    const events = goldenStreams('stream-to-openai')[0]?.in ?? [];
    const write = (index: number) => provider.write(eventText('anthropic', events[index]));
    write(0);
    const chunks = (await asking)[Symbol.asyncIterator]();
    assert.equal((await chunks.next()).value?.choices[0]?.delta.role, 'assistant');
    write(1);
    for (const [index, text] of [
      [3, 'Hel'],
      [4, 'lo'],
    ] as const) {
      write(index);
      assert.equal((await chunks.next()).value?.choices[0]?.delta.content, text);
    }
    for (const index of [5, 6, 7]) write(index);
    assert.equal((await chunks.next()).value?.choices[0]?.finish_reason, 'stop');
    assert.ok((await chunks.next()).done);
  });

  it('throws at an error in the middle of Anthropic\u2019s stream', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const events = [...(goldenStreams('stream-to-openai')[0]?.in.slice(0, 4) ?? []), error];
    const { client } = await openaiClient(bytes(200, eventStream('anthropic', events), EVENTS));
    const stream = await client.chat.completions.create({ ...OPENAI_REQUEST, stream: true });
    const read: unknown[] = [];
    await assert.rejects(async () => {
      for await (const chunk of stream) read.push(chunk.choices[0]?.delta.content);
    }, /Overloaded/);
    assert.deepEqual(read, ['', 'Hel']);
  });
});

describe('the Anthropic SDK', () => {
  for (const { name, in: answer, out } of goldenCases('answer-to-anthropic')) {
    it(`reads an answer of OpenAI: ${name}`, async () => {
      const { client, provider } = await anthropicClient(json(200, answer));
      assert.deepEqual(JSON.parse(JSON.stringify(await client.messages.create(ANTHROPIC_REQUEST))), out);
      const [seen] = provider.seen;
      assert.equal(seen?.target, '/v1/chat/completions');
      assert.equal(seen?.headers['authorization'], `Bearer ${API_KEY}`);
      assert.equal(seen?.headers['x-api-key'], undefined);
    });
  }

  for (const { name, in: events, out } of goldenStreams('stream-to-anthropic')) {
    it(`reads a stream of OpenAI: ${name}`, async () => {
      const { client, provider } = await anthropicClient(bytes(200, eventStream('openai', events), EVENTS));
      const stream = await client.messages.create({ ...ANTHROPIC_REQUEST, stream: true });
      const read: unknown[] = [];
      for await (const event of stream) read.push(event);
      assert.deepEqual(read, out);
      assert.deepEqual(JSON.parse(String(provider.seen[0]?.body)).stream_options, { include_usage: true });
    });
  }

  it('puts a stream of OpenAI with tool calls together as it does its own', async () => {
    const events = goldenStreams('stream-to-anthropic')[1]?.in ?? [];
    const { client } = await anthropicClient(bytes(200, eventStream('openai', events), EVENTS));
    const message = await client.messages.stream({ ...ANTHROPIC_REQUEST, tools: [TOOL] }).finalMessage();
    assert.equal(message.stop_reason, 'tool_use');
    assert.deepEqual(
      message.content.map((block) => (block.type === 'tool_use' ? block.input : block.type)),
      ['text', { a: 1 }, {}],
    );
  });

  it('knows the use of tokens of a stream of OpenAI at its end', async () => {
    const events = goldenStreams('stream-to-anthropic')[0]?.in ?? [];
    const { client } = await anthropicClient(bytes(200, eventStream('openai', events), EVENTS));
    const { usage } = await client.messages.stream(ANTHROPIC_REQUEST).finalMessage();
    assert.deepEqual([usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens], [10, 20, 7]);
  });

  it('gets each event while the provider still holds back the next', async () => {
    const stream = openStream();
    const { client } = await anthropicClient(stream.answer);
    const asking = client.messages.create({ ...ANTHROPIC_REQUEST, stream: true });
    const provider = await stream.started;
    const chunks = goldenStreams('stream-to-anthropic')[0]?.in ?? [];
    const write = (index: number) => provider.write(eventText('openai', chunks[index]));
    write(0);
    const events = (await asking)[Symbol.asyncIterator]();
    const next = async () => (await events.next()).value?.type;
    assert.equal(await next(), 'message_start');
    write(1);
    assert.deepEqual([await next(), await next()], ['content_block_start', 'content_block_delta']);
    write(2);
    assert.equal(await next(), 'content_block_delta');
    for (const index of [3, 4, 5]) write(index);
    assert.deepEqual(
      [await next(), await next(), await next()],
      ['content_block_stop', 'message_delta', 'message_stop'],
    );
  });

  it('throws at an error in the middle of OpenAI\u2019s stream', async () => {
    const error = { error: { type: 'server_error', code: null, message: 'It broke' } };
    const events = [...(goldenStreams('stream-to-anthropic')[0]?.in.slice(0, 2) ?? []), error];
    const { client } = await anthropicClient(bytes(200, eventStream('openai', events), EVENTS));
    await assert.rejects(client.messages.stream(ANTHROPIC_REQUEST).finalMessage(), /It broke/);
  });
});
