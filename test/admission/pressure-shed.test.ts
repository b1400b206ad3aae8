import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findShedRule, type Pressure } from '../../src/admission/pressure-shed.ts';
import type { Threshold } from '../../src/policy/policy.ts';

function kv(operator: Threshold['operator'], value = 0.5): Threshold {
  return { metric: 'kv_cache_utilization', operator, value };
}

function pool(...uses: readonly (number | undefined)[]): readonly Pressure[] {
  return uses.map((kvCacheUse) => ({ kvCacheUse, waitingRequests: undefined }));
}

describe('findShedRule()', () => {
  for (const [operator, below, at, above] of [
    ['gt', false, false, true],
    ['gte', false, true, true],
    ['lt', true, false, false],
    ['lte', true, true, false],
  ] as const) {
    it(`sheds by ${operator} on the right side of its value`, () => {
      const isShed = (use: number) => findShedRule([kv(operator)], pool(use)) !== undefined;
      assert.deepEqual([isShed(0.4), isShed(0.5), isShed(0.6)], [below, at, above]);
    });
  }

  it('looks at the mean, not at the fullest engine', () => {
    assert.equal(findShedRule([kv('gt')], pool(1, 0)), undefined);
    assert.notEqual(findShedRule([kv('gt')], pool(1, 0.25)), undefined);
  });

  it('leaves out who does not tell the metric, and passes when nobody does or nobody is there', () => {
    assert.notEqual(findShedRule([kv('gt')], pool(0.6, undefined, undefined)), undefined);
    assert.equal(findShedRule([kv('gte', 0)], pool(undefined)), undefined);
    assert.equal(findShedRule([kv('gte', 0)], []), undefined);
  });

  it('returns the first rule that is broken, each metric by itself', () => {
    const waiting: Threshold = { metric: 'waiting_requests', operator: 'gte', value: 3 };
    const agents = [{ kvCacheUse: 0.9, waitingRequests: 3 }];
    assert.equal(findShedRule([kv('lt'), waiting, kv('gt')], agents), waiting);
    assert.equal(findShedRule([waiting], pool(0.9)), undefined);
    assert.equal(findShedRule([{ ...waiting, metric: 'srtt' }], agents), undefined);
  });
});
