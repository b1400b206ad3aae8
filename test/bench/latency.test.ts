import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { percentile, Samples, summarize } from '../../src/bench/latency.ts';

describe('percentile()', () => {
  it('is the smallest sample that the share of all does not exceed', () => {
    const ten = Array.from({ length: 10 }, (_, index) => index + 1);
    for (const [share, value] of [
      [0, 1],
      [0.1, 1],
      [0.11, 2],
      [0.5, 5],
      [0.51, 6],
      [0.99, 10],
      [1, 10],
    ] as const) {
      assert.equal(percentile(ten, share), value, String(share));
    }
  });

  it('is 0 of nothing, and the one sample there is', () => {
    assert.equal(percentile([], 0.5), 0);
    for (const share of [0, 0.5, 1]) assert.equal(percentile([7], share), 7);
  });
});

describe('summarize()', () => {
  it('sorts as numbers and finds the tail', () => {
    const samples = Float64Array.from({ length: 1_000 }, (_, index) => 1_000 - index);
    assert.deepEqual(summarize(samples), { p50Ms: 500, p90Ms: 900, p99Ms: 990, p999Ms: 999, maxMs: 1_000 });
  });
});

describe('Samples', () => {
  it('keeps what there is room for', () => {
    const samples = new Samples(2);
    for (const value of [3, 1, 2]) samples.add(value);
    assert.deepEqual([...samples.values], [3, 1]);
  });
});
