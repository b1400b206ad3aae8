import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inputUsed, outputUsed, tokenDemand, UNDECLARED_OUTPUT_TOKENS } from '../../src/quota/token-use.ts';

describe('tokenDemand()', () => {
  const cases: readonly (readonly [estimate: number, declared: number | undefined, least: number, most: number])[] = [
    [10, 90, 100, 100],
    [10, undefined, 10, 10 + UNDECLARED_OUTPUT_TOKENS],
    [10, 0, 10, 10 + UNDECLARED_OUTPUT_TOKENS],
    [10, -500, 10, 10 + UNDECLARED_OUTPUT_TOKENS],
    [0, undefined, 1, 1 + UNDECLARED_OUTPUT_TOKENS],
    [0, 1, 1, 1],
    [1, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ];
  for (const [estimate, declared, least, most] of cases) {
    it(`of ${estimate} and ${declared} declared is ${least} to ${most} (T25)`, () => {
      assert.deepEqual(tokenDemand(estimate, declared), { least, most });
    });
  }

  it('holds what each of several answers may have when it is not declared', () => {
    assert.deepEqual(tokenDemand(10, 0, 3), { least: 10, most: 10 + 3 * UNDECLARED_OUTPUT_TOKENS });
    assert.deepEqual(tokenDemand(10, 90, 3), { least: 100, most: 100 }, 'what is declared is so for all');
  });
});

describe('inputUsed() and outputUsed()', () => {
  const use = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });
  const cases = [
    { name: 'what the engine said', use: use(12, 30), isFinished: true, seenTokens: 99, used: 42 },
    {
      name: 'what the engine said, also of a whole answer without output',
      use: use(12, 0),
      isFinished: true,
      seenTokens: 9,
      used: 12,
    },
    { name: 'a cut stream with what was seen of it', use: use(12, 1), isFinished: false, seenTokens: 20, used: 32 },
    {
      name: 'a cut stream that told more than was seen',
      use: use(12, 30),
      isFinished: false,
      seenTokens: 20,
      used: 42,
    },
    { name: 'the estimate for a prompt that was not told', use: use(0, 30), isFinished: true, seenTokens: 0, used: 40 },
    { name: 'estimates for an engine that said nothing', use: undefined, isFinished: true, seenTokens: 20, used: 30 },
  ];
  for (const { name, used, ...reading } of cases)
    it(`are ${name}`, () => assert.equal(inputUsed(10, reading) + outputUsed(reading), used));
});
