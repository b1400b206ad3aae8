import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type HoldQuestion, holdBudgetMs } from '../../src/routing/hold-budget.ts';
import { EMPTY_MAP } from '../../src/site/sibling-map.ts';
import { edited, mapOf, ROUTER, VALID_MAP } from '../site/map-document.ts';

const PLACEMENT = { model: 'm', kind: 'chat', site: 'site-fr-1', scale_from_zero: true };

/** Of a model that this site starts, 120 s by default, for a client that waits. */
function budgetOf(placement: object, change: Partial<HoldQuestion> = {}): number {
  const map = mapOf(edited(VALID_MAP, 'placements', [{ ...PLACEMENT, ...placement }]));
  const here = { siteId: ROUTER.ownSite, map };
  return holdBudgetMs({ model: 'm', kind: 'chat', here, defaultHoldMs: 120_000, maxWaitMs: undefined, ...change });
}

describe('holdBudgetMs()', () => {
  const budgets: readonly (readonly [string, object, Partial<HoldQuestion>, number])[] = [
    ['is the default without a hold_budget (R-196)', {}, {}, 120_000],
    ['is the hold_budget of this site, be it shorter (R-196)', { hold_budget: '2s' }, {}, 2_000],
    ['or longer than the default, to one hour (R-196)', { hold_budget: '1h' }, {}, 3_600_000],
    ['counts also where the default is 0', { hold_budget: '2s' }, { defaultHoldMs: 0 }, 2_000],
    ['is cut to whole milliseconds', { hold_budget: '1999us' }, {}, 1],
    ['may come to nothing by that', { hold_budget: '999us' }, {}, 0],
    ['is made shorter by the client', { hold_budget: '2s' }, { maxWaitMs: 1_999 }, 1_999],
    ['and never longer', { hold_budget: '2s' }, { maxWaitMs: 2_001 }, 2_000],
    ['is 0 for a client that does not wait', {}, { maxWaitMs: 0 }, 0],
    ['is 0 without any', {}, { defaultHoldMs: 0 }, 0],
    ['is 0 where the model is not started from zero (R-031)', { scale_from_zero: false, hold_budget: '2s' }, {}, 0],
    ['is 0 for a placement at another site (R-031, R-196)', { site: 'site-fr-2', hold_budget: '2s' }, {}, 0],
    ['is 0 for another kind (R-051)', {}, { kind: 'embedding' }, 0],
    ['is 0 for another model', {}, { model: 'n' }, 0],
    ['is 0 before the first map (R-007)', {}, { here: { siteId: ROUTER.ownSite, map: EMPTY_MAP } }, 0],
    ['is 0 with the feature off (R-001)', {}, { here: undefined }, 0],
  ];
  for (const [what, placement, change, expected] of budgets) {
    it(what, () => assert.equal(budgetOf(placement, change), expected));
  }
});
