import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { digestOf } from '../../src/mock-engine/text.ts';
import { ask, EngineUnderTest } from './engine-under-test.ts';

const PATH = '/v1/messages';

async function post(body: object) {
  return (await new EngineUnderTest().post(PATH, body)).json();
}

describe('messages', () => {
  it('answers with the engine, the model, the digest of the prompt and the usage', async () => {
    assert.deepEqual(await post(ask('hello', { max_tokens: 6 })), {
      id: 'msg_gpu-1-1',
      type: 'message',
      role: 'assistant',
      model: 'tiny',
      content: [{ type: 'text', text: 'engine gpu-1, model tiny: prompt 2cf24dba' }],
      stop_reason: 'max_tokens',
      stop_sequence: null,
      usage: { input_tokens: 2, output_tokens: 6 },
    });
  });

  it('stops by itself within the limit', async () => {
    const { stop_reason, usage, content } = await post(ask('hello', { max_tokens: 1000 }));
    assert.equal(stop_reason, 'end_turn');
    assert.equal(usage.output_tokens, content[0].text.split(' ').length);
  });

  it('counts the system text into the prompt, before the messages', async () => {
    for (const system of ['be brief', [{ type: 'text', text: 'be brief' }]]) {
      const { content, usage } = await post(ask('hello', { max_tokens: 6, system }));
      assert.ok(content[0].text.endsWith(digestOf('be brief\nhello')));
      assert.equal(usage.input_tokens, 4);
    }
  });

  it('refuses a body without max_tokens, or with none', async () => {
    for (const more of [{}, { max_tokens: 0 }]) {
      assert.match((await post(ask('hello', more))).error.message, /^max_tokens: /);
    }
  });

  it('streams named events in order, with the same text', async () => {
    const whole = await post(ask('hello', { max_tokens: 3 }));
    const body = ask('hello', { max_tokens: 3, stream: true });
    const response = await new EngineUnderTest().post(PATH, body);
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    const events = (await response.text()).split('\n\n');
    assert.equal(events.pop(), '');
    const data = events.map((event) => {
      const [, name, json] = /^event: (\w+)\ndata: (.+)$/.exec(event) ?? [];
      const value = JSON.parse(json ?? '');
      assert.equal(value.type, name);
      return value;
    });
    assert.deepEqual(
      data.map(({ type }) => type),
      [
        'message_start',
        'content_block_start',
        ...['content_block_delta', 'content_block_delta', 'content_block_delta'],
        'content_block_stop',
        'message_delta',
        'message_stop',
      ],
    );
    const { content: _, stop_reason, stop_sequence, usage, ...message } = whole;
    const { content, usage: usageAtStart, ...start } = data[0].message;
    assert.deepEqual(content, []);
    assert.equal(usageAtStart.input_tokens, 2);
    assert.deepEqual(start, { ...message, stop_reason: null, stop_sequence: null });
    assert.equal(data.map(({ delta }) => delta?.text ?? '').join(''), whole.content[0].text);
    assert.deepEqual(data[6].delta, { stop_reason, stop_sequence });
    assert.deepEqual(data[6].usage, usage);
  });
});

describe('countMessageTokens', () => {
  it('counts what messages then charges', async () => {
    const question = ask('how much is this?', { system: 'count', max_tokens: 1 });
    const response = await new EngineUnderTest().post(`${PATH}/count_tokens`, question);
    assert.deepEqual(await response.json(), { input_tokens: (await post(question)).usage.input_tokens });
  });
});
