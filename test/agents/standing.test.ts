import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { standingOf, TRIAL_PAUSE_MAX_MS, TRIAL_PAUSE_MS } from '../../src/agents/standing.ts';
import type { Standing } from '../../src/policy/policy-agent.ts';

const NEVER = Number.NEGATIVE_INFINITY;

function standing(consecutiveFailures: number, lastFailedMs: number, nowMs: number, lastTakenMs = NEVER): Standing {
  return standingOf({ record: { consecutiveFailures, lastFailedMs }, lastTakenMs, isBusySince: () => false }, nowMs);
}

describe('standingOf()', () => {
  it('trusts an agent until its third failed try in a row', () => {
    assert.equal(standing(0, NEVER, 0), 'trusted');
    assert.equal(standing(2, 0, 0), 'trusted');
    assert.equal(standing(3, 0, 0), 'passed_over');
  });

  it('gives it a trial a second after the third failure, and later after each further one', () => {
    for (const [failures, pauseMs] of [
      [3, TRIAL_PAUSE_MS],
      [4, 2 * TRIAL_PAUSE_MS],
      [7, 16 * TRIAL_PAUSE_MS],
      [8, TRIAL_PAUSE_MAX_MS],
      [5_000, TRIAL_PAUSE_MAX_MS],
    ] as const) {
      assert.equal(standing(failures, 500, 500 + pauseMs - 1), 'passed_over', `${failures}`);
      assert.equal(standing(failures, 500, 500 + pauseMs), 'trial', `${failures}`);
    }
  });

  it('gives no second trial while a request runs that was given to it since the last failure', () => {
    for (const [takenMs, expected] of [
      [499, 'trial'],
      [500, 'passed_over'],
    ] as const) {
      const record = { consecutiveFailures: 3, lastFailedMs: 500 };
      const tried = { record, lastTakenMs: takenMs, isBusySince: (ms: number) => takenMs >= ms };
      assert.equal(standingOf(tried, 1_000_000), expected, `taken at ${takenMs}`);
    }
  });

  it('gives no second trial within a pause of one that ended without a verdict', () => {
    const nowMs = 10_000;
    assert.equal(standing(3, 0, nowMs, nowMs - TRIAL_PAUSE_MS + 1), 'passed_over');
    assert.equal(standing(3, 0, nowMs, nowMs - TRIAL_PAUSE_MS), 'trial');
  });
});
