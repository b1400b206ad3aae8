import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { fault, ok } from '../../src/lib/result.ts';
import { PER_MINUTE_MAX, type RequestRate, TokenBuckets } from '../../src/quota/token-bucket.ts';

/** 2026-11-03T12:00:00Z */
const NOW_MS = 1_793_707_200_000;

const rate = (perMinute: number, burst = perMinute): RequestRate => ({ perMinute, burst });

/** How many of `count` requests at one moment pass. */
function passing(buckets: TokenBuckets, count: number, ofRate: RequestRate, nowMs: number): number {
  return Array.from({ length: count }, () => buckets.take('b', ofRate, nowMs)).filter(({ ok: isOk }) => isOk).length;
}

describe('TokenBuckets.take()', () => {
  it('lets exactly 10 of 100 requests at once pass with 10 a minute, and counts down', () => {
    const buckets = new TokenBuckets();
    const taken = Array.from({ length: 100 }, () => buckets.take('b', rate(10), NOW_MS));
    assert.deepEqual(taken.slice(0, 10), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map(ok));
    assert.ok(taken.slice(10).every(({ ok: isOk }) => !isOk));
  });

  it('says to the millisecond when the next one passes', () => {
    for (const perMinute of [1, 7, 60, 999, 59_999, 60_000, 60_001]) {
      const buckets = new TokenBuckets();
      passing(buckets, perMinute, rate(perMinute), NOW_MS);
      const refused = buckets.take('b', rate(perMinute), NOW_MS);
      assert.ok(!refused.ok);
      assert.equal(refused.fault, Math.ceil(60_000 / perMinute));
      const before = buckets.take('b', rate(perMinute), NOW_MS + refused.fault - 1);
      if (refused.fault > 1) assert.deepEqual(before, fault(1));
      assert.equal(buckets.take('b', rate(perMinute), NOW_MS + refused.fault).ok, true);
    }
  });

  it('refills evenly, without a minute boundary, and no further than its burst', () => {
    const buckets = new TokenBuckets();
    assert.equal(passing(buckets, 99, rate(60), NOW_MS), 60);
    assert.equal(passing(buckets, 99, rate(60), NOW_MS + 15_999), 15);
    assert.equal(passing(buckets, 99, rate(60), NOW_MS + 16_000), 1);
    assert.equal(passing(buckets, 99, rate(60), NOW_MS + 999_000), 60);
  });

  it('holds back a burst beyond its window', () => {
    const buckets = new TokenBuckets();
    assert.equal(passing(buckets, 99, rate(60, 5), NOW_MS), 5);
    assert.equal(passing(buckets, 99, rate(60, 5), NOW_MS + 60_000), 5);
  });

  it('applies a new rate to the next request: a higher one adds nothing, a lower burst clips', () => {
    const buckets = new TokenBuckets();
    passing(buckets, 8, rate(10), NOW_MS);
    assert.deepEqual(buckets.take('b', rate(1_000), NOW_MS), ok(1));
    assert.deepEqual(buckets.take('b', rate(1_000), NOW_MS + 60), ok(1));
    const idle = new TokenBuckets();
    idle.take('b', rate(1_000), NOW_MS);
    assert.deepEqual(idle.take('b', rate(10, 2), NOW_MS), ok(1));
    assert.deepEqual(idle.take('b', rate(1_000), NOW_MS), ok(0));
  });

  it('keeps a full bucket full under another rate, whether it was dropped meanwhile or not', () => {
    const buckets = new TokenBuckets();
    buckets.take('b', rate(10), NOW_MS);
    buckets.giveBack('b');
    assert.deepEqual(buckets.take('b', rate(1_000), NOW_MS), ok(999));
  });

  it('goes on at once after the clock stepped back, and gives nothing for the step', () => {
    const buckets = new TokenBuckets();
    assert.equal(passing(buckets, 99, rate(60), NOW_MS), 60);
    assert.equal(passing(buckets, 99, rate(60), NOW_MS - 3_600_000), 0);
    assert.equal(passing(buckets, 99, rate(60), NOW_MS - 3_600_000 + 1_000), 1);
  });

  it('lets an hour that the clock jumps ahead fill it once', () => {
    const buckets = new TokenBuckets();
    assert.equal(passing(buckets, 99, rate(60), NOW_MS), 60);
    assert.equal(passing(buckets, 99, rate(60), NOW_MS + 3_600_000), 60);
    assert.equal(passing(buckets, 99, rate(60), NOW_MS + 3_600_000), 0);
  });

  it('counts exactly with the largest rate', () => {
    const buckets = new TokenBuckets();
    assert.deepEqual(buckets.take('b', rate(PER_MINUTE_MAX), NOW_MS), ok(PER_MINUTE_MAX - 1));
    assert.deepEqual(buckets.take('b', rate(PER_MINUTE_MAX), NOW_MS + 60_000), ok(PER_MINUTE_MAX - 1));
  });
});

describe('TokenBuckets.giveBack()', () => {
  it('puts one request back, and no more than the burst holds', () => {
    const buckets = new TokenBuckets();
    buckets.take('b', rate(2), NOW_MS);
    buckets.giveBack('b');
    buckets.giveBack('b');
    buckets.giveBack('unknown');
    assert.equal(passing(buckets, 9, rate(2), NOW_MS), 2);
  });
});

describe('the number of buckets', () => {
  it('stays near that of the buckets in use: full ones are dropped on the way', () => {
    const buckets = new TokenBuckets();
    for (let index = 0; index < 10_000; index += 1) buckets.take(`b${index}`, rate(60), NOW_MS + index * 100);
    // One second refills a request, so about ten are not full; the hand needs a round for the rest.
    assert.ok(buckets.size < 100, `${buckets.size}`);
  });

  it('is bounded: whoever comes new is then refused for a minute, and whoever has a bucket is not', () => {
    const buckets = new TokenBuckets(2);
    buckets.take('a', rate(1), NOW_MS);
    assert.equal(buckets.isFull, false);
    buckets.take('b', rate(5), NOW_MS);
    assert.equal(buckets.isFull, true);
    assert.deepEqual(buckets.take('c', rate(5), NOW_MS), fault(60_000));
    assert.deepEqual(buckets.take('b', rate(5), NOW_MS), ok(3));
    assert.equal(buckets.size, 2);
    for (let count = 0; count < 3; count += 1) buckets.take('b', rate(5), NOW_MS + 60_000);
    assert.equal(buckets.take('c', rate(5), NOW_MS + 60_000).ok, true);
  });

  it('changes nothing for a bucket: one that is dropped comes back full, as it was', () => {
    const events = fc.array(
      fc.record({
        name: fc.constantFrom('b', 'x', 'y'),
        waitMs: fc.nat(90_000),
        perMinute: fc.integer({ min: 1, max: 5 }),
      }),
      {
        maxLength: 60,
      },
    );
    return fc.assert(
      fc.property(events, (steps) => {
        const swept = new TokenBuckets();
        const alone = new TokenBuckets();
        let nowMs = NOW_MS;
        for (const { name, waitMs, perMinute } of steps) {
          nowMs += waitMs;
          const taken = swept.take(name, rate(perMinute), nowMs);
          if (name === 'b') assert.deepEqual(taken, alone.take(name, rate(perMinute), nowMs));
        }
      }),
    );
  });
});

/** Real numbers cannot tell which side of a whole one this is. */
const ROUNDING = 1e-6;

/** The bucket as one would write it down: real numbers, seconds, no sweeping. */
class NaiveBucket {
  #tokens: number | undefined;
  #rate = rate(1);
  #atMs = 0;

  /** How many tokens there are. */
  turnTo(now: RequestRate, nowMs: number): number {
    const elapsedS = Math.max(0, nowMs - this.#atMs) / 1_000;
    const refilled = (this.#tokens ?? Number.POSITIVE_INFINITY) + (elapsedS * this.#rate.perMinute) / 60;
    const isFull = refilled > this.#rate.burst - ROUNDING;
    const tokens = isFull ? now.burst : Math.min(refilled, now.burst);
    this.#tokens = tokens;
    this.#rate = now;
    this.#atMs = nowMs;
    return tokens;
  }

  add(tokens: number): void {
    this.#tokens = Math.max(0, Math.min(this.#rate.burst, (this.#tokens ?? 0) + tokens));
  }
}

describe('TokenBuckets beside a bucket of real numbers', () => {
  const rates = fc
    .record({ perMinute: fc.integer({ min: 1, max: 5_000 }), share: fc.integer({ min: 1, max: 60 }) })
    .map(({ perMinute, share }) => rate(perMinute, Math.max(1, Math.floor((perMinute * share) / 60))));
  const steps = fc.array(
    fc.record({
      waitMs: fc.oneof(fc.constant(0), fc.nat(2_000), fc.nat(120_000), fc.integer({ min: -90_000, max: -1 })),
      rate: rates,
      keepsRate: fc.boolean(),
      givesBack: fc.boolean(),
    }),
    { maxLength: 80 },
  );

  it('agrees on every request, but where rounding alone decides', () =>
    fc.assert(
      fc.property(steps, (trace) => {
        const buckets = new TokenBuckets();
        const naive = new NaiveBucket();
        let nowMs = NOW_MS;
        let current = rate(60);
        for (const step of trace) {
          nowMs += step.waitMs;
          current = step.keepsRate ? current : step.rate;
          const tokens = naive.turnTo(current, nowMs);
          const taken = buckets.take('b', current, nowMs);
          if (Math.abs(tokens - 1) > ROUNDING) assert.equal(taken.ok, tokens >= 1);
          if (!taken.ok) continue;
          assert.ok(taken.value <= tokens - 1 + ROUNDING && taken.value > tokens - 2 - ROUNDING);
          naive.add(-1);
          if (!step.givesBack) continue;
          buckets.giveBack('b');
          naive.add(1);
        }
      }),
      { numRuns: 1_000 },
    ));

  it('lets no window through more than its burst and what came in it, to the request', () =>
    fc.assert(
      fc.property(rates, fc.array(fc.nat(3_000), { maxLength: 200 }), (ofRate, waits) => {
        const buckets = new TokenBuckets();
        const passedMs: number[] = [];
        let nowMs = NOW_MS;
        for (const waitMs of waits) {
          nowMs += waitMs;
          if (buckets.take('b', ofRate, nowMs).ok) passedMs.push(nowMs);
        }
        passedMs.forEach((fromMs, first) => {
          passedMs.slice(first).forEach((toMs, extra) => {
            const most = BigInt(ofRate.burst) * 60_000n + BigInt(toMs - fromMs) * BigInt(ofRate.perMinute);
            assert.ok(BigInt(extra + 1) * 60_000n <= most);
          });
        });
      }),
      { numRuns: 50 },
    ));
});
