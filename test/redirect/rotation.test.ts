import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isStepwise, refusedInRotation, restartOrders, TOKEN_END_MS } from './rotation.ts';

const ORDERS = restartOrders();
const STEPWISE = ORDERS.filter(isStepwise);

describe('a rotation of the secret', () => {
  it('refuses no token on its way as signature, in whatever order the sites take each step (R-156)', () => {
    assert.deepEqual([ORDERS.length, STEPWISE.length], [1_680, 216]);
    for (const order of STEPWISE) assert.equal(refusedInRotation(order, TOKEN_END_MS), undefined);
  });

  it('refuses one in every order in which a site is a step ahead of one that has not begun it', () => {
    for (const order of ORDERS.filter((other) => !isStepwise(other))) {
      assert.notEqual(refusedInRotation(order, TOKEN_END_MS), undefined, order.join(''));
    }
  });

  it('refuses one when the old secret goes a millisecond before its last token ends, grace included', () => {
    // A site sends nobody to itself: the last to sign with the old secret must not be the first to forget it.
    const early = STEPWISE.filter((order) => order[5] !== order[6]);
    for (const order of early) {
      const refused = refusedInRotation(order, TOKEN_END_MS - 1) ?? 'none';
      assert.match(refused, /after step 1, shown at \d+ ms to site \d after step 3$/);
    }
    assert.equal(early.length, 144);
  });
});
