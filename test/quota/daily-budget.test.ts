import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { fault } from '../../src/lib/result.ts';
import { DailyBudgets, msToNextDay, type Reservation } from '../../src/quota/daily-budget.ts';

const DAY_MS = 86_400_000;
/** 2026-11-03T12:00:00Z */
const NOW_MS = 1_793_707_200_000;
const MIDNIGHT_MS = NOW_MS + DAY_MS / 2;

const exactly = (tokens: number) => ({ least: tokens, most: tokens });

function reserve(budgets: DailyBudgets, tokens: number, perDay: number, nowMs = NOW_MS): Reservation {
  const reserved = budgets.reserve('b', exactly(tokens), perDay, nowMs);
  assert.ok(reserved.ok);
  return reserved.value;
}

/** What is free, found by asking for too much. */
function freeIn(budgets: DailyBudgets, perDay: number, nowMs = NOW_MS): number {
  const refused = budgets.reserve('b', exactly(perDay + 1), perDay, nowMs);
  assert.ok(!refused.ok);
  return refused.fault.free;
}

describe('DailyBudgets.reserve()', () => {
  it('lets exactly 10 of 100 requests side by side pass with a budget for 10', () => {
    const budgets = new DailyBudgets();
    const all = Array.from({ length: 100 }, () => budgets.reserve('b', exactly(7), 76, NOW_MS));
    assert.equal(all.filter(({ ok: isOk }) => isOk).length, 10);
    assert.deepEqual(all[10], fault({ free: 6, isUsedUp: false }));
  });

  it('passes to the last token, and not one further', () => {
    const budgets = new DailyBudgets();
    assert.ok(!budgets.reserve('b', exactly(101), 100, NOW_MS).ok);
    reserve(budgets, 100, 100);
    assert.deepEqual(budgets.reserve('b', exactly(1), 100, NOW_MS), fault({ free: 0, isUsedUp: false }));
  });

  it('tells a budget that is used up from one that others hold', () => {
    const budgets = new DailyBudgets();
    reserve(budgets, 60, 100).settle(60);
    reserve(budgets, 40, 100);
    assert.deepEqual(budgets.reserve('b', exactly(40), 100, NOW_MS), fault({ free: 0, isUsedUp: false }));
    assert.deepEqual(budgets.reserve('b', exactly(41), 100, NOW_MS), fault({ free: 0, isUsedUp: true }));
  });

  it('holds more than the least as far as there is', () => {
    const budgets = new DailyBudgets();
    const held = budgets.reserve('b', { least: 10, most: 80 }, 100, NOW_MS);
    assert.ok(held.ok);
    assert.equal(freeIn(budgets, 100), 20);
    assert.ok(budgets.reserve('b', { least: 10, most: 80 }, 100, NOW_MS).ok);
    assert.equal(freeIn(budgets, 100), 0);
    held.value.giveBack();
    assert.equal(freeIn(budgets, 100), 80);
  });

  it('measures with the limit of the request, as the keys of an owner may differ', () => {
    const budgets = new DailyBudgets();
    reserve(budgets, 50, 100).settle(50);
    assert.ok(!budgets.reserve('b', exactly(1), 50, NOW_MS).ok);
    assert.ok(budgets.reserve('b', exactly(1), 51, NOW_MS).ok);
  });

  it('counts each budget on its own', () => {
    const budgets = new DailyBudgets();
    reserve(budgets, 100, 100);
    assert.ok(budgets.reserve('other', exactly(100), 100, NOW_MS).ok);
  });
});

describe('a reservation', () => {
  it('is settled with what was used, less or more than was held', () => {
    const budgets = new DailyBudgets();
    reserve(budgets, 50, 100).settle(20);
    assert.equal(freeIn(budgets, 100), 80);
    reserve(budgets, 50, 100).settle(70);
    assert.equal(freeIn(budgets, 100), 10);
    reserve(budgets, 10, 100).settle(500);
    assert.equal(freeIn(budgets, 100), 0);
    assert.equal(freeIn(budgets, 1_000), 410);
  });

  it('ends once, whichever comes first and however often', () => {
    const budgets = new DailyBudgets();
    const settled = reserve(budgets, 50, 100);
    settled.settle(30);
    settled.settle(30);
    settled.giveBack();
    assert.equal(freeIn(budgets, 100), 70);
    const returned = reserve(budgets, 50, 100);
    returned.giveBack();
    returned.settle(30);
    returned.giveBack();
    assert.equal(freeIn(budgets, 100), 70);
  });

  it('tells what is left while it is held and after', () => {
    const budgets = new DailyBudgets();
    const reservation = reserve(budgets, 50, 100);
    assert.equal(reservation.remaining(), 50);
    reservation.settle(20);
    assert.equal(reservation.remaining(), 80);
    reserve(budgets, 80, 100).settle(200);
    assert.equal(reservation.remaining(), 0);
  });

  it('is over whatever limit when an engine says the largest numbers', () => {
    const budgets = new DailyBudgets();
    const [first, second] = [reserve(budgets, 1, 100), reserve(budgets, 1, 100)];
    for (const reservation of [first, second]) reservation.settle(Number.MAX_SAFE_INTEGER);
    assert.deepEqual(
      budgets.reserve('b', exactly(1), Number.MAX_SAFE_INTEGER, NOW_MS),
      fault({ free: 0, isUsedUp: true }),
    );
  });
});

describe('the day of a budget', () => {
  it('begins at midnight UTC, to the millisecond', () => {
    const budgets = new DailyBudgets();
    reserve(budgets, 100, 100, MIDNIGHT_MS - 1).settle(100);
    assert.ok(!budgets.reserve('b', exactly(1), 100, MIDNIGHT_MS - 1).ok);
    assert.ok(budgets.reserve('b', exactly(100), 100, MIDNIGHT_MS).ok);
  });

  it('is that of the reservation: an answer that ends after midnight is charged before it', () => {
    const budgets = new DailyBudgets();
    const late = reserve(budgets, 60, 100, MIDNIGHT_MS - 1);
    assert.equal(freeIn(budgets, 100, MIDNIGHT_MS), 100);
    late.settle(90);
    assert.equal(freeIn(budgets, 100, MIDNIGHT_MS), 100);
    assert.equal(freeIn(budgets, 100, MIDNIGHT_MS - 1), 10);
  });

  it('is found again by a clock that steps back over midnight, and its use with it', () => {
    const budgets = new DailyBudgets();
    reserve(budgets, 70, 100, MIDNIGHT_MS - 1).settle(70);
    reserve(budgets, 20, 100, MIDNIGHT_MS).settle(20);
    assert.equal(freeIn(budgets, 100, MIDNIGHT_MS - 1), 30);
    assert.equal(freeIn(budgets, 100, MIDNIGHT_MS), 80);
  });

  it('is found again by a clock that jumped days ahead and is set right, and its use with it', () => {
    const budgets = new DailyBudgets();
    reserve(budgets, 70, 100).settle(70);
    for (const days of [3, 400]) {
      reserve(budgets, 20, 100, NOW_MS + days * DAY_MS).settle(20);
      assert.equal(freeIn(budgets, 100), 30);
    }
    assert.equal(freeIn(budgets, 100, NOW_MS - 400 * DAY_MS), 100);
    assert.equal(freeIn(budgets, 100), 30);
  });

  it('ends after at most a day', () => {
    for (const [nowMs, ms] of [
      [MIDNIGHT_MS - 1, 1],
      [MIDNIGHT_MS, DAY_MS],
      [NOW_MS, DAY_MS / 2],
    ] as const) {
      assert.equal(msToNextDay(nowMs), ms);
    }
  });
});

describe('the number of budgets', () => {
  it('is bounded by day: whoever comes new then finds nothing free', () => {
    const budgets = new DailyBudgets(2);
    const ask = (name: string, nowMs = NOW_MS) => budgets.reserve(name, exactly(1), 10, nowMs).ok;
    assert.deepEqual([ask('a'), ask('b'), ask('c'), ask('a')], [true, true, false, true]);
    assert.equal(ask('c', MIDNIGHT_MS), true);
    assert.equal(budgets.size, 3);
  });

  it('leaves out those of which nothing was used, and refusals', () => {
    const budgets = new DailyBudgets();
    const two = [reserve(budgets, 1, 10), reserve(budgets, 1, 10)];
    two[0]?.giveBack();
    assert.equal(budgets.size, 1);
    two[1]?.giveBack();
    assert.equal(budgets.size, 0);
    freeIn(budgets, 10);
    assert.equal(budgets.size, 0);
  });

  it('forgets days, but the last three that the clock showed', () => {
    const budgets = new DailyBudgets();
    for (const day of [0, 1, 2, 3]) reserve(budgets, 1, 10, NOW_MS + day * DAY_MS).settle(1);
    assert.equal(budgets.size, 3);
    assert.deepEqual([freeIn(budgets, 10, NOW_MS + DAY_MS), freeIn(budgets, 10)], [9, 10]);
  });
});

describe('DailyBudgets under any interleaving', () => {
  const events = fc.array(
    fc.record({
      what: fc.constantFrom('reserve', 'reserve', 'settle', 'giveBack'),
      tokens: fc.integer({ min: 1, max: 40 }),
      share: fc.nat(100),
      which: fc.nat(),
    }),
    { maxLength: 120 },
  );

  it('exceeds no budget, and charges what was settled: neither more nor less (conservation)', () =>
    fc.assert(
      fc.property(events, fc.integer({ min: 1, max: 200 }), (trace, perDay) => {
        const budgets = new DailyBudgets();
        const open: { readonly reservation: Reservation; readonly tokens: number }[] = [];
        let settled = 0;
        for (const { what, tokens, share, which } of trace) {
          const held = open.reduce((sum, one) => sum + one.tokens, 0);
          assert.ok(settled + held <= perDay);
          if (what === 'reserve') {
            const reserved = budgets.reserve('b', exactly(tokens), perDay, NOW_MS);
            assert.equal(reserved.ok, settled + held + tokens <= perDay);
            if (reserved.ok) open.push({ reservation: reserved.value, tokens });
            continue;
          }
          const [ended] = open.splice(which % Math.max(1, open.length), 1);
          if (ended === undefined) continue;
          const used = Math.floor((ended.tokens * share) / 100);
          if (what === 'giveBack') ended.reservation.giveBack();
          else ended.reservation.settle(used);
          settled += what === 'settle' ? used : 0;
        }
        for (const { reservation } of open) reservation.giveBack();
        assert.equal(freeIn(budgets, perDay), perDay - settled);
        assert.equal(budgets.size, settled === 0 ? 0 : 1);
      }),
      { numRuns: 500 },
    ));
});

describe('DailyBudgets.onUse() and restore()', () => {
  const day = Math.floor(NOW_MS / DAY_MS);

  it('tell each change of a use, with what is reserved', () => {
    const budgets = new DailyBudgets();
    const told: number[] = [];
    budgets.onUse((use) => {
      assert.deepEqual([use.budget, use.day], ['b', day]);
      told.push(use.tokens);
    });
    const first = reserve(budgets, 10, 100);
    const second = reserve(budgets, 20, 100);
    first.settle(4);
    first.settle(9);
    second.giveBack();
    assert.ok(!budgets.reserve('b', exactly(99), 100, NOW_MS).ok);
    assert.deepEqual(told, [10, 30, 24, 4]);
  });

  it('tell the day of the reservation, also past midnight', () => {
    const budgets = new DailyBudgets();
    const days: number[] = [];
    const held = reserve(budgets, 10, 100, MIDNIGHT_MS - 1);
    budgets.onUse((use) => days.push(use.day));
    reserve(budgets, 1, 100, MIDNIGHT_MS);
    held.settle(10);
    assert.deepEqual(days, [day + 1, day]);
  });

  it('take a use up again on its day, and on no other', () => {
    const budgets = new DailyBudgets();
    budgets.restore({ budget: 'b', day, tokens: 90 });
    assert.equal(freeIn(budgets, 100), 10);
    assert.deepEqual(budgets.reserve('b', exactly(11), 100, NOW_MS), fault({ free: 10, isUsedUp: true }));
    reserve(budgets, 10, 100).settle(10);
    assert.equal(freeIn(budgets, 100), 0);
    assert.equal(freeIn(budgets, 100, MIDNIGHT_MS), 100);
  });

  it('take up no more budgets of a day than may be held, and none without use', () => {
    const budgets = new DailyBudgets(2);
    for (const budget of ['unused', 'a', 'b', 'c'])
      budgets.restore({ budget, day, tokens: budget === 'unused' ? 0 : 1 });
    assert.equal(budgets.size, 2);
    assert.equal(freeIn(budgets, 100), 99);
  });
});
