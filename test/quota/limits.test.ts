import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyQuota } from '../../src/auth/key-quota.ts';
import { limitsOf, rateOf } from '../../src/quota/limits.ts';
import { PER_MINUTE_MAX } from '../../src/quota/token-bucket.ts';
import { flatQuota, perModelQuota } from './quotas.ts';

const of = (owner: string, quota: KeyQuota | undefined, model = 'm') => limitsOf({ owner, quota }, model);

describe('limitsOf()', () => {
  it('takes flat limits for all models, on one bucket of the owner', () => {
    const quota = flatQuota(5, 100);
    assert.deepEqual(of('o', quota), {
      requests: { bucket: '1:o', perMinute: 5, isPerReplica: false },
      tokens: { budget: '1:o', perDay: 100 },
    });
    assert.deepEqual(of('o', quota, 'other'), of('o', quota));
  });

  it('takes limits per model, for each replica, on a bucket of owner and model', () => {
    assert.deepEqual(of('o', perModelQuota({ m: [5, 100], n: [0, 0] })), {
      requests: { bucket: '1:om', perMinute: 5, isPerReplica: true },
      tokens: { budget: '1:om', perDay: 100 },
    });
  });

  for (const [quota, what] of [
    [undefined, 'no quota'],
    [flatQuota(undefined, undefined), 'nothing declared'],
    [flatQuota(0, 0), '0'],
    [flatQuota(-1, -5), 'negative limits'],
    [perModelQuota({ m: [0, 0] }), '0 for the model'],
  ] as const) {
    it(`limits nothing with ${what}`, () => {
      assert.deepEqual(of('o', quota), { requests: undefined, tokens: undefined });
    });
  }

  it('has none for a model that strict limits do not name, by its exact name (R-020, A1)', () => {
    for (const model of ['n', 'M', '', 'constructor'])
      assert.equal(of('o', perModelQuota({ m: [1, 1] }), model), undefined);
  });

  it('never gives two owners, or two models, one bucket, whatever their names hold', () => {
    const strict = (owner: string, model: string) =>
      of(owner, perModelQuota({ [model]: [1, 1] }), model)?.tokens?.budget;
    const flat = (owner: string) => of(owner, flatQuota(1, 1))?.tokens?.budget;
    const names = ['a', 'am', 'a\0m', '1:a', '1:am', ':', '2:am'];
    const buckets = names.flatMap((owner) => [flat(owner), ...names.map((model) => strict(owner, model))]);
    assert.equal(new Set(buckets).size, names.length * (names.length + 1));
  });
});

describe('rateOf()', () => {
  const flat = { bucket: 'b', perMinute: 30, isPerReplica: false };
  const each = { bucket: 'b', perMinute: 30, isPerReplica: true };

  it('multiplies by the replicas only what is per replica (A9)', () => {
    assert.deepEqual(rateOf(flat, 3, 0), { perMinute: 30, burst: 30 });
    assert.deepEqual(rateOf(each, 3, 0), { perMinute: 90, burst: 90 });
    assert.deepEqual(rateOf(each, 1, 0), { perMinute: 30, burst: 30 });
  });

  it('limits nothing without a limit, nor per replica without a replica (T5)', () => {
    assert.equal(rateOf(undefined, 3, 0), undefined);
    assert.equal(rateOf(each, 0, 0), undefined);
    assert.deepEqual(rateOf(flat, 0, 0), { perMinute: 30, burst: 30 });
  });

  const bursts = [
    { perMinute: 30, seconds: 1, burst: 1 },
    { perMinute: 30, seconds: 2, burst: 1 },
    { perMinute: 30, seconds: 4, burst: 2 },
    { perMinute: 119, seconds: 1, burst: 1 },
    { perMinute: 120, seconds: 1, burst: 2 },
    { perMinute: 60, seconds: 59, burst: 59 },
    { perMinute: 1, seconds: 59, burst: 1 },
  ];
  for (const { perMinute, seconds, burst } of bursts) {
    it(`lets ${burst} of ${perMinute} a minute come at once in a window of ${seconds} s`, () => {
      assert.deepEqual(rateOf({ ...flat, perMinute }, 1, seconds), { perMinute, burst });
    });
  }

  it('stays within what a bucket can count with', () => {
    const huge = rateOf({ ...each, perMinute: Number.MAX_SAFE_INTEGER }, 1_000, 0);
    assert.deepEqual(huge, { perMinute: PER_MINUTE_MAX, burst: PER_MINUTE_MAX });
  });
});
