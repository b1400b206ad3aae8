import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { type Prompt, readPrompt } from '../../src/admission/prompt.ts';
import { complete } from '../../src/lib/steps.ts';

const IMAGE = `data:image/png;base64,${'iVBORw0KGgo/'.repeat(500)}`;

function read(body: string): Prompt {
  return complete(readPrompt(Buffer.from(body)));
}

function promptOf(body: unknown): Prompt {
  return read(JSON.stringify(body));
}

/** Bytes of `text`, alone in a user's message. */
function bytesOf(content: unknown): number {
  return promptOf({ messages: [{ role: 'user', content }] }).textBytes;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

describe('readPrompt()', () => {
  const texts: Readonly<Record<string, string>> = {
    English: 'The quick brown fox.',
    German: 'Fünf schöne Jungfrauen',
    Chinese: '你好，世界',
    Arabic: 'مرحبا بالعالم',
    emoji: '👩‍👩‍👧 is one',
    code: 'if (a < b) {\n\treturn "x\\n";\n}',
    nothing: '',
  };
  for (const [kind, text] of Object.entries(texts)) {
    it(`counts the bytes of ${kind} as decoded, alone or in parts`, () => {
      const bytes = Buffer.byteLength(text);
      assert.equal(bytesOf(text), bytes);
      assert.equal(
        bytesOf([
          { type: 'text', text },
          { text, type: 'text' },
        ]),
        2 * bytes,
      );
    });
  }

  it('counts system text and the JSON of tools as sent', () => {
    const tools = '[ {"type":"function", "function":{"name":"\\u0066"}} ]';
    const body = `{"system":"abc","messages":[{"content":"de"}],"tools":${tools}}`;
    assert.equal(read(body).textBytes, 3 + 2 + tools.length);
    assert.equal(promptOf({ system: [{ type: 'text', text: 'abcd' }], messages: [], tools: null }).textBytes, 4);
  });

  it('counts images in all messages and in tool results, and none of their bytes', () => {
    const prompt = promptOf({
      system: [{ type: 'image', source: { data: IMAGE } }],
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: IMAGE } }, { type: 'input_image' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'image_url' }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', content: [{ type: 'image', source: { data: IMAGE } }, { text: 'seen' }] }],
        },
      ],
    });
    assert.deepEqual([prompt.imageCount, prompt.textBytes, prompt.messageCount], [3, 13, 3]);
  });

  it('reads the text of a tool result as text of its message', () => {
    assert.equal(bytesOf([{ type: 'tool_result', tool_use_id: 'x', content: 'abc' }]), 3);
    assert.equal(bytesOf([{ type: 'tool_result', content: [{ text: 'ab', content: [{ text: 'deeper' }] }] }]), 2);
  });

  for (const [name, fields, declared] of [
    ['max_completion_tokens first', { max_tokens: 5, max_completion_tokens: 7 }, 7],
    ['max_tokens without it', { max_tokens: 5 }, 5],
    ['max_tokens beside 0', { max_completion_tokens: 0, max_tokens: 5 }, 5],
    ['nothing from a negative one (T25)', { max_tokens: -5 }, 0],
    ['max_tokens beside a negative one', { max_completion_tokens: -1, max_tokens: 5 }, 5],
    ['nothing from null', { max_tokens: null }, 0],
    ['nothing from a string', { max_tokens: '5' }, 0],
    ['nothing from true', { max_tokens: true }, 0],
    ['a fraction without it (T10)', { max_tokens: 10.5 }, 10],
    ['a bounded number from an absurd one', { max_tokens: 1e300 }, 1_000_000_000_000],
    ['nothing from an object', { max_tokens: { max_tokens: 5 } }, 0],
  ] as const) {
    it(`declares ${name}`, () => {
      assert.equal(promptOf({ ...fields, messages: [] }).declaredOutputTokens, declared);
    });
  }

  for (const [name, n, answers] of [
    ['one', 1, 1],
    ['many', 20, 20],
    ['one for none', 0, 1],
    ['one for fewer than none', -3, 1],
    ['one for a fraction', 2.5, 1],
    ['one for null', null, 1],
    ['one for a string', '20', 1],
    ['one for true', true, 1],
    ['one for a list', [20], 1],
    ['so many that sums stay exact', 1e300, 1_000_000_000_000],
  ] as const) {
    it(`counts ${name} in n, and its output that often`, () => {
      const prompt = promptOf({ n, max_tokens: 7, messages: [] });
      assert.deepEqual([prompt.answerCount, prompt.declaredOutputTokens], [answers, Math.min(7 * answers, 1e12)]);
      const undeclared = promptOf({ n, messages: [] });
      assert.deepEqual([undeclared.answerCount, undeclared.declaredOutputTokens], [answers, 0]);
    });
  }

  it('reads a count however long it is written', () => {
    const zeros = '0'.repeat(1_024);
    const prompt = read(`{"n":20.${zeros},"max_tokens":5.${zeros},"messages":[]}`);
    assert.deepEqual([prompt.answerCount, prompt.declaredOutputTokens], [20, 100]);
  });

  it('takes the last of two members of one name, as engines do (T9)', () => {
    const body =
      '{"max_tokens":1,"messages":[{"content":"long"},{"content":"er"}],"max_tokens":2,"messages":[{"content":"s"}]}';
    const prompt = read(body);
    assert.deepEqual(prompt, { textBytes: 1, messageCount: 1, imageCount: 0, answerCount: 1, declaredOutputTokens: 2 });
  });

  it('counts nothing where the types are wrong, and refuses nothing', () => {
    for (const messages of [null, 'text', 3, {}, [null, 1, 'x', [], { content: 4 }, { content: { text: 'x' } }]]) {
      assert.equal(promptOf({ messages, system: 3 }).textBytes, 0);
    }
  });

  it('finds what a parser finds, in whatever order and company', () => {
    /** Parts together with what they count. */
    const text = fc.string({ unit: 'binary' });
    const noise = fc.jsonValue({ maxDepth: 3 });
    const part = fc.oneof(
      fc.tuple(text, noise).map(([text, other]) => ({
        json: { cache_control: other, type: 'text', text },
        bytes: Buffer.byteLength(text),
        images: 0,
      })),
      noise.map((other) => ({ json: { image_url: other, type: 'image_url' }, bytes: 0, images: 1 })),
    );
    const message = fc.tuple(fc.array(part), noise).map(([parts, name]) => ({
      json: { name, content: parts.map(({ json }) => json) },
      bytes: sum(parts.map(({ bytes }) => bytes)),
      images: sum(parts.map(({ images }) => images)),
    }));
    return fc.assert(
      fc.property(fc.array(message), noise, (messages, metadata) => {
        const read = promptOf({ metadata, messages: messages.map(({ json }) => json), stop: metadata });
        assert.equal(read.messageCount, messages.length);
        assert.equal(read.imageCount, sum(messages.map(({ images }) => images)));
        assert.equal(read.textBytes, sum(messages.map(({ bytes }) => bytes)));
      }),
      { numRuns: 300 },
    );
  });

  it('reads the same wherever it pauses', () => {
    const part = { type: 'text', text: 'a"b\\\u{1f600}ü\n', cache_control: { type: 'ephemeral' } };
    const body = JSON.stringify({
      system: [part],
      tools: [{ name: 'x', text: 'y' }],
      messages: [{ role: 'user', content: [part, { type: 'image' }] }, { content: 'a\u0001b' }],
      max_tokens: 12,
    }).replace('"tools"', '"t\\u006fols"');
    const json = Buffer.from(body);
    const whole = complete(readPrompt(json));
    assert.deepEqual([whole.imageCount, whole.messageCount, whole.declaredOutputTokens], [1, 2, 12]);
    for (let slice = 1; slice <= json.length; slice += 1) assert.deepEqual(complete(readPrompt(json, slice)), whole);
  });

  it('pauses in whatever is long', () => {
    const long = 'x'.repeat(1_000);
    const bodies = [{ messages: [{ content: long }] }, { [long]: 1 }, { x: [long] }, { tools: Array(400).fill(12) }];
    for (const body of bodies) {
      let pauses = 0;
      const steps = readPrompt(Buffer.from(JSON.stringify(body)), 100);
      while (steps.next().done !== true) pauses += 1;
      assert.ok(pauses >= 10, String(pauses));
    }
  });

  it('reads nesting that would exhaust a stack', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const body = `{"messages":[{"content":[{"content":${deep}}]}],"max_tokens":3}`;
    assert.equal(read(body).declaredOutputTokens, 3);
  });
});
