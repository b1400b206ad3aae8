import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONVERTED_VALUES_MAX, convertRequest } from '../../../src/dispatch/providers/conversion.ts';
import { requestToAnthropic } from '../../../src/dispatch/providers/request-to-anthropic.ts';
import { requestToOpenai } from '../../../src/dispatch/providers/request-to-openai.ts';
import { decodeUtf8 } from '../../../src/lib/utf8.ts';
import type { Dialect } from '../../../src/routing/endpoint.ts';
import { goldenCases, modelBody, NOW_MS, onWire } from './golden.ts';

/** As on the way to a provider: bytes in, document out; the sentence when it is refused. */
function convert(from: Dialect, to: Dialect, text: string): unknown {
  const converted = convertRequest(modelBody(text), { from, to, model: 'target', secret: 'sk', nowMs: NOW_MS });
  return converted.ok ? decodeUtf8(converted.value.body) : converted;
}

const USER = { role: 'user', content: 'Hi' };
const OPENAI = { model: 'm', messages: [USER] };
const ANTHROPIC = { model: 'm', max_tokens: 10, messages: [USER] };

describe('requestToAnthropic()', () => {
  for (const { name, in: document, out } of goldenCases('request-to-anthropic')) {
    it(`converts ${name}`, () => {
      const converted = requestToAnthropic(document, 'target');
      assert.ok(converted.ok, JSON.stringify(converted));
      assert.deepEqual(onWire(converted.value), out);
    });
  }

  it('converts no request into the same one twice: what the client sent stays as it was', () => {
    const document = Object.freeze({ ...OPENAI, messages: Object.freeze([Object.freeze(USER)]) });
    assert.deepEqual(requestToAnthropic(document, 'a'), requestToAnthropic(document, 'a'));
  });

  const assistant = (more: object) => ({ messages: [USER, { role: 'assistant', ...more }] });
  const call = (name: string, text: string) => ({ id: 'c', type: 'function', function: { name, arguments: text } });
  const part = (more: object) => ({ messages: [{ role: 'user', content: [more] }] });
  const image = (url: string) => part({ type: 'image_url', image_url: { url } });

  const refused: readonly (readonly [request: object, where: string, why: string])[] = [
    [{ top_k: 1 }, 'top_k', 'has no counterpart'],
    [{ n: 2 }, 'n', 'can only be 1'],
    [{ logprobs: true }, 'logprobs', 'can only be false'],
    [{ top_logprobs: 2 }, 'top_logprobs', 'can only be 0'],
    [{ frequency_penalty: 0.1 }, 'frequency_penalty', 'can only be 0'],
    [{ presence_penalty: -1 }, 'presence_penalty', 'can only be 0'],
    [{ logit_bias: { 50256: -100 } }, 'logit_bias', 'has no counterpart'],
    [{ store: true }, 'store', 'can only be false'],
    [{ verbosity: 'low' }, 'verbosity', 'can only be "medium"'],
    [{ modalities: ['text', 'audio'] }, 'modalities.1', 'can only be text'],
    [{ audio: { voice: 'x', format: 'mp3' } }, 'audio', 'has no counterpart'],
    [{ moderation: {} }, 'moderation', 'has no counterpart'],
    [{ web_search_options: {} }, 'web_search_options', 'has no counterpart'],
    [{ function_call: 'auto' }, 'function_call', 'has no counterpart'],
    [{ functions: [{ name: 'f' }] }, 'functions', 'has no counterpart'],
    [{ reasoning_effort: 'minimal' }, 'reasoning_effort', 'must be one of'],
    [{ response_format: { type: 'json_object' } }, 'response_format.type', '"json_object" has no counterpart'],
    [{ temperature: 1.01 }, 'temperature', 'above 1 has no counterpart'],
    [{ temperature: -0.1 }, 'temperature', 'must be 0 to 1'],
    [{ temperature: '1' }, 'temperature', 'must be a number'],
    [{ stop: [1] }, 'stop.0', 'must be a string'],
    [{ stop: 7 }, 'stop', 'must be a list'],
    [{ stream: 'yes' }, 'stream', 'must be true or false'],
    [{ stream_options: { other: 1 } }, 'stream_options.other', 'has no counterpart'],
    [{ messages: 'Hi' }, 'messages', 'must be a list'],
    [{ messages: [{ role: 'function', name: 'f', content: '' }] }, 'messages.0.role', '"function" has no counterpart'],
    [{ messages: [{ content: 'x' }] }, 'messages.0.role', 'must name a kind that converts'],
    [{ messages: [{ ...USER, name: 'Ann' }] }, 'messages.0.name', 'has no counterpart'],
    [{ messages: [{ ...USER, tone: 'kind' }] }, 'messages.0.tone', 'has no counterpart'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.tool_call_id', 'is required'],
    [part({ type: 'input_audio', input_audio: {} }), 'messages.0.content.0.type', '"input_audio" has no counterpart'],
    [part({ type: 'file', file: {} }), 'messages.0.content.0.type', '"file" has no counterpart'],
    [image('http://example.com/a.png'), 'messages.0.content.0.image_url.url', 'must be an https URL or'],
    [image('data:image/svg+xml;base64,aGk='), 'messages.0.content.0.image_url.url', 'must be an https URL or'],
    [image('data:image/png,aGk='), 'messages.0.content.0.image_url.url', 'must be an https URL or'],
    [assistant({ content: null, audio: { id: 'a' } }), 'messages.1.audio', 'has no counterpart'],
    [
      assistant({ tool_calls: [call('f', '[1]')] }),
      'messages.1.tool_calls.0.function.arguments',
      'must be the text of a JSON object',
    ],
    [assistant({ tool_calls: [call('f', '{"a"')] }), 'messages.1.tool_calls.0.function.arguments', 'must be the text'],
    [assistant({ tool_calls: [{ id: 'c', type: 'custom', custom: {} }] }), 'messages.1.tool_calls.0.type', 'must be'],
    [{ tools: [{ type: 'custom', custom: { name: 'f' } }] }, 'tools.0.type', '"custom" has no counterpart'],
    [{ tool_choice: { type: 'allowed_tools' } }, 'tool_choice.type', '"allowed_tools" has no counterpart'],
    [{ tool_choice: 'any' }, 'tool_choice', 'must be one of none, auto, required'],
  ];
  for (const [members, where, why] of refused) {
    it(`refuses ${JSON.stringify(members).slice(0, 90)} and names ${where}`, () => {
      const converted = requestToAnthropic({ ...OPENAI, ...members }, 'target');
      assert.ok(!converted.ok, JSON.stringify(converted));
      assert.ok(converted.fault.startsWith(`"${where}" ${why}`), converted.fault);
    });
  }

  it('refuses a turn that says nothing, which Anthropic does not take', () => {
    for (const messages of [[{ ...USER, content: '' }], [USER, { role: 'assistant', content: null }]]) {
      const converted = requestToAnthropic({ ...OPENAI, messages }, 'target');
      assert.ok(!converted.ok && converted.fault.endsWith('that says nothing'));
    }
  });
});

describe('requestToOpenai()', () => {
  for (const { name, in: document, out } of goldenCases('request-to-openai')) {
    it(`converts ${name}`, () => {
      const converted = requestToOpenai(document, 'target');
      assert.ok(converted.ok, JSON.stringify(converted));
      assert.deepEqual(onWire(converted.value), out);
    });
  }

  const block = (role: string, more: object) => ({ messages: [{ role, content: [more] }] });
  const result = (more: object) => block('user', { type: 'tool_result', tool_use_id: 't', ...more });
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
  const toolUse = { type: 'tool_use', id: 't', name: 'f', input: {} };

  const refused: readonly (readonly [request: object, where: string, why: string])[] = [
    [{ top_k: 5 }, 'top_k', 'has no counterpart'],
    [{ stop_sequences: ['a', 'b', 'c', 'd', 'e'] }, 'stop_sequences', 'can have 4 at most'],
    [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, 'thinking.type', '"enabled" has no counterpart'],
    [{ thinking: { type: 'between_tools' } }, 'thinking.type', '"between_tools" has no counterpart'],
    [{ container: 'c' }, 'container', 'has no counterpart'],
    [{ inference_geo: 'eu' }, 'inference_geo', 'has no counterpart'],
    [{ mcp_servers: [{}] }, 'mcp_servers', 'has no counterpart'],
    [{ context_management: {} }, 'context_management', 'has no counterpart'],
    [{ speed: 'fast' }, 'speed', 'can only be "standard"'],
    [{ metadata: { user_id: 'u', team: 't' } }, 'metadata.team', 'has no counterpart'],
    [{ output_config: { effort: 'extreme' } }, 'output_config.effort', 'must be one of'],
    [{ max_tokens: undefined }, 'max_tokens', 'must be a number'],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools.0.type', 'can only be "custom"'],
    [{ tools: [{ name: 'f', input_schema: {}, defer_loading: true }] }, 'tools.0.defer_loading', 'can only be false'],
    [
      { tools: [{ name: 'f', input_schema: {}, input_examples: [{}] }] },
      'tools.0.input_examples',
      'has no counterpart',
    ],
    [{ tool_choice: { type: 'some' } }, 'tool_choice.type', '"some" has no counterpart'],
    [block('user', { type: 'document', source: {} }), 'messages.0.content.0.type', '"document" has no counterpart'],
    [block('user', { ...image, transformations: {} }), 'messages.0.content.0.transformations', 'has no counterpart'],
    [
      block('user', { type: 'image', source: { type: 'file', file_id: 'f' } }),
      'messages.0.content.0.source.type',
      '"file" has no counterpart',
    ],
    [
      block('user', { type: 'text', text: 'a', citations: [{}] }),
      'messages.0.content.0.citations',
      'has no counterpart',
    ],
    [result({ content: [image] }), 'messages.0.content.0.content.0.type', '"image" has no counterpart'],
    [
      block('assistant', { type: 'server_tool_use' }),
      'messages.0.content.0.type',
      '"server_tool_use" has no counterpart',
    ],
    [
      block('assistant', { ...toolUse, caller: { type: 'code_execution_20250825', tool_id: 't' } }),
      'messages.0.content.0.caller.type',
      'can only be "direct"',
    ],
    [block('assistant', { ...toolUse, input: [] }), 'messages.0.content.0.input', 'must be an object'],
  ];
  for (const [members, where, why] of refused) {
    it(`refuses ${JSON.stringify(members).slice(0, 90)} and names ${where}`, () => {
      const converted = requestToOpenai({ ...ANTHROPIC, ...members }, 'target');
      assert.ok(!converted.ok, JSON.stringify(converted));
      assert.ok(converted.fault.startsWith(`"${where}" ${why}`), converted.fault);
    });
  }
});

describe('requestToOpenai() of a request that begins the answer', () => {
  const ending = (content: unknown) => ({ ...ANTHROPIC, messages: [USER, { role: 'assistant', content }] });

  it('refuses it: OpenAI would answer those words, not continue them', () => {
    const fault = '"messages" end with the beginning of the answer, which OpenAI does not continue';
    for (const content of ['{', [{ type: 'text', text: 'It is' }], []]) {
      assert.deepEqual(requestToOpenai(ending(content), 'm'), { ok: false, fault });
    }
    assert.ok(requestToOpenai({ ...ending('{'), messages: [...ending('{').messages, USER] }, 'm').ok);
  });
});

describe('convertRequest()', () => {
  it('leaves every byte but the model to a provider of the same dialect', () => {
    const text = '{ "unknown" : 1.0e2, "model":"m","n":12345678901234567890 }';
    const sent = text.replace('"m"', '"target"');
    for (const dialect of ['openai', 'anthropic'] as const) assert.equal(convert(dialect, dialect, text), sent);
  });

  it('names the provider and the member in one sentence', () => {
    const message = 'The request cannot be converted for Anthropic: "top_k" has no counterpart.';
    const request = JSON.stringify({ ...OPENAI, top_k: 1 });
    assert.deepEqual(convert('openai', 'anthropic', request), { ok: false, fault: message });
    const other = 'The request cannot be converted for OpenAI: "top_k" has no counterpart.';
    const anthropic = JSON.stringify({ ...ANTHROPIC, top_k: 1 });
    assert.deepEqual(convert('anthropic', 'openai', anthropic), { ok: false, fault: other });
  });

  it('keeps numbers that no double holds, and members with the names of prototypes (E6)', () => {
    const schema = '{"type":"object","__proto__":{"const":12345678901234567890},"constructor":{"const":1e400}}';
    const tool = `{"name":"f","input_schema":${schema}}`;
    const request = `{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"Hi"}],"tools":[${tool}]}`;
    assert.ok(String(convert('anthropic', 'openai', request)).includes(`"parameters":${schema}`));
    const input = '{"id":12345678901234567890}';
    const call = JSON.stringify({ id: 'c', type: 'function', function: { name: 'f', arguments: input } });
    const messages = `[{"role":"user","content":"Hi"},{"role":"assistant","content":"","tool_calls":[${call}]}]`;
    const converted = convert('openai', 'anthropic', `{"model":"m","messages":${messages}}`);
    assert.ok(String(converted).includes(`"input":${input}`));
  });

  it('takes a number that no double holds for no object and no amount', () => {
    const request = (more: string) => `{"model":"m","max_tokens":10,"messages":[],${more}}`;
    const schema = convert('anthropic', 'openai', request('"tools":[{"name":"f","input_schema":1e400}]'));
    assert.match(JSON.stringify(schema), /tools\.0\.input_schema.*must be an object/);
    assert.match(JSON.stringify(convert('anthropic', 'openai', request('"top_p":1e400'))), /top_p.*must be a number/);
  });

  it('refuses a document that is nested too deep to be written again', () => {
    const deep = '['.repeat(150_000) + ']'.repeat(150_000);
    const tool = `{"name":"f","input_schema":{"a":${deep}}}`;
    const request = `{"model":"m","max_tokens":10,"messages":[],"tools":[${tool}]}`;
    const fault = 'The request cannot be converted for OpenAI: it is not JSON, or nested too deep.';
    assert.deepEqual(convert('anthropic', 'openai', request), { ok: false, fault });
  });

  it('takes time in proportion to the turns that become one', () => {
    const turns = Array.from({ length: 60_000 }, () => USER);
    const startedMs = performance.now();
    const converted = String(convert('openai', 'anthropic', JSON.stringify({ model: 'm', messages: turns })));
    assert.equal(converted.split('"text":"Hi"').length - 1, turns.length);
    // One copy a turn would be two thousand million steps, and take minutes.
    assert.ok(performance.now() - startedMs < 10_000);
  });

  it('takes a turn of any number of parts', () => {
    const content = Array.from({ length: 66_000 }, () => ({ type: 'text', text: 'x' }));
    const messages = [USER, { role: 'user', content }];
    const converted = String(convert('openai', 'anthropic', JSON.stringify({ model: 'm', messages })));
    assert.equal(converted.split('"text":"x"').length - 1, content.length);
  });

  it('converts 200,000 values and no more, and leaves one dialect alone', () => {
    const request = (count: number) => JSON.stringify({ ...OPENAI, stop: Array.from({ length: count }, () => 'x') });
    const most = CONVERTED_VALUES_MAX - 7;
    assert.equal(CONVERTED_VALUES_MAX, 200_000);
    assert.equal(typeof convert('openai', 'anthropic', request(most)), 'string');
    const fault = 'The request cannot be converted for Anthropic: it is JSON of more than 200000 values.';
    assert.deepEqual(convert('openai', 'anthropic', request(most + 1)), { ok: false, fault });
    assert.equal(typeof convert('openai', 'openai', request(most + 1)), 'string');
  });

  it('repeats no more than a bounded part of a path or kind', () => {
    const request = JSON.stringify({ ...OPENAI, ['x'.repeat(1000)]: 1 });
    const long = convert('openai', 'anthropic', request) as { fault: string };
    assert.ok(long.fault.length < 350, long.fault);
    const kind = convert('openai', 'anthropic', JSON.stringify({ ...OPENAI, tools: [{ type: 'y'.repeat(1000) }] }));
    assert.ok((kind as { fault: string }).fault.length < 250);
  });
});
