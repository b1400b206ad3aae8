import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVENT_MAX } from '../../../src/dispatch/providers/event-reader.ts';
import type { StreamConversion } from '../../../src/dispatch/providers/stream-conversion.ts';
import { StreamToAnthropic } from '../../../src/dispatch/providers/stream-to-anthropic.ts';
import { StreamToOpenai } from '../../../src/dispatch/providers/stream-to-openai.ts';
import { NOW_MS } from './golden.ts';

/** What the last of these events is refused for. */
function faultOf(conversion: StreamConversion, events: readonly unknown[]): string | undefined {
  let fault: string | undefined;
  for (const event of events) {
    const made = conversion.next({ data: typeof event === 'string' ? event : JSON.stringify(event) });
    fault = made.ok ? undefined : made.fault.message.replace('The provider broke off its answer: ', '');
  }
  return fault;
}

describe('StreamToOpenai', () => {
  const start = { type: 'message_start', message: { id: 'm', model: 'c', usage: { input_tokens: 1 } } };
  const text = (index: number) => ({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } });
  const delta = (index: number) => ({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'x' } });
  const stop = (index: number) => ({ type: 'content_block_stop', index });
  const convert = () => new StreamToOpenai({ nowMs: NOW_MS, includeUsage: false, secret: 'sk' });

  it('refuses events out of their order', () => {
    assert.equal(faultOf(convert(), [text(0)]), 'it did not begin.');
    assert.equal(faultOf(convert(), [start, start]), 'it began twice.');
    assert.equal(faultOf(convert(), [start, text(0), text(1)]), 'a block began within another.');
    assert.equal(faultOf(convert(), [start, delta(0)]), 'a part belongs to no open block.');
    assert.equal(faultOf(convert(), [start, text(0), delta(1)]), 'a part belongs to no open block.');
    assert.equal(faultOf(convert(), [start, text(0), stop(1)]), 'a block ended that is not open.');
    assert.equal(faultOf(convert(), [start, { type: 'message_stop' }]), 'it ended without a reason.');
    assert.equal(faultOf(convert(), [start, text(0), delta(0), stop(0), text(1)]), undefined);
  });

  it('tells one reason, the first', () => {
    const reason = (word: string) => ({ type: 'message_delta', delta: { stop_reason: word } });
    const conversion = convert();
    const made = [start, reason('max_tokens'), reason('end_turn')].map((event) => {
      return conversion.next({ data: JSON.stringify(event) });
    });
    assert.ok(made[1]?.ok && made[1].value.includes('"finish_reason":"length"'));
    assert.deepEqual(made[2], { ok: true, value: '' });
  });

  it('refuses members that are not as documented', () => {
    const wrong = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 7 } };
    assert.equal(faultOf(convert(), [start, text(0), wrong]), '"text" is not as documented.');
    assert.equal(faultOf(convert(), [{ type: 'message_start' }]), '"message" is not as documented.');
  });
});

describe('StreamToAnthropic', () => {
  const chunk = (delta: object, finish: string | null = null) => ({
    id: 'c',
    model: 'g',
    choices: [{ delta, finish_reason: finish }],
  });
  const call = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] });
  const first = call(0, { id: 'a', function: { name: 'f', arguments: '' } });
  const second = call(1, { id: 'b', function: { name: 'g', arguments: '' } });

  const said = (index: number, text: string) => call(index, { function: { arguments: text } });

  it('breaks off when a call cannot be run, unless it was cut off for its length: SDKs complete what they get', () => {
    const broken = 'the arguments of a tool call are no JSON object.';
    const ends = (...events: readonly unknown[]) => faultOf(new StreamToAnthropic('sk'), [...events, '[DONE]']);
    for (const text of ['{"a": ', '[1]', '{"path": "/"} x']) {
      assert.equal(ends(first, said(0, text), chunk({}, 'tool_calls')), broken);
      assert.equal(ends(first, said(0, text), chunk({}, 'stop')), broken);
      assert.equal(ends(first, said(0, text), second, chunk({}, 'tool_calls')), broken);
      assert.equal(ends(first, said(0, text), chunk({}, 'length')), undefined);
    }
    assert.equal(ends(first, said(0, '{"a"'), said(0, ': 1}'), chunk({}, 'tool_calls')), undefined);
  });

  it(`holds ${EVENT_MAX} characters of a call, and breaks off at one more`, () => {
    const part = 'x'.repeat(EVENT_MAX / 2);
    const filled = [first, said(0, part), said(0, part)];
    assert.equal(faultOf(new StreamToAnthropic('sk'), filled), undefined);
    const rule = `a tool call is longer than ${EVENT_MAX} characters.`;
    assert.equal(faultOf(new StreamToAnthropic('sk'), [...filled, said(0, 'x')]), rule);
  });

  it('refuses what Anthropic\u2019s blocks cannot tell', () => {
    const mixed = 'parts of several tool calls are mixed.';
    assert.equal(
      faultOf(new StreamToAnthropic('sk'), [first, second, call(0, { function: { arguments: 'x' } })]),
      mixed,
    );
    assert.equal(faultOf(new StreamToAnthropic('sk'), [second]), mixed);
    const nameless = 'a tool call began without its ID or name.';
    assert.equal(faultOf(new StreamToAnthropic('sk'), [call(0, { function: { name: 'f' } })]), nameless);
    assert.equal(faultOf(new StreamToAnthropic('sk'), [call(0, { id: 'a' })]), nameless);
    assert.equal(faultOf(new StreamToAnthropic('sk'), ['[DONE]']), 'it ended without a reason.');
    assert.equal(faultOf(new StreamToAnthropic('sk'), [chunk({}), '[DONE]']), 'it ended without a reason.');
    assert.equal(faultOf(new StreamToAnthropic('sk'), [{ id: 'c' }]), '"model" is not as documented.');
    assert.equal(faultOf(new StreamToAnthropic('sk'), [first, second, chunk({}, 'tool_calls'), '[DONE]']), undefined);
  });
});
