import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whyTooLarge } from '../../src/admission/request-caps.ts';

const LIMITS = { maxInputTokens: 1_000, imagesMax: 2, admitBudgetTokens: 1, maxInflight: 1 };

describe('whyTooLarge()', () => {
  for (const [name, limits, promptTokens, imageCount, why] of [
    ['passes both limits themselves', LIMITS, 1_000, 2, undefined],
    ['refuses one token more', LIMITS, 1_001, 0, /about 1001 tokens: at most 1000/],
    ['refuses one image more', LIMITS, 1, 3, /3 images: at most 2/],
    ['knows no limit where it is 0', { ...LIMITS, maxInputTokens: 0, imagesMax: 0 }, 1e9, 1e6, undefined],
  ] as const) {
    it(name, () => {
      const text = whyTooLarge(limits, { promptTokens, imageCount });
      if (why === undefined) assert.equal(text, undefined);
      else assert.match(text ?? '', why);
    });
  }
});
