import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { KeyQuota } from '../../src/auth/key-quota.ts';
import { type Charge, type QuotaRefusal, type QuotaStores, takeRequest } from '../../src/quota/charge.ts';
import { DailyBudgets } from '../../src/quota/daily-budget.ts';
import { limitsOf } from '../../src/quota/limits.ts';
import { TokenBuckets } from '../../src/quota/token-bucket.ts';
import { flatQuota, perModelQuota } from './quotas.ts';

/** 2026-11-03T12:00:00Z, half a day before midnight. */
const NOW_MS = 1_793_707_200_000;
const HALF_DAY_S = 43_200;

/** The quotas of one router, asked for one owner and model. */
class Router {
  readonly stores: QuotaStores = { requests: new TokenBuckets(), tokens: new DailyBudgets(), burstSeconds: 0 };

  take(quota: KeyQuota, { replicas = 1, nowMs = NOW_MS } = {}) {
    return takeRequest(this.stores, limitsOf({ owner: 'o', quota }, 'm'), replicas, nowMs);
  }

  charge(quota: KeyQuota): Charge {
    const taken = this.take(quota);
    assert.ok(taken.ok);
    return taken.value;
  }

  /** Takes and reserves: the charge of a request that may go on, or why it may not. */
  serve(quota: KeyQuota, tokens: number, nowMs = NOW_MS): Charge | QuotaRefusal {
    const taken = this.take(quota, { nowMs });
    if (!taken.ok) return taken.fault;
    return taken.value.reserve({ least: tokens, most: tokens }, nowMs) ?? taken.value;
  }
}

const isServed = (outcome: Charge | QuotaRefusal): outcome is Charge => !('limit' in outcome);

describe('takeRequest()', () => {
  it('lets exactly 10 of 100 requests side by side pass with 10 a minute', async () => {
    const router = new Router();
    const all = await Promise.all(Array.from({ length: 100 }, async () => router.serve(flatQuota(10, 0), 1)));
    assert.equal(all.filter(isServed).length, 10);
  });

  it('tells how many are left, or nothing where there is no limit', () => {
    const router = new Router();
    assert.equal(router.charge(flatQuota(3, 0)).remainingRequests, 2);
    assert.equal(router.charge(flatQuota(3, 0)).remainingRequests, 1);
    assert.equal(router.charge(flatQuota(0, 0)).remainingRequests, undefined);
    const unserved = router.take(perModelQuota({ m: [1, 0] }), { replicas: 0 });
    assert.ok(unserved.ok && unserved.value.remainingRequests === undefined);
  });

  it('scales what is per replica with the healthy agents', () => {
    const router = new Router();
    const passing = Array.from({ length: 20 }, () => router.take(perModelQuota({ m: [3, 0] }), { replicas: 4 }));
    assert.equal(passing.filter(({ ok }) => ok).length, 12);
  });

  it('refuses a model that limits per model do not name, for good and before any bucket (R-020, D-04)', () => {
    const router = new Router();
    const refused = { limit: 'model', remaining: 0, retryAfterS: 86_400, isPermanent: true };
    assert.deepEqual(router.take(perModelQuota({ n: [1, 1] })), { ok: false, fault: refused });
  });

  it('tells the second in which the next request passes, and it does: no lock-out', () => {
    for (const perMinute of [1, 7, 45, 61, 5_000]) {
      const router = new Router();
      while (router.take(flatQuota(perMinute, 0)).ok);
      const refused = router.take(flatQuota(perMinute, 0));
      assert.ok(!refused.ok);
      const retryAfterS = Math.ceil(60 / perMinute);
      assert.deepEqual(refused.fault, { limit: 'requests', remaining: 0, retryAfterS, isPermanent: false });
      const after = (seconds: number) => router.take(flatQuota(perMinute, 0), { nowMs: NOW_MS + seconds * 1_000 }).ok;
      if (perMinute < 60) assert.equal(after(retryAfterS - 1), false);
      assert.equal(after(retryAfterS), true);
    }
  });
});

describe('Charge.reserve()', () => {
  it('lets exactly 10 of 100 requests side by side pass with the tokens for 10', async () => {
    const router = new Router();
    const all = await Promise.all(Array.from({ length: 100 }, async () => router.serve(flatQuota(0, 109), 10)));
    assert.equal(all.filter(isServed).length, 10);
  });

  it('refuses until midnight when the day is used up, and gives the request back', () => {
    const router = new Router();
    const quota = flatQuota(5, 100);
    const first = router.serve(quota, 80);
    assert.ok(isServed(first));
    first.settle(80);
    const refused = { limit: 'tokens', remaining: 20, retryAfterS: HALF_DAY_S, isPermanent: false };
    for (let count = 0; count < 20; count += 1) assert.deepEqual(router.serve(quota, 21), refused);
    assert.equal(router.charge(quota).remainingRequests, 3);
    assert.ok(isServed(router.serve(quota, 100, NOW_MS + HALF_DAY_S * 1_000)));
  });

  it('refuses for a second when others hold what is missing', () => {
    const router = new Router();
    const quota = flatQuota(0, 100);
    const first = router.serve(quota, 80);
    const second = router.serve(quota, 30);
    assert.deepEqual(second, { limit: 'tokens', remaining: 20, retryAfterS: 1, isPermanent: false });
    assert.ok(isServed(first));
    first.settle(5);
    assert.ok(isServed(router.serve(quota, 30)));
  });

  it('says that waiting does not help a request for more than a whole day', () => {
    const refused = new Router().serve(flatQuota(0, 100), 101);
    assert.deepEqual(refused, { limit: 'tokens', remaining: 100, retryAfterS: 86_400, isPermanent: true });
  });

  it('holds nothing without a limit', () => {
    const charge = new Router().charge(flatQuota(5, 0));
    assert.equal(charge.reserve({ least: 1e9, most: 1e9 }, NOW_MS), undefined);
    assert.equal(charge.remainingTokens(), undefined);
  });

  it('throws a second time, and after the end, where it would hold tokens for ever', () => {
    const router = new Router();
    const demand = { least: 1, most: 1 };
    const [twice, ended] = [router.charge(flatQuota(0, 10)), router.charge(flatQuota(0, 10))];
    twice.reserve(demand, NOW_MS);
    ended.giveBack();
    for (const charge of [twice, ended]) assert.throws(() => charge.reserve(demand, NOW_MS), /done already/);
  });
});

describe('the end of a charge', () => {
  const quota = flatQuota(5, 100);
  const left = (router: Router) => {
    const probe = router.charge(quota);
    probe.reserve({ least: 1, most: 1 }, NOW_MS);
    const remaining = [probe.remainingRequests, probe.remainingTokens()];
    probe.giveBack();
    return remaining;
  };
  const UNTOUCHED = [4, 99];

  it('charges nothing for a request that never reached an agent', () => {
    const router = new Router();
    const reserved = router.serve(quota, 50);
    assert.ok(isServed(reserved));
    reserved.giveBack();
    router.charge(quota).giveBack();
    assert.deepEqual(left(router), UNTOUCHED);
  });

  it('charges one request and the tokens used, however it ended', () => {
    const router = new Router();
    const charge = router.serve(quota, 50);
    assert.ok(isServed(charge));
    assert.equal(charge.remainingTokens(), 50);
    charge.settle(20);
    assert.equal(charge.remainingTokens(), 80);
    assert.deepEqual(left(router), [3, 79]);
  });

  it('charges the request alone for an endpoint without tokens, or an engine that refused it', () => {
    const router = new Router();
    router.charge(quota).settle(0);
    assert.deepEqual(left(router), [3, 99]);
  });

  it('comes once: what follows the first of settle and giveBack does nothing', () => {
    const router = new Router();
    const [settled, returned] = [router.serve(quota, 10), router.serve(quota, 10)];
    assert.ok(isServed(settled) && isServed(returned));
    for (const charge of [settled, settled]) charge.settle(10);
    settled.giveBack();
    returned.giveBack();
    returned.giveBack();
    returned.settle(10);
    assert.deepEqual(left(router), [3, 89]);
  });

  it('gives back no request that was never taken', () => {
    const router = new Router();
    const strict = perModelQuota({ m: [2, 0] });
    const unserved = router.take(strict, { replicas: 0 });
    router.charge(strict);
    assert.ok(unserved.ok);
    unserved.value.giveBack();
    assert.equal(router.charge(strict).remainingRequests, 0);
  });
});

describe('quotas of a fleet', () => {
  const sites = 3;
  const steps = fc.array(
    fc.record({
      path: fc.array(fc.nat(sites - 1), { minLength: 1, maxLength: 3 }),
      end: fc.constantFrom('settle', 'giveBack', 'settle twice', 'both'),
      tokens: fc.integer({ min: 1, max: 30 }),
      isSlow: fc.boolean(),
    }),
    { maxLength: 60 },
  );

  it('charge a request once, where it is served, and a redirect nowhere (P-18, R-027, R-132)', () => {
    const quota = flatQuota(1_000, 300);
    return fc.assert(
      fc.property(steps, (requests) => {
        const routers = Array.from({ length: sites }, () => new Router());
        const served = routers.map(() => ({ requests: 0, tokens: 0 }));
        const slow: (() => void)[] = [];
        for (const { path, end, tokens, isSlow } of requests) {
          // Sites on the way redirect: that is decided before a quota is asked, so nothing is called there.
          const site = path.at(-1) ?? 0;
          const charge = routers[site]?.serve(quota, tokens);
          const count = served[site];
          if (charge === undefined || count === undefined || !isServed(charge)) continue;
          const finish = () => {
            if (end === 'giveBack') return charge.giveBack();
            charge.settle(tokens);
            if (end === 'settle twice') charge.settle(tokens);
            if (end === 'both') charge.giveBack();
            count.requests += 1;
            count.tokens += tokens;
          };
          if (isSlow) slow.push(finish);
          else finish();
        }
        for (const finish of slow) finish();
        routers.forEach((router, site) => {
          const probe = router.charge(quota);
          const isLeft = served[site]?.tokens !== 300;
          assert.equal(probe.reserve({ least: 1, most: 1 }, NOW_MS) === undefined, isLeft);
          if (isLeft) assert.equal(probe.remainingTokens(), 300 - (served[site]?.tokens ?? 0) - 1);
          assert.equal(probe.remainingRequests, 1_000 - (served[site]?.requests ?? 0) - 1);
        });
      }),
      { numRuns: 300 },
    );
  });

  it('give a request that a token brought the limits of this site (R-127)', () => {
    const [first, second] = [new Router(), new Router()];
    assert.equal(first.charge(flatQuota(10, 0)).remainingRequests, 9);
    assert.equal(second.charge(flatQuota(2, 0)).remainingRequests, 1);
  });
});
