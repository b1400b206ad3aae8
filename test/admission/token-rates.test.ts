import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { BUCKETS_MAX, PER_MINUTE_MAX, TokenRates } from '../../src/admission/token-rates.ts';
import { fault, ok } from '../../src/lib/result.ts';

describe('TokenRates', () => {
  it('starts full with a minute of tokens, and refills evenly', () => {
    const rates = new TokenRates();
    assert.deepEqual(rates.check('b', 600, 600, 0), ok(undefined));
    rates.take('b', 600, 600, 0);
    assert.deepEqual(rates.check('b', 600, 1, 0), fault(100));
    assert.deepEqual(rates.check('b', 600, 1, 99), fault(1));
    assert.deepEqual(rates.check('b', 600, 1, 100), ok(undefined));
    assert.deepEqual(rates.check('b', 600, 600, 59_999), fault(1));
    assert.deepEqual(rates.check('b', 600, 600, 60_000), ok(undefined));
  });

  it('never passes more than the limit', () => {
    assert.deepEqual(new TokenRates().check('b', 600, 601, 0), fault(undefined));
  });

  it('may fall below 0, and says how long that takes to make good', () => {
    const rates = new TokenRates();
    for (let count = 0; count < 3; count += 1) rates.take('b', 600, 600, 0);
    assert.deepEqual(rates.check('b', 600, 1, 0), fault(120_100));
  });

  it('tells the wait to the millisecond, whatever the numbers', () => {
    const count = fc.integer({ min: 1, max: PER_MINUTE_MAX });
    return fc.assert(
      fc.property(count, fc.array(count, { maxLength: 5 }), count, fc.nat(200_000), (limit, taken, asked, nowMs) => {
        const rates = new TokenRates();
        for (const tokens of taken) rates.take('b', limit, Math.min(tokens, limit), nowMs);
        const tokens = Math.min(asked, limit);
        const held = rates.check('b', limit, tokens, nowMs);
        if (held.ok) return;
        const waitMs = held.fault ?? assert.fail('it fits the limit');
        assert.ok(waitMs >= 1);
        assert.equal(rates.check('b', limit, tokens, nowMs + waitMs).ok, true);
        assert.equal(rates.check('b', limit, tokens, nowMs + waitMs - 1).ok, false);
      }),
      { numRuns: 500 },
    );
  });

  it('applies a lower limit at once, and adds nothing for a higher one', () => {
    const rates = new TokenRates();
    rates.take('b', 600, 300, 0);
    assert.deepEqual(rates.check('b', 100, 100, 0), ok(undefined));
    assert.deepEqual(rates.check('b', 100, 101, 0), fault(undefined));
    assert.deepEqual(rates.check('b', 6_000, 301, 0), fault(10));
  });

  it('takes an absurd limit for its highest', () => {
    const rates = new TokenRates();
    rates.take('b', Number.MAX_SAFE_INTEGER, PER_MINUTE_MAX, 0);
    assert.deepEqual(rates.check('b', Number.MAX_SAFE_INTEGER, 1, 0), fault(1));
  });

  it('is not moved by a clock that stands or goes back', () => {
    const rates = new TokenRates();
    rates.take('b', 600, 600, 1_000);
    assert.deepEqual(rates.check('b', 600, 1, 0), fault(100));
  });

  it('keeps so many buckets; full ones go first, then those used longest ago', () => {
    const rates = new TokenRates();
    rates.take('full', 600, 1, 0);
    for (let count = 1; count < BUCKETS_MAX; count += 1) rates.take(`b${count}`, 10, 10, 1_000);
    assert.equal(rates.size, BUCKETS_MAX);
    rates.take('last', 10, 10, 1_000);
    assert.ok(rates.size < BUCKETS_MAX);
    assert.equal(rates.check('b1', 10, 10, 1_000).ok, true, 'forgotten');
    assert.equal(rates.check('last', 10, 1, 1_000).ok, false);
    assert.equal(rates.check(`b${BUCKETS_MAX - 1}`, 10, 1, 1_000).ok, false);
  });
});
