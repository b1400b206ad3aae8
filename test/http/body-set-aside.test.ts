import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RouterError } from '../../src/errors.ts';
import { BodyBudget } from '../../src/http/body-budget.ts';

describe('BodyBudget of a request that is held', () => {
  it('has room for others while a share is set aside, and takes it back also where there is none', () => {
    const budget = new BodyBudget(100);
    const [held, other] = [{ bodyBytes: 0 }, { bodyBytes: 0 }];
    budget.take(held, 60);
    const bytes = budget.setAside(held);
    assert.deepEqual([bytes, budget.bytes, held.bodyBytes], [60, 0, 0]);
    budget.take(other, 100);
    budget.takeBack(held, bytes);
    assert.deepEqual([budget.bytes, held.bodyBytes], [160, 60]);
    assert.throws(() => budget.take({ bodyBytes: 0 }, 1), RouterError);
    budget.giveBack(other);
    budget.giveBack(held);
    assert.equal(budget.bytes, 0);
  });
});
