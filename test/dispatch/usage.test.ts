import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { latestUse, USE_TAIL_BYTES, useOfDocument, useOfEvent, useOfTail } from '../../src/dispatch/usage.ts';
import { encodeUtf8 } from '../../src/lib/utf8.ts';

const use = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });

/** What each endpoint of each engine writes. */
const DOCUMENTS = {
  'OpenAI chat': [
    '{"choices":[],"usage":{"prompt_tokens":5,"total_tokens":12,"completion_tokens":7},"x":null}',
    use(5, 7),
  ],
  'Anthropic message': ['{"type":"message","usage":{"input_tokens":5,"output_tokens":7}}', use(5, 7)],
  'Anthropic message from a cache': [
    '{"usage":{"input_tokens":5,"cache_read_input_tokens":20,"cache_creation_input_tokens":3,"output_tokens":7}}',
    use(28, 7),
  ],
  'Anthropic message with a cache that is null': [
    '{"usage":{"input_tokens":5,"cache_read_input_tokens":null,"output_tokens":7}}',
    use(5, 7),
  ],
  'caches without the rest of a prompt': ['{"usage":{"cache_read_input_tokens":20,"output_tokens":7}}', use(0, 7)],
  'a use before lists and objects': [
    '{"usage":{"prompt_tokens":5,"completion_tokens":7},"choices":[{"index":0}],"x":{}}',
    use(5, 7),
  ],
  'a use far from the end': [`{"usage":{"prompt_tokens":5},"x":"${'é'.repeat(USE_TAIL_BYTES)}"}`, use(5, 0)],
  'a use after letters that the last bytes cut': [
    `{"x":"${'é'.repeat(USE_TAIL_BYTES)}","usage":{"prompt_tokens":5}}`,
    use(5, 0),
  ],
  embeddings: ['{"data":[{"embedding":[0.1,-2]}],"usage":{"prompt_tokens":5,"total_tokens":5}}', use(5, 0)],
  'rerank with a total alone': ['{"results":[],"usage":{"total_tokens":9}}', use(9, 0)],
  'details beside the counts': [
    '{"usage":{"prompt_tokens":5,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":0}}}',
    use(5, 7),
  ],
  'blanks, and a name that is escaped': [
    '{ "\\u0075sage" : {"prompt_tokens":1} , "usage" :\n{ "prompt_tokens":5 } }',
    use(5, 0),
  ],
  'no use': ['{"choices":[]}', undefined],
  'a use that is null': ['{"usage":null}', undefined],
  'a use without numbers': ['{"usage":{"prompt_tokens":"5","completion_tokens":-1,"total_tokens":1.5}}', undefined],
  'a use in a tool call of the model, which may write what it likes': [
    '{"content":[{"type":"tool_use","input":{"usage":{"input_tokens":9}}}],"usage":{"input_tokens":5,"output_tokens":7}}',
    use(5, 7),
  ],
  'such a tool call alone': ['{"content":[{"input":{"usage":{"input_tokens":9}}}]}', undefined],
  'words in a text': ['{"text":"\\"usage\\":{\\"input_tokens\\":9}"}', undefined],
  'no JSON': ['"usage": {"input_tokens":9}', undefined],
} as const;

describe('useOfDocument()', () => {
  for (const [name, [document, expected]] of Object.entries(DOCUMENTS)) {
    it(`reads ${name}`, () => assert.deepEqual(useOfDocument(encodeUtf8(document)), expected));
  }
});

describe('useOfTail()', () => {
  const vectors = '{"object":"list","data":[{"embedding":[0.25,0.5]}]';
  for (const [name, end, expected] of [
    ['as the last member', ',"usage":{"prompt_tokens":5,"total_tokens":5}}', use(5, 0)],
    ['before plain members', ',"model":"a b","usage":{"prompt_tokens":5},"id":"x-1","created":12}\n', use(5, 0)],
    ['with details', ',"usage":{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":1}}}', use(5, 0)],
    ['not when an object follows', ',"usage":{"prompt_tokens":5},"meta":{}}', undefined],
    ['not of an object inside', ',"x":[{"usage":{"prompt_tokens":5}}]}', undefined],
    ['not in a text', ',"x":"\\"usage\\":{}"}', undefined],
  ] as const) {
    it(`reads a use ${name}`, () => assert.deepEqual(useOfTail(encodeUtf8(vectors + end)), expected));
  }

  it('looks for it in the last 4,096 bytes', () => {
    for (const [size, expected] of [
      [USE_TAIL_BYTES, use(5, 0)],
      [USE_TAIL_BYTES + 1, undefined],
    ] as const) {
      const end = '"usage":{"prompt_tokens":5},"x":"';
      const document = `${vectors},${end}${'x'.repeat(size - end.length - 2)}"}`;
      assert.deepEqual(useOfTail(encodeUtf8(document)), expected, `${size} bytes`);
    }
  });

  it('takes time in proportion to its bytes, whatever they are', () => {
    const started = performance.now();
    for (const piece of ['"usage":{', '"usage":{}', '"usage":{},"a":1', '{', '"usage":{"a":{}', ',"a":']) {
      useOfTail(encodeUtf8(piece.repeat(USE_TAIL_BYTES / piece.length)));
    }
    assert.ok(performance.now() - started < 500);
  });
});

describe('useOfEvent()', () => {
  it('reads an event of either dialect', () => {
    assert.deepEqual(useOfEvent({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } }), use(5, 7));
    assert.deepEqual(useOfEvent({ type: 'message_start', message: { usage: { input_tokens: 5 } } }), use(5, 0));
    assert.deepEqual(useOfEvent({ type: 'message_delta', usage: { output_tokens: 7 } }), use(0, 7));
    for (const odd of [undefined, null, 1, 'usage', [], {}, { usage: 1 }]) assert.equal(useOfEvent(odd), undefined);
  });
});

describe('latestUse()', () => {
  it('takes totals that grow, from whichever event tells them (api.md §5.2)', () => {
    assert.deepEqual(latestUse(undefined, use(5, 1)), use(5, 1));
    assert.deepEqual(latestUse(use(5, 1), undefined), use(5, 1));
    assert.deepEqual(latestUse(use(5, 1), use(0, 7)), use(5, 7));
    assert.deepEqual(latestUse(use(5, 7), use(6, 3)), use(6, 7));
  });
});
