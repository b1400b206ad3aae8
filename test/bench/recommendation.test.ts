import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LoadFinding } from '../../src/bench/findings.ts';
import { recommend } from '../../src/bench/recommendation.ts';

function load(change: Partial<LoadFinding>): LoadFinding {
  return {
    name: 'served',
    maxPerSecond: 10_000,
    atHalf: undefined,
    failed: 0,
    failure: '',
    routerCpuUs: 50,
    routerCoreShare: 0.9,
    routerMemoryMib: 80,
    ...change,
  };
}

const REDIRECT = load({ name: 'redirect', maxPerSecond: 20_001 });

describe('recommend()', () => {
  it('leaves half of what was reached', () => {
    const found = recommend([REDIRECT, load({})], 1_024);
    assert.deepEqual([found.servedPerSecond, found.redirectsPerSecond], [5_000, 10_000]);
    assert.match(
      found.text,
      /5000 served requests or 10000 redirects a second .* bodies of 1024 bytes and 50 % headroom/,
    );
  });

  it('blames the router from 85 % of a core on, and the machine below', () => {
    for (const [share, limit] of [
      [1.02, 'router'],
      [0.85, 'router'],
      [0.84, 'machine'],
    ] as const) {
      assert.equal(recommend([REDIRECT, load({ routerCoreShare: share })], 1_024).limit, limit);
    }
  });

  it('tells what the router would carry alone when the machine is the limit', () => {
    const { text } = recommend([REDIRECT, load({ routerCoreShare: 0.5, routerCpuUs: 50 })], 1_024);
    assert.match(text, /had 50 % of a core.*about 10000 served requests a second/);
  });

  it('blames nobody where the system does not tell processor time', () => {
    const { limit, text } = recommend([load({ routerCoreShare: null, routerCpuUs: null })], 1_024);
    assert.equal(limit, 'unknown');
    assert.match(text, /does not tell processor time/);
  });
});
