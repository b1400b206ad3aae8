// There and back: what the one conversion makes of a request, an answer or a stream, the other must make undone, up to
// what docs/providers.md calls normalised.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { answerToAnthropic } from '../../../src/dispatch/providers/answer-to-anthropic.ts';
import { answerToOpenai } from '../../../src/dispatch/providers/answer-to-openai.ts';
import { requestToAnthropic } from '../../../src/dispatch/providers/request-to-anthropic.ts';
import { requestToOpenai } from '../../../src/dispatch/providers/request-to-openai.ts';
import type { StreamConversion } from '../../../src/dispatch/providers/stream-conversion.ts';
import { StreamToAnthropic } from '../../../src/dispatch/providers/stream-to-anthropic.ts';
import { StreamToOpenai } from '../../../src/dispatch/providers/stream-to-openai.ts';
import type { Result } from '../../../src/lib/result.ts';
import { NOW_MS, onWire } from './golden.ts';

function sound<Value>(result: Result<Value, unknown>): Value {
  if (!result.ok) assert.fail(JSON.stringify(result.fault));
  return result.value;
}

const text = fc.string({ minLength: 1, unit: 'binary' });
const id = fc.stringMatching(/^[a-z]{1,8}$/);
const input = fc.dictionary(id, fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(text)));
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const toolUse = fc.record({ type: fc.constant('tool_use'), id, name: id, input });
const textBlock = fc.record({ type: fc.constant('text'), text });
const image = fc.oneof(
  fc.record({
    type: fc.constant('image'),
    source: fc.record({
      type: fc.constant('base64'),
      media_type: fc.constantFrom('image/png', 'image/jpeg', 'image/gif', 'image/webp'),
      data: fc.base64String(),
    }),
  }),
  fc.record({
    type: fc.constant('image'),
    source: fc.record({ type: fc.constant('url'), url: fc.webUrl({ validSchemes: ['https'] }) }),
  }),
);

/** One text is written as text, as the conversions do. */
const short = (blocks: readonly { type: string; text?: string }[]) =>
  blocks.length === 1 && blocks[0]?.type === 'text' ? blocks[0].text : blocks;

const assistantTurn = fc
  .tuple(fc.array(textBlock, { maxLength: 2 }), fc.array(toolUse, { maxLength: 3 }))
  .filter(([texts, calls]) => texts.length + calls.length > 0)
  .map(([texts, calls]) => ({ role: 'assistant', content: short([...texts, ...calls]) }));

const toolResult = fc.record({ type: fc.constant('tool_result'), tool_use_id: id, content: text });
const userTurn = fc
  .tuple(fc.array(toolResult, { maxLength: 2 }), fc.array(fc.oneof(textBlock, image), { minLength: 1, maxLength: 3 }))
  .map(([results, blocks]) => ({ role: 'user', content: short([...results, ...blocks]) }));

const parallel = { disable_parallel_tool_use: optional(fc.constant(true)) };
const anthropicRequest = fc
  .record({
    model: fc.constant('m'),
    max_tokens: fc.nat(),
    turns: fc.array(fc.tuple(userTurn, assistantTurn), { minLength: 1, maxLength: 3 }),
    system: optional(text),
    temperature: optional(fc.double({ min: 0, max: 1, noNaN: true })),
    top_p: optional(fc.double({ min: 0, max: 1, noNaN: true })),
    stop_sequences: optional(fc.array(text, { maxLength: 4 })),
    tools: optional(
      fc.array(
        fc.record({ name: id, description: optional(text), input_schema: input, strict: optional(fc.constant(true)) }),
        { minLength: 1, maxLength: 2 },
      ),
    ),
    metadata: optional(fc.record({ user_id: text })),
    choice: optional(
      fc.oneof(
        fc.record({ type: fc.constant('none') }),
        fc.record({ type: fc.constantFrom('auto', 'any'), ...parallel }),
        fc.record({ type: fc.constant('tool'), name: id, ...parallel }),
      ),
    ),
    effort: optional(fc.constantFrom('low', 'medium', 'high', 'xhigh', 'max')),
    format: optional(fc.record({ type: fc.constant('json_schema'), schema: input })),
  })
  .map(({ turns, choice, effort, format, ...request }) => ({
    ...request,
    messages: [...turns.flat(), { role: 'user', content: 'Go on' }],
    tool_choice: request.tools === undefined ? undefined : choice,
    output_config: effort === undefined && format === undefined ? undefined : { effort, format },
  }));

describe('a request', () => {
  it('from Anthropic\u2019s dialect to OpenAI\u2019s and back is the same', () => {
    fc.assert(
      fc.property(anthropicRequest, (drawn) => {
        const request = onWire(drawn);
        const there = onWire(sound(requestToOpenai(request, 'm')));
        assert.deepEqual(onWire(sound(requestToAnthropic(there, 'm'))), request);
      }),
    );
  });

  it('from OpenAI\u2019s dialect to Anthropic\u2019s, back, and there again is the same', () => {
    fc.assert(
      fc.property(anthropicRequest, (drawn) => {
        const openai = onWire(sound(requestToOpenai(onWire(drawn), 'm')));
        const there = onWire(sound(requestToAnthropic(openai, 'm')));
        assert.deepEqual(onWire(sound(requestToOpenai(there, 'm'))), openai);
      }),
    );
  });
});

const counts = fc.record({
  input_tokens: fc.nat(),
  cache_creation_input_tokens: fc.nat(),
  cache_read_input_tokens: fc.nat(),
  output_tokens: fc.nat(),
  output_tokens_details: fc.record({ thinking_tokens: fc.nat() }),
});

/** Words, then calls: the order that both dialects can tell. */
const answerContent = fc
  .tuple(fc.array(text, { maxLength: 1 }), fc.array(toolUse, { maxLength: 3 }))
  .filter(([texts, calls]) => texts.length + calls.length > 0);

describe('an answer', () => {
  it('from Anthropic\u2019s dialect to OpenAI\u2019s and back is the same', () => {
    fc.assert(
      fc.property(answerContent, counts, ([texts, calls], usage) => {
        const message = {
          id: 'msg',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [
            ...texts.map((said) => ({ type: 'text', text: said, citations: null })),
            ...calls.map((call) => ({ ...call, caller: { type: 'direct' } })),
          ],
          stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
          stop_sequence: null,
          stop_details: null,
          usage,
        };
        const there = onWire(sound(answerToOpenai(onWire(message), NOW_MS)).document);
        assert.deepEqual(onWire(sound(answerToAnthropic(there)).document), onWire(message));
      }),
    );
  });
});

/** The data of every event that the conversion makes of these; an SSE stream has one `data:` line an event here. */
function through(conversion: StreamConversion, events: readonly unknown[]): unknown[] {
  const made = events.map((event) => {
    return sound(conversion.next({ data: typeof event === 'string' ? event : JSON.stringify(event) }));
  });
  assert.ok(conversion.isOver);
  return [...made.join('').matchAll(/^data: (.*)$/gm)].map(([, data = '']) =>
    data === '[DONE]' ? data : JSON.parse(data),
  );
}

/** A call's arguments in two parts. */
const pieces = fc.tuple(input, fc.nat()).map(([value, at]) => {
  const whole = JSON.stringify(value);
  const cut = 1 + (at % (whole.length - 1));
  return [whole.slice(0, cut), whole.slice(cut)];
});

const openaiStream = fc
  .tuple(fc.array(text, { maxLength: 3 }), fc.array(fc.tuple(id, id, pieces), { maxLength: 3 }))
  .map(([texts, calls]) => {
    const chunk = (delta: object, finish: string | null = null) => ({
      id: 'chatcmpl',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'm',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    });
    const call = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] });
    return [
      chunk({ role: 'assistant', content: '' }),
      ...texts.map((content) => chunk({ content })),
      ...calls.flatMap(([callId, name, parts], index) => [
        call(index, { id: callId, type: 'function', function: { name, arguments: '' } }),
        ...parts.map((part) => call(index, { function: { arguments: part } })),
      ]),
      chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      '[DONE]',
    ];
  });

describe('a stream', () => {
  it('from OpenAI\u2019s dialect to Anthropic\u2019s and back is the same, chunk for chunk', () => {
    fc.assert(
      fc.property(openaiStream, (events) => {
        const there = through(new StreamToAnthropic('sk'), events);
        assert.deepEqual(
          through(new StreamToOpenai({ nowMs: NOW_MS, includeUsage: false, secret: 'sk' }), there),
          events,
        );
      }),
    );
  });
});
