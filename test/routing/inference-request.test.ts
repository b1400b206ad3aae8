import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { complete } from '../../src/lib/steps.ts';
import { MODEL_MAX_BYTES, readInferenceRequest, replaceModel } from '../../src/routing/inference-request.ts';

function read(body: string | Uint8Array): string {
  const request = complete(readInferenceRequest(typeof body === 'string' ? Buffer.from(body) : body));
  return request.ok ? `model ${request.value.model}` : request.fault;
}

const NOT_JSON = 'The request body is not valid JSON.';
const NO_OBJECT = 'The request body must be a JSON object.';
const NO_MODEL = '"model" is required and must be a non-empty string.';
const TWO_MODELS = 'The request body names "model" more than once.';
const NOT_UTF8 = 'The request body is not valid UTF-8.';
const TOO_LONG = '"model" is longer than 256 bytes.';
const SURROGATE = '"model" holds a lone surrogate.';

describe('readInferenceRequest()', () => {
  const accepted: readonly (readonly [string, string])[] = [
    ['{"model":"m"}', 'm'],
    [' {\n"messages": [], "model" : "m" }\r\n', 'm'],
    ['{"model":"org/模型 é:1"}', 'org/模型 é:1'],
    ['{"\\u006dodel":"\\u006d"}', 'm'],
    ['{"model":"\\ud83d\\ude00"}', '😀'],
    // Only the top level counts: tools and messages may say "model" as often as they like.
    ['{"model":"m","x":{"model":"a","model":"b"},"y":[{"model":1}]}', 'm'],
    ['{"x":"\\"model\\":\\"a\\"","model":"m"}', 'm'],
    // What the router does not read is the engine's to judge (A11).
    ['{"model":"m","max_tokens":"many","messages":7,"seed":1e999,"seed":2}', 'm'],
    ['{"model":"m","Model":"x","MODEL":"y","model ":"z"}', 'm'],
    [`{"model":"${'a'.repeat(MODEL_MAX_BYTES)}"}`, 'a'.repeat(MODEL_MAX_BYTES)],
    [`{"model":"${'é'.repeat(MODEL_MAX_BYTES / 2)}"}`, 'é'.repeat(MODEL_MAX_BYTES / 2)],
  ];
  for (const [body, model] of accepted) {
    it(`takes the model of ${body.slice(0, 60)} (R-034)`, () => assert.equal(read(body), `model ${model}`));
  }

  const refused: readonly (readonly [string, string, string])[] = [
    ['nothing', '', NOT_JSON],
    ['blanks', ' \n', NOT_JSON],
    ['a cut document', '{"model":"m"', NOT_JSON],
    ['trailing data (A11)', '{"model":"m"} {}', NOT_JSON],
    ['trailing NUL (A11)', '{"model":"m"}\0', NOT_JSON],
    ['a byte order mark (A11)', '\ufeff{"model":"m"}', NOT_JSON],
    ['single quotes', "{'model':'m'}", NOT_JSON],
    ['a comment', '{"model":"m"/**/}', NOT_JSON],
    ['a trailing comma', '{"model":"m",}', NOT_JSON],
    ['a raw line break in a string', '{"model":"m\n"}', NOT_JSON],
    ['an array', '[{"model":"m"}]', NO_OBJECT],
    ['null', 'null', NO_OBJECT],
    ['a string', '"model"', NO_OBJECT],
    ['a number', '7', NO_OBJECT],
    ['no model', '{"messages":[]}', NO_MODEL],
    ['another case', '{"Model":"m"}', NO_MODEL],
    ['an empty model', '{"model":""}', NO_MODEL],
    ['a null model', '{"model":null}', NO_MODEL],
    ['a number as model', '{"model":1}', NO_MODEL],
    ['an array as model', '{"model":["m"]}', NO_MODEL],
    ['a model inherited from __proto__', '{"__proto__":{"model":"m"}}', NO_MODEL],
    ['a model that the prototype of every object has', '{"constructor":"m"}', NO_MODEL],
    ['two models (A11, T-40)', '{"model":"a","model":"b"}', TWO_MODELS],
    ['two equal models (A11)', '{"model":"a","x":1,"model":"a"}', TWO_MODELS],
    ['a second model in escapes (A11)', '{"model":"a","\\u006dod\\u0065l":"b"}', TWO_MODELS],
    ['a second model that is none (A11)', '{"model":null,"model":"b"}', TWO_MODELS],
    ['257 bytes', `{"model":"${'a'.repeat(257)}"}`, TOO_LONG],
    ['257 bytes in 129 characters', `{"model":"${'é'.repeat(128)}a"}`, TOO_LONG],
    ['a lone high surrogate (D-71)', '{"model":"\\ud83d"}', SURROGATE],
    ['a lone low surrogate (D-71)', '{"model":"a\\ude00"}', SURROGATE],
  ];
  for (const [what, body, fault] of refused) {
    it(`refuses ${what} (R-034)`, () => assert.equal(read(body), fault));
  }

  it('refuses bytes that are not UTF-8, wherever they stand (A11)', () => {
    for (const bad of [[0xff], [0xc0, 0xaf], [0xc3], [0xed, 0xa0, 0x80]]) {
      const body = Buffer.concat([Buffer.from('{"model":"m","x":"'), Buffer.from(bad), Buffer.from('"}')]);
      assert.equal(read(body), NOT_UTF8);
    }
  });

  it('never repeats the body in a fault (R-207)', () => {
    const secret = 'canary-of-the-prompt';
    for (const body of [`{"model":"m","x":${secret}}`, `{"${secret}":1}`, `"${secret}"`, `{"model":["${secret}"]}`]) {
      assert.ok(!read(body).includes(secret), read(body));
    }
  });

  it('takes a document of 1,000 levels and no deeper one, however deep (T-46)', () => {
    const nested = (depth: number) => read(`{"model":"m","x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`);
    assert.equal(nested(1_000), 'model m');
    for (const depth of [1_001, 200_000]) {
      assert.equal(nested(depth), 'The request body is nested more than 1000 levels deep.');
    }
  });

  it('reads a model of escapes to its last byte, and none beyond', () => {
    const escaped = (length: number) => read(`{"model":"${'\\u0061'.repeat(length)}"}`);
    assert.equal(escaped(MODEL_MAX_BYTES), `model ${'a'.repeat(MODEL_MAX_BYTES)}`);
    assert.equal(escaped(MODEL_MAX_BYTES + 1), TOO_LONG);
  });

  it('reads whatever model JSON can write (R-034)', () => {
    const model = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
    return fc.assert(
      fc.property(model, fc.json(), (name, other) => {
        assert.equal(read(`{"other":${other},"model":${JSON.stringify(name)}}`), `model ${name}`);
      }),
      { numRuns: 300 },
    );
  });
});

/** The body with `model` in place of its own. */
function replaced(body: string, model: string): string {
  const sent = Buffer.from(body);
  const request = complete(readInferenceRequest(sent));
  assert.ok(request.ok);
  const { body: bytes, modelAt } = replaceModel({ body: sent, modelAt: request.value.modelAt }, model);
  assert.equal(bytes.subarray(modelAt.start, modelAt.end).toString(), JSON.stringify(model));
  return bytes.toString();
}

describe('replaceModel()', () => {
  it('changes the model in place and no other byte, numbers included (E6, R-130)', () => {
    const body = '{ "seed":12345678901234567890, "x":1.0e2 ,"\\u006dodel" : "auto"\n, "y":"\\u00e9 \\/"}';
    const expected = body.replace('"auto"', '"org/模型"');
    assert.equal(replaced(body, 'org/模型'), expected);
  });

  it('writes any model as JSON (E6)', () => {
    const model = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((text) => text.isWellFormed());
    return fc.assert(
      fc.property(model, fc.json(), (name, other) => {
        const around = (written: string) => `{"before":${other},"model":${written},"after":${other}}`;
        assert.equal(replaced(around('"auto"'), name), around(JSON.stringify(name)));
      }),
      { numRuns: 300 },
    );
  });

  it('leaves a nested model alone (E6)', () => {
    assert.equal(replaced('{"x":{"model":"a"},"model":"auto"}', 'm'), '{"x":{"model":"a"},"model":"m"}');
  });
});
