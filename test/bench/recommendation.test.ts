import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LoadFinding } from '../../src/bench/findings.ts';
import { recommend } from '../../src/bench/recommendation.ts';

function load(change: Partial<LoadFinding>): LoadFinding {
  return {
    name: 'served',
    maxPerSecond: 10_000,
    connections: 64,
    atHalf: null,
    failed: 0,
    failure: '',
    routerCpuUs: 50,
    routerCoreShare: 0.9,
    routerPeakMemoryMib: 80,
    ...change,
  };
}

/** Enough cores for everybody, and nobody else there. */
const QUIET = { cores: 4, loadBefore: 1.99 };

const REDIRECT = load({ name: 'redirect', maxPerSecond: 20_001 });

describe('recommend()', () => {
  it('leaves half of what was reached', () => {
    const found = recommend([REDIRECT, load({})], 1_024, QUIET);
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
      assert.equal(recommend([REDIRECT, load({ routerCoreShare: share })], 1_024, QUIET).limit, limit);
    }
  });

  it('tells what the router would carry alone when the machine is the limit', () => {
    const { text } = recommend([REDIRECT, load({ routerCoreShare: 0.5, routerCpuUs: 50 })], 1_024, QUIET);
    assert.match(text, /had 50 % of a core.*about 10000 served requests a second/);
  });

  it('offers a second router another core only where there is one', () => {
    for (const [cores, advice] of [
      [4, /on another core adds as much again/],
      [3, /needs a core of its own/],
    ] as const) {
      assert.match(recommend([REDIRECT, load({})], 1_024, { ...QUIET, cores }).text, advice);
    }
  });

  it('warns when something else was running before', () => {
    assert.doesNotMatch(recommend([REDIRECT, load({})], 1_024, QUIET).text, /Something else/);
    const { text } = recommend([REDIRECT, load({})], 1_024, { ...QUIET, loadBefore: 2 });
    assert.match(text, /Something else was running: the load was 2 before/);
  });

  it('recommends nothing when an answer was not what it should be', () => {
    assert.match(recommend([REDIRECT, load({ failed: 1 })], 1_024, QUIET).text, /^Count on none of these figures/);
  });

  it('blames nobody where the system does not tell processor time', () => {
    const { limit, text } = recommend([load({ routerCoreShare: null, routerCpuUs: null })], 1_024, QUIET);
    assert.equal(limit, 'unknown');
    assert.match(text, /does not tell processor time/);
  });
});
