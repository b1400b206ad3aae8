import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { DocumentMeter, EventMeter, LINE_MAX_BYTES, type Meter, type Reading } from '../../src/dispatch/meter.ts';
import { encodeUtf8 } from '../../src/lib/utf8.ts';
import type { Dialect } from '../../src/routing/endpoint.ts';

const use = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });

const OPENAI = [
  '{"choices":[{"delta":{"content":"Grüße \u{1F600} \\"usage\\":{"}}],"usage":null}',
  '{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}',
  '[DONE]',
];

const ANTHROPIC = [
  '{"type":"message_start","message":{"content":[],"usage":{"input_tokens":5,"output_tokens":1}}}',
  '{"type":"content_block_delta","delta":{"text":"Grüße \u{1F600}"}}',
  '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}',
  '{"type":"message_stop"}',
];

const WHOLE: Omit<Reading, 'seenTokens'> = { use: use(5, 7), lastWord: 'said' };

function told({ use, lastWord }: Reading): Omit<Reading, 'seenTokens'> {
  return { use, lastWord };
}

function text(documents: readonly string[], newline = '\n'): string {
  return documents.map((document) => `event: x${newline}data: ${document}${newline}${newline}`).join('');
}

function readAll(meter: Meter, ...chunks: readonly (string | Uint8Array)[]): Reading {
  for (const chunk of chunks) meter.take(typeof chunk === 'string' ? encodeUtf8(chunk) : chunk);
  return meter.read();
}

const readEvents = (events: string, dialect: Dialect = 'openai') => readAll(new EventMeter(dialect), events);

describe('EventMeter', () => {
  for (const newline of ['\n', '\r\n', '\r']) {
    it(`reads events whose lines end in ${JSON.stringify(newline)}`, () => {
      assert.deepEqual(told(readEvents(text(OPENAI, newline))), WHOLE);
      assert.deepEqual(told(readEvents(text(ANTHROPIC, newline), 'anthropic')), WHOLE);
    });
  }

  it('reads the same however the bytes are cut, and changes none', () => {
    const streams = fc.constantFrom(
      ...['\n', '\r\n', '\r'].flatMap((newline) => [
        { dialect: 'openai' as const, events: text(OPENAI, newline) },
        { dialect: 'anthropic' as const, events: text(ANTHROPIC, newline) },
        { dialect: 'openai' as const, events: text(OPENAI, newline).trimEnd() },
        { dialect: 'openai' as const, events: text([OPENAI[0] ?? '', 'x'.repeat(LINE_MAX_BYTES)], newline) },
      ]),
    );
    const cuts = fc.array(fc.nat(600), { maxLength: 40 });
    void fc.assert(
      fc.property(streams, cuts, ({ dialect, events }, sizes) => {
        const bytes = encodeUtf8(events);
        const chunks: Uint8Array[] = [];
        let start = 0;
        for (const size of sizes) {
          chunks.push(bytes.slice(start, start + size));
          start += size;
        }
        chunks.push(bytes.slice(start));
        assert.deepEqual(readAll(new EventMeter(dialect), ...chunks), readEvents(events, dialect));
        assert.deepEqual(Buffer.concat(chunks), Buffer.from(bytes));
      }),
      { numRuns: 2000 },
    );
  });

  it('reads a stream that comes byte by byte', () => {
    const bytes = [...encodeUtf8(text(OPENAI, '\r\n'))].map((byte) => Uint8Array.of(byte));
    assert.deepEqual(told(readAll(new EventMeter('openai'), ...bytes)), WHOLE);
  });

  it('takes the field with and without a blank, and a last line without its end', () => {
    const documents = OPENAI.map((document) => `data:${document}`);
    assert.deepEqual(told(readEvents(documents.join('\n'))), WHOLE);
  });

  it('reads a use whose name and value stand apart', () => {
    assert.deepEqual(readEvents('data: {"usage" : {"prompt_tokens":5,"completion_tokens":7}}\n').use, use(5, 7));
  });

  it('reads a use behind others of the same name that tell nothing', () => {
    const told = '"usage":{"prompt_tokens":5,"completion_tokens":7}';
    assert.deepEqual(readEvents(`data: {"choices":[{"usage":null}],${told}}\n`).use, use(5, 7));
    assert.deepEqual(readEvents(`data: {${told},"choices":[{"usage":null}]}\n`).use, use(5, 7));
  });

  it('reads a line of 16,384 bytes and passes over one more', () => {
    const [, document = ''] = OPENAI;
    for (const [size, expected] of [
      [LINE_MAX_BYTES, use(5, 7)],
      [LINE_MAX_BYTES + 1, undefined],
    ] as const) {
      const padded = `data: ${document}`.padEnd(size, ' ');
      for (const chunks of [[`${padded}\n`], [padded.slice(0, 9000), padded.slice(9000), '\n']]) {
        assert.deepEqual(readAll(new EventMeter('openai'), ...chunks), {
          use: expected,
          lastWord: 'missing',
          seenTokens: 0,
        });
      }
    }
  });

  it('keeps nothing of an event without end, and reads what follows it', () => {
    const meter = new EventMeter('openai');
    const megabyte = new Uint8Array(1_048_576).fill(0x61);
    meter.take(encodeUtf8('data: '));
    // Whoever kept it would copy it again and again, and never come to an end.
    for (let count = 0; count < 512; count += 1) meter.take(megabyte);
    assert.deepEqual(told(readAll(meter, `\n\n${text(OPENAI)}`)), WHOLE);
  });

  it('reads every event of a chunk that is longer than any line may be', () => {
    const [delta = '', ...last] = OPENAI;
    const events = text([...new Array<string>(2_000).fill(delta), ...last]);
    assert.ok(events.length > 4 * LINE_MAX_BYTES);
    const { seenTokens, ...reading } = readEvents(events);
    assert.deepEqual(reading, WHOLE);
    assert.equal(seenTokens, 2_000 * (Buffer.byteLength('Grüße \u{1F600} "usage":{') / 4));
  });

  it('takes the rest of a line that is too long for no line of its own', () => {
    const meter = new EventMeter('openai');
    assert.equal(readAll(meter, 'data: '.padEnd(LINE_MAX_BYTES + 1), 'data: ', '[DONE]\n').lastWord, 'missing');
    assert.equal(readAll(meter, 'data: [DONE]\n').lastWord, 'said');
  });

  it('looks for the last word in lines of 128 bytes, and in none longer', () => {
    for (const [size, lastWord] of [
      [128, 'said'],
      [129, 'missing'],
    ] as const) {
      assert.equal(readEvents(`${'data: [DONE]'.padEnd(size)}\n`).lastWord, lastWord);
    }
  });

  it('tells the same however often it is read, in the middle of a line too', () => {
    const meter = new EventMeter('openai');
    const reading = readAll(meter, 'data: {"delta":{"content":"twelve bytes"}}');
    assert.equal(reading.seenTokens, 3);
    assert.deepEqual(meter.read(), reading);
  });

  it('takes no text for the last word but the last word', () => {
    const content = (words: string) => `data: ${JSON.stringify({ choices: [{ delta: { content: words } }] })}\n\n`;
    for (const [events, dialect] of [
      [content('data: [DONE]'), 'openai'],
      ['event: [DONE]\n\n: data: [DONE]\n\n', 'openai'],
      ['data: [DONE]?\n\n', 'openai'],
      ['event: message_stop\ndata: {"type":"message_delta"}\n\n', 'anthropic'],
      [text(OPENAI.slice(0, 2)), 'openai'],
      [text(ANTHROPIC.slice(0, 3)), 'anthropic'],
      ['', 'openai'],
    ] as const) {
      assert.equal(readEvents(events, dialect).lastWord, 'missing', events);
    }
  });

  it('finds no use in other fields, in nothing, or in what is no JSON', () => {
    const usage = '"usage":{"prompt_tokens":5}';
    for (const events of [
      `event: {${usage}}\n`,
      `: {${usage}}\n`,
      `datum: {${usage}}\n`,
      `dates{${usage}}\n`,
      `data: ${usage}\n`,
      '\n\n',
    ]) {
      assert.deepEqual(readEvents(`${events}\n`), { use: undefined, lastWord: 'missing', seenTokens: 0 }, events);
    }
  });
});

describe('EventMeter.seenTokens', () => {
  const deltas = (...all: readonly object[]) => text(all.map((delta) => JSON.stringify({ choices: [{ delta }] })));

  it('is the text so far in fours of bytes, and at least one for each event that has some', () => {
    const meter = new EventMeter('openai');
    assert.equal(meter.seenTokens, 0);
    meter.take(encodeUtf8(deltas({ role: 'assistant', content: '' }, { content: null }, {})));
    assert.equal(meter.seenTokens, 0);
    meter.take(encodeUtf8(deltas({ content: 'a' }, { content: 'b' }, { content: 'c' })));
    assert.equal(meter.seenTokens, 3);
    meter.take(encodeUtf8(deltas({ content: 'twenty bytes of text' })));
    assert.deepEqual([meter.seenTokens, meter.read().seenTokens], [6, 6]);
  });

  it('counts reasoning and the arguments of tools, in either dialect', () => {
    const anthropic = (delta: object) => text([JSON.stringify({ type: 'content_block_delta', delta })]);
    for (const said of [
      deltas({ reasoning_content: 'twelve bytes' }),
      deltas({ tool_calls: [{ function: { arguments: 'twelve bytes' } }] }),
      anthropic({ type: 'text_delta', text: 'twelve bytes' }),
      anthropic({ type: 'thinking_delta', thinking: 'twelve bytes' }),
      anthropic({ type: 'input_json_delta', partial_json: 'twelve bytes' }),
    ]) {
      assert.equal(readEvents(said).seenTokens, 3, said);
    }
  });

  it('counts a text that was cut short, within an escape too', () => {
    for (const cut of ['', '\\', '\\u', '\\u00', '\\ud83d']) {
      assert.equal(readEvents(`data: {"delta":{"content":"nine byte${cut}`).seenTokens, 3, cut);
    }
    assert.equal(readEvents('data: {"delta":{"content":"').seenTokens, 0);
  });

  it('counts bytes as decoded, and no names that stand in a text', () => {
    assert.equal(readEvents('data: {"delta":{"content":"\\u00e4\\n\\ud83d\\ude00\\"12"}}\n').seenTokens, 3);
    assert.equal(readEvents(deltas({ content: '"content":"x' })).seenTokens, 3);
    assert.equal(readEvents('data: {"content":"of the prompt","delta":{"content":"twelve bytes"}}\n').seenTokens, 3);
  });
});

describe('DocumentMeter', () => {
  it('reads the use at the end of a document of any length, however it is cut', () => {
    const vectors = `{"data":[${'0.25,'.repeat(500_000)}1]`;
    const bytes = encodeUtf8(`${vectors},"usage":{"prompt_tokens":5,"total_tokens":5}}`);
    for (const size of [1, 100, 65_536, bytes.length]) {
      const meter = new DocumentMeter();
      const first = size === 1 ? bytes.length - 200 : 0;
      meter.take(bytes.subarray(0, first));
      for (let at = first; at < bytes.length; at += size) meter.take(bytes.subarray(at, at + size));
      assert.deepEqual(meter.read(), { use: use(5, 0), lastWord: 'none', seenTokens: 0 });
    }
  });
});
