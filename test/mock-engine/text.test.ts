import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerTo, countTokens, digestOf } from '../../src/mock-engine/text.ts';

const QUESTION = { engine: 'e', model: 'm', prompt: 'hello', minTokens: 0, maxTokens: Number.POSITIVE_INFINITY };

describe('countTokens()', () => {
  for (const [text, tokens] of [
    ['', 0],
    ['a', 1],
    ['abcd', 1],
    ['abcde', 2],
    ['éé', 1],
    ['ééé', 2],
  ] as const) {
    it(`counts ${tokens} in "${text}"`, () => assert.equal(countTokens(text), tokens));
  }
});

describe('digestOf()', () => {
  it('is the start of the SHA-256 of the UTF-8 text', () => {
    assert.equal(digestOf('abc'), 'ba7816bf');
    assert.equal(digestOf('é'), '4a99557e');
  });
});

describe('answerTo()', () => {
  const whole = answerTo(QUESTION);

  it('begins with engine, model and digest of the prompt', () => {
    assert.match(whole.pieces.join(''), /^engine e, model m: prompt 2cf24dba [a-z ]+$/);
  });

  it('is the same for the same prompt and another for another', () => {
    assert.deepEqual(answerTo(QUESTION), whole);
    assert.notDeepEqual(answerTo({ ...QUESTION, prompt: 'hello!' }).pieces.slice(6), whole.pieces.slice(6));
  });

  it('is 16 to 48 words longer than its beginning and stops by itself', () => {
    const lengths = Array.from(
      { length: 500 },
      (_, index) => answerTo({ ...QUESTION, prompt: `${index}` }).pieces.length - 6,
    );
    assert.equal(Math.min(...lengths), 16);
    assert.equal(Math.max(...lengths), 48);
    assert.equal(whole.finishReason, 'stop');
  });

  it('is one word a piece', () => {
    assert.deepEqual(whole.pieces.slice(0, 3), ['engine', ' e,', ' model']);
    assert.ok(whole.pieces.every((piece) => /^ ?\S+$/.test(piece)));
  });

  const natural = whole.pieces.length;
  for (const [minTokens, maxTokens, length, finishReason] of [
    [0, 1, 1, 'length'],
    [0, natural - 1, natural - 1, 'length'],
    [0, natural, natural, 'stop'],
    [natural + 1, Number.POSITIVE_INFINITY, natural + 1, 'stop'],
    [1000, 1000, 1000, 'stop'],
    [1000, 999, 999, 'length'],
  ] as const) {
    it(`has ${length} tokens with at least ${minTokens} and at most ${maxTokens}: ${finishReason}`, () => {
      const answer = answerTo({ ...QUESTION, minTokens, maxTokens });
      assert.equal(answer.pieces.length, length);
      assert.equal(answer.finishReason, finishReason);
    });
  }
});
