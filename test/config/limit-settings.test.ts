import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIMIT_SETTINGS } from '../../src/config/limit-settings.ts';
import { fault, ok } from '../../src/lib/result.ts';

const { admitFraction, admitParkTimeout, rpmBurstSeconds } = LIMIT_SETTINGS;

describe('--admit-fraction', () => {
  for (const [text, value] of [
    ['0.90', 0.9],
    ['1', 1],
    ['1.0', 1],
    ['0.000000000000001', 1e-15],
  ] as const) {
    it(`takes ${text}`, () => assert.deepEqual(admitFraction.parse(text), ok(value)));
  }

  for (const text of ['0', '0.0', '1.1', '-0.5', '.5', '1e-3', 'NaN', 'Infinity', '', ' 1', '0.9 ']) {
    it(`refuses "${text}"`, () => {
      assert.deepEqual(admitFraction.parse(text), fault('not a decimal above 0 and at most 1'));
    });
  }
});

describe('--admit-park-timeout', () => {
  it('takes 0s to 1m', () => {
    const parsed = ['0s', '250ms', '1m', '61s'].map((text) => admitParkTimeout.parse(text));
    assert.deepEqual(parsed, [ok(0), ok(250), ok(60_000), fault('not a duration from 0s to 1m')]);
  });
});

describe('--rpm-burst-seconds', () => {
  it('takes 0 to 59', () => {
    const parsed = ['0', '1', '59', '60', '-1', '1.5'].map((text) => rpmBurstSeconds.parse(text));
    const refused = fault('not a whole number from 0 to 59');
    assert.deepEqual(parsed, [ok(0), ok(1), ok(59), refused, refused, refused]);
  });
});

describe('LIMIT_SETTINGS', () => {
  it('have defaults and examples that they take', () => {
    for (const setting of Object.values(LIMIT_SETTINGS)) {
      assert.equal(setting.parse(setting.example).ok, true);
      if ('fallback' in setting) assert.equal(setting.parse(setting.fallback).ok, true);
    }
  });
});
