import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COLD_RATIO, MODELS_MAX, TokenRatios } from '../../src/admission/estimate.ts';
import type { Prompt } from '../../src/admission/prompt.ts';

function prompt(textBytes: number, more: Partial<Prompt> = {}): Prompt {
  return { textBytes, messageCount: 1, imageCount: 0, answerCount: 1, declaredOutputTokens: 0, ...more };
}

describe('TokenRatios', () => {
  for (const [bytes, messageCount, tokens] of [
    [3_200, 1, 1_000],
    [3_201, 1, 1_001],
    [12, 1, 4],
    [13, 1, 5],
    [0, 3, 12],
    [0, 0, 0],
    [40, 10, 40],
  ] as const) {
    it(`estimates ${bytes} bytes in ${messageCount} messages as ${tokens} tokens before anything is learned`, () => {
      assert.equal(new TokenRatios().estimate('m', prompt(bytes, { messageCount })), tokens);
    });
  }

  it('gives a sample a fifth of the weight, from the cold ratio on', () => {
    const ratios = new TokenRatios();
    ratios.learn('m', prompt(1_000), 500);
    const first = 0.2 * 0.5 + 0.8 * COLD_RATIO;
    assert.equal(ratios.estimate('m', prompt(1_000_000)), Math.ceil(1_000_000 * first));
    ratios.learn('m', prompt(1_000), 250);
    assert.equal(ratios.estimate('m', prompt(1_000_000)), Math.ceil(1_000_000 * (0.2 * 0.25 + 0.8 * first)));
    assert.equal(ratios.estimate('other', prompt(3_200)), 1_000, 'models are independent');
  });

  for (const [name, exact, bound] of [
    ['a byte is at most a token', 5_000, 1],
    ['a token is at most 20 bytes', 1, 0.05],
  ] as const) {
    it(`holds a sample within its bounds: ${name}`, () => {
      const ratios = new TokenRatios();
      ratios.learn('m', prompt(1_000), exact);
      const learned = 0.2 * bound + 0.8 * COLD_RATIO;
      assert.equal(ratios.estimate('m', prompt(100_000)), Math.ceil(100_000 * learned));
    });
  }

  for (const [name, sample, exact] of [
    ['no tokens', prompt(1_000), 0],
    ['no bytes', prompt(0), 10],
    ['images', prompt(1_000, { imageCount: 1 }), 800],
  ] as const) {
    it(`learns nothing from a prompt with ${name}`, () => {
      const ratios = new TokenRatios();
      ratios.learn('m', sample, exact);
      assert.equal(ratios.size, 0);
    });
  }

  // Bytes per token as tokenizers of today have them.
  for (const [kind, bytesPerToken] of [
    ['English prose', 4.6],
    ['source code', 3.1],
    ['German prose', 3.4],
    ['Chinese', 4.2],
    ['Thai without a tokenizer for it', 2.2],
    ['base64 in a text', 1.6],
  ] as const) {
    it(`comes within 2 % of ${kind} after 20 answers`, () => {
      const ratios = new TokenRatios();
      for (let count = 0; count < 20; count += 1) ratios.learn('m', prompt(9_000), Math.round(9_000 / bytesPerToken));
      const estimate = ratios.estimate('m', prompt(50_000));
      assert.ok(Math.abs(estimate * bytesPerToken - 50_000) <= 1_000, `${estimate}`);
    });
  }

  it('remembers so many models, and forgets the one whose last lesson is oldest', () => {
    const ratios = new TokenRatios();
    for (let count = 0; count < MODELS_MAX; count += 1) ratios.learn(`m${count}`, prompt(1_000), 1_000);
    ratios.learn('m0', prompt(1_000), 1_000);
    assert.equal(ratios.size, MODELS_MAX);
    ratios.learn('new', prompt(1_000), 1_000);
    assert.equal(ratios.size, MODELS_MAX);
    const isCold = (model: string) => ratios.estimate(model, prompt(3_200)) === 1_000;
    assert.deepEqual([isCold('m0'), isCold('m1'), isCold('m2'), isCold('new')], [false, true, false, false]);
  });
});
