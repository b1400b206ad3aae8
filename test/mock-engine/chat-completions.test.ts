import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { digestOf } from '../../src/mock-engine/text.ts';
import { ask, EngineUnderTest, START_MS } from './engine-under-test.ts';

const PATH = '/v1/chat/completions';

/** The JSON of each `data:` line but the last, which must be `[DONE]`. */
function chunksOf(stream: string) {
  const events = stream.split('\n\n');
  assert.deepEqual(events.splice(-2), ['data: [DONE]', '']);
  return events.map((event) => JSON.parse(event.replace(/^data: /, '')));
}

async function stream(body: object) {
  const response = await new EngineUnderTest().post(PATH, { ...body, stream: true });
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  return chunksOf(await response.text());
}

describe('chatCompletions', () => {
  it('answers with the engine, the model, the digest of the prompt and the usage', async () => {
    const response = await new EngineUnderTest().post(PATH, ask('hello', { max_tokens: 6 }));
    assert.deepEqual(await response.json(), {
      id: 'chatcmpl-gpu-1-1',
      object: 'chat.completion',
      created: START_MS / 1000,
      model: 'tiny',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'engine gpu-1, model tiny: prompt 2cf24dba' },
          logprobs: null,
          finish_reason: 'length',
        },
      ],
      usage: { prompt_tokens: 2, completion_tokens: 6, total_tokens: 8 },
    });
  });

  it('answers n times, whole and streamed, and counts the tokens of all', async () => {
    const question = ask('hello', { max_tokens: 6, n: 3 });
    const { choices, usage } = await (await new EngineUnderTest().post(PATH, question)).json();
    assert.deepEqual(
      choices.map(({ index }: { index: number }) => index),
      [0, 1, 2],
    );
    assert.deepEqual(usage, { prompt_tokens: 2, completion_tokens: 18, total_tokens: 20 });
    const chunks = await stream({ ...question, stream_options: { include_usage: true } });
    assert.deepEqual(chunks.at(-1).usage, usage);
    for (const { index, message } of choices) {
      const deltas = chunks.flatMap(({ choices: [choice] }) => (choice?.index === index ? [choice.delta] : []));
      assert.equal(deltas.map(({ content }) => content ?? '').join(''), message.content);
    }
  });

  it('stops by itself without a limit', async () => {
    const { choices, usage } = await (await new EngineUnderTest().post(PATH, ask('hello'))).json();
    assert.equal(choices[0].finish_reason, 'stop');
    assert.equal(usage.completion_tokens, choices[0].message.content.split(' ').length);
  });

  it('gives every request its own ID', async () => {
    const engine = new EngineUnderTest();
    await engine.post(PATH, ask('a'));
    assert.equal((await (await engine.post(PATH, ask('a'))).json()).id, 'chatcmpl-gpu-1-2');
  });

  it('streams the same text, token by token', async () => {
    const whole = await (await new EngineUnderTest().post(PATH, ask('hello'))).json();
    const chunks = await stream(ask('hello'));
    const deltas = chunks.map(({ choices }) => choices[0].delta);
    assert.deepEqual(deltas[0], { role: 'assistant', content: '' });
    assert.deepEqual(deltas.at(-1), {});
    assert.equal(deltas.map(({ content }) => content ?? '').join(''), whole.choices[0].message.content);
    assert.equal(deltas.length, whole.usage.completion_tokens + 2);
    assert.deepEqual(new Set(chunks.slice(0, -1).map(({ choices }) => choices[0].finish_reason)), new Set([null]));
    assert.equal(chunks.at(-1).choices[0].finish_reason, 'stop');
    for (const { id, object, model } of chunks) {
      assert.deepEqual([id, object, model], ['chatcmpl-gpu-1-1', 'chat.completion.chunk', 'tiny']);
    }
  });

  it('ends a stream with usage only when asked to', async () => {
    const limited = ask('hello', { max_tokens: 2 });
    const withUsage = await stream({ ...limited, stream_options: { include_usage: true } });
    assert.deepEqual(withUsage.at(-1).choices, []);
    assert.deepEqual(withUsage.at(-1).usage, { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 });
    assert.equal(withUsage.at(-2).choices[0].finish_reason, 'length');
    for (const options of [{ include_usage: false }, {}, null]) {
      const chunks = await stream({ ...limited, stream_options: options });
      assert.ok(chunks.every((chunk) => !('usage' in chunk)));
    }
  });

  for (const [limits, tokens] of [
    [{ max_tokens: 3 }, 3],
    [{ max_completion_tokens: 4, max_tokens: 3 }, 4],
    [{ min_tokens: 300 }, 300],
    [{ min_tokens: 300, max_tokens: 200 }, 200],
  ] as const) {
    it(`generates ${tokens} tokens for ${JSON.stringify(limits)}`, async () => {
      const { usage } = await (await new EngineUnderTest().post(PATH, ask('hello', limits))).json();
      assert.equal(usage.completion_tokens, tokens);
    });
  }

  for (const [fields, path] of [
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ max_completion_tokens: 0 }, 'max_completion_tokens'],
    [{ min_tokens: 131_073 }, 'min_tokens'],
    [{ min_tokens: -1 }, 'min_tokens'],
    [{ stream: 'yes' }, 'stream'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ content: 'a' }] }, 'messages.0.role'],
  ] as const) {
    it(`refuses ${JSON.stringify(fields)}, naming ${path}`, async () => {
      const response = await new EngineUnderTest().post(PATH, ask('hello', fields));
      assert.equal(response.status, 400);
      assert.ok((await response.json()).error.message.startsWith(`${path}: `));
    });
  }

  it('generates up to 131072 tokens', async () => {
    const response = await new EngineUnderTest().post(PATH, ask('hello', { min_tokens: 131_072 }));
    assert.equal((await response.json()).usage.completion_tokens, 131_072);
  });

  it('reads every text of the messages, whatever holds it', async () => {
    const parts = [
      { type: 'text', text: 'one' },
      { type: 'image_url', image_url: { url: 'data:' } },
      { type: 'text', text: 'two' },
    ];
    const messages = [
      { role: 'system', content: 'zero' },
      { role: 'user', content: parts },
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'assistant' },
    ];
    const response = await new EngineUnderTest().post(PATH, ask('', { messages }));
    assert.ok((await response.json()).choices[0].message.content.includes(digestOf('zero\none\ntwo')));
  });
});
