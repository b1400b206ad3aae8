// Reading tokens and text off a stream on its way, against its floor: finding the ends of the lines. It sees every chunk of every
// stream, most of which tell nothing.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { EventMeter } from '../src/dispatch/meter.ts';
import { type Measured, report } from './report.ts';

const DELTA = {
  id: 'chatcmpl-0123456789abcdef',
  object: 'chat.completion.chunk',
  created: 1_780_000_000,
  model: 'llama-3-70b',
  choices: [{ index: 0, delta: { content: ' word' }, finish_reason: null }],
};
const EVENT = `data: ${JSON.stringify(DELTA)}\n\n`;
const EVENT_WITH_NULL = `data: ${JSON.stringify({ ...DELTA, usage: null })}\n\n`;
const LAST = `data: ${JSON.stringify({ ...DELTA, choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } })}\n\n`;

function reading(name: string, event: string, events: number): Measured {
  const chunk = Buffer.from(event.repeat(events));
  const meter = new EventMeter('openai');
  const run = (): void => meter.take(chunk);
  const floor = (): number => {
    let lines = 0;
    for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) lines += 1;
    return lines;
  };
  run();
  const checked = new EventMeter('openai');
  checked.take(chunk);
  checked.take(Buffer.from(LAST));
  assert.deepEqual(checked.read().use, { inputTokens: 5, outputTokens: 7 });
  return { name: `${name}, ${chunk.length} bytes`, run, floor, atMost: 16 };
}

await report('Tokens on the way', [
  reading('one event', EVENT, 1),
  reading('one event with "usage":null', EVENT_WITH_NULL, 1),
  reading('300 events at once', EVENT, 300),
]);
