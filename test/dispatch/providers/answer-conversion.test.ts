import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerToAnthropic } from '../../../src/dispatch/providers/answer-to-anthropic.ts';
import { answerToOpenai } from '../../../src/dispatch/providers/answer-to-openai.ts';
import { finishReason, stopReason } from '../../../src/dispatch/providers/stop-reason.ts';
import { goldenCases, NOW_MS, onWire } from './golden.ts';

const MESSAGE = { id: 'msg', model: 'c', content: [], stop_reason: 'end_turn', usage: { output_tokens: 1 } };
const CHOICE = { index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' };
const COMPLETION = { id: 'chatcmpl', model: 'g', choices: [CHOICE] };

describe('answerToOpenai()', () => {
  for (const { name, in: document, out } of goldenCases('answer-to-openai')) {
    it(`converts ${name}`, () => {
      const converted = answerToOpenai(document, NOW_MS);
      assert.ok(converted.ok, JSON.stringify(converted));
      assert.deepEqual(onWire(converted.value.document), out);
    });
  }

  it('tells what the answer took, for accounting', () => {
    const usage = { input_tokens: 1, cache_read_input_tokens: 2, cache_creation_input_tokens: 3, output_tokens: 4 };
    const converted = answerToOpenai({ ...MESSAGE, usage }, NOW_MS);
    const tokens = { input: 1, cacheRead: 2, cacheWrite: 3, output: 4, thinking: 0 };
    assert.deepEqual(converted.ok && converted.value.tokens, tokens);
  });

  it('names what is not as documented, and quotes none of it', () => {
    const wrong: readonly (readonly [document: unknown, fault: string])[] = [
      [{ ...MESSAGE, content: 'canary' }, '"content" is not as documented'],
      [{ ...MESSAGE, content: [{ type: 'text', text: 7 }] }, '"content.0.text" is not as documented'],
      [
        { ...MESSAGE, content: [{ type: 'tool_use', id: 't', name: 'f', input: 'canary' }] },
        '"content.0.input" is not',
      ],
      [{ ...MESSAGE, usage: { output_tokens: -1 } }, '"usage.output_tokens" is not as documented'],
      [{ ...MESSAGE, usage: undefined }, '"usage" is not as documented'],
      ['canary', '"" is not as documented'],
      [null, '"" is not as documented'],
    ];
    for (const [document, fault] of wrong) {
      const converted = answerToOpenai(document, NOW_MS);
      assert.ok(!converted.ok && converted.fault.startsWith(fault), JSON.stringify(converted));
      assert.ok(!converted.fault.includes('canary'));
    }
  });
});

describe('answerToAnthropic()', () => {
  for (const { name, in: document, out } of goldenCases('answer-to-anthropic')) {
    it(`converts ${name}`, () => {
      const converted = answerToAnthropic(document);
      assert.ok(converted.ok, JSON.stringify(converted));
      assert.deepEqual(onWire(converted.value.document), out);
    });
  }

  it('counts no token below zero when more come from the cache than were sent', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 5 } };
    const converted = answerToAnthropic({ ...COMPLETION, usage });
    assert.equal(converted.ok && converted.value.tokens.input, 0);
  });

  it('names what is not as documented, and quotes none of it', () => {
    const call = { id: 'c', function: { name: 'f', arguments: { canary: 1 } } };
    const wrong: readonly (readonly [document: unknown, fault: string])[] = [
      [{ ...COMPLETION, choices: [] }, '"choices" is empty'],
      [{ ...COMPLETION, id: 7 }, '"id" is not as documented'],
      [
        { ...COMPLETION, choices: [{ ...CHOICE, message: { tool_calls: [call] } }] },
        '"choices.0.message.tool_calls.0.function.arguments" is not as documented',
      ],
    ];
    for (const [document, fault] of wrong) assert.deepEqual(answerToAnthropic(document), { ok: false, fault });
  });
});

describe('finishReason()', () => {
  it('has a word for each of Anthropic\u2019s, and for one to come', () => {
    const words = {
      end_turn: 'stop',
      stop_sequence: 'stop',
      pause_turn: 'stop',
      max_tokens: 'length',
      model_context_window_exceeded: 'length',
      tool_use: 'tool_calls',
      refusal: 'content_filter',
      to_come: 'stop',
    };
    for (const [reason, word] of Object.entries(words)) assert.equal(finishReason(reason), word);
    assert.equal(finishReason(null), 'stop');
  });
});

describe('stopReason()', () => {
  it('has a word for each of OpenAI\u2019s, and for one to come', () => {
    const words = {
      stop: 'end_turn',
      length: 'max_tokens',
      tool_calls: 'end_turn',
      content_filter: 'refusal',
      to_come: 'end_turn',
    };
    for (const [reason, word] of Object.entries(words)) assert.equal(stopReason(reason, { hasCalls: false }), word);
  });

  it('is tool_use where there are calls, but not where they were cut off', () => {
    assert.equal(stopReason('stop', { hasCalls: true }), 'tool_use');
    assert.equal(stopReason('tool_calls', { hasCalls: true }), 'tool_use');
    assert.equal(stopReason('length', { hasCalls: true }), 'max_tokens');
  });
});
