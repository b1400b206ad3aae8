import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededNumbers } from '../../src/mock-engine/chance.ts';

function take(count: number, seed: string): readonly number[] {
  const next = seededNumbers(seed);
  return Array.from({ length: count }, () => next());
}

describe('seededNumbers()', () => {
  it('repeats itself for the same seed and for no other', () => {
    assert.deepEqual(take(50, 'a'), take(50, 'a'));
    assert.equal(take(50, 'a').filter((number) => take(50, 'b').includes(number)).length, 0);
  });

  it('gives the numbers of xorshift32 in every version', () => {
    assert.deepEqual(take(2, 'a'), [1_812_878_664 / 2 ** 32, 1_917_306_235 / 2 ** 32]);
  });

  it('fills [0, 1) evenly', () => {
    const numbers = take(10_000, 'even');
    assert.ok(numbers.every((number) => number >= 0 && number < 1));
    for (let tenth = 0; tenth < 10; tenth += 1) {
      const count = numbers.filter((number) => Math.floor(number * 10) === tenth).length;
      assert.ok(count > 880 && count < 1120, `${count} of 10000 in tenth ${tenth}`);
    }
  });
});
