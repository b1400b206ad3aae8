import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsOfAnthropic } from '../../../src/dispatch/providers/token-counts.ts';

describe('countsOfAnthropic()', () => {
  it('keeps each count that a later part of a stream leaves out', () => {
    const before = { input: 1, cacheRead: 2, cacheWrite: 3, output: 4, thinking: 5 };
    assert.deepEqual(countsOfAnthropic({}, before), before);
    assert.deepEqual(countsOfAnthropic({ output_tokens: 9 }, before), { ...before, output: 9 });
    const thought = { output_tokens_details: { thinking_tokens: 0 } };
    assert.deepEqual(countsOfAnthropic(thought, before), { ...before, thinking: 0 });
  });
});
