// Tokens per UTC day: what a request may use at most is reserved when it goes to an agent, and what it did use is
// settled when it ends. So requests side by side cannot overshoot a budget that each of them alone would keep.

import { fault, ok, type Result } from '../lib/result.ts';

const DAY_MS = 86_400_000;

/** Budgets held at once for each day, some 200 MB. */
const BUDGETS_MAX_DEFAULT = 1_048_576;

/** Days held at once. */
const DAYS_MAX = 3;

/** What a request may use: `least` must be free, and of what is free beyond it, `most` is held as far as there is. */
export interface TokenDemand {
  /** 1 or more. */
  readonly least: number;
  /** `least` or more. */
  readonly most: number;
}

/** Why a budget has no room. */
export interface Shortage {
  /** Neither used nor reserved, 0 or more. */
  readonly free: number;
  /** The day's use alone leaves no room; otherwise what others reserved does, and may come back. */
  readonly isUsedUp: boolean;
}

/** Tokens held for one request. It ends once, by the first of `settle` and `giveBack`; whatever comes later does nothing. */
export interface Reservation {
  /** Charges `tokens`, 0 or more, in place of what was held, to the day of the reservation. */
  settle(tokens: number): void;
  /** Charges nothing. */
  giveBack(): void;
  /** What the budget has left now, 0 or more. */
  remaining(): number;
}

/** Where daily use is counted; in memory here, on disk or shared by the routers of a site later. */
export interface TokenBudgets {
  /** Holds as much of `demand` as the budget of `perDay` (1 or more) has at `nowMs` (Unix, whole), but never below `least`. */
  reserve(budget: string, demand: TokenDemand, perDay: number, nowMs: number): Result<Reservation, Shortage>;
}

/** What outlives a restart: the use of one budget on one day, in all. */
export interface DailyUse {
  readonly budget: string;
  /** UTC, days since 1970-01-01. */
  readonly day: number;
  /** 0 or more. */
  readonly tokens: number;
}

/** The use of one budget on one day. */
interface Counter {
  used: number;
  reserved: number;
}

/**
 * Budgets in memory, by day, so that a day is dropped as a whole. The last three days that the clock showed are kept: one
 * that steps back over midnight, or that jumped ahead and is set right, finds the use of the day it comes to.
 */
export class DailyBudgets implements TokenBudgets {
  readonly #max: number;
  readonly #byDay = new Map<number, Map<string, Counter>>();
  #today = Number.NaN;
  #onUse: ((use: DailyUse) => void) | undefined;

  /** `max`: budgets held for one day, at least 1. */
  constructor(max: number = BUDGETS_MAX_DEFAULT) {
    this.#max = max;
  }

  /** Budgets held over all days, 0 to three times `max`; those of which nothing was used or is reserved are not. */
  get size(): number {
    return [...this.#byDay.values()].reduce((sum, day) => sum + day.size, 0);
  }

  /**
   * Calls `listener` with each change of a use. What is reserved counts as used: whoever writes it down and reads it after
   * a crash has charged what ran then, and never less than was served.
   */
  onUse(listener: (use: DailyUse) => void): void {
    this.#onUse = listener;
  }

  /** Takes up the use of a day again, at a start; as far as there is room. */
  restore({ budget, day, tokens }: DailyUse): void {
    const held = this.#byDay.get(day) ?? new Map<string, Counter>();
    if (tokens === 0 || held.size >= this.#max) return;
    held.set(budget, { used: tokens, reserved: 0 });
    this.#byDay.set(day, held);
  }

  reserve(budget: string, { least, most }: TokenDemand, perDay: number, nowMs: number): Result<Reservation, Shortage> {
    const day = this.#dayAt(nowMs);
    const held = day.get(budget);
    if (held === undefined && day.size >= this.#max) return fault({ free: 0, isUsedUp: true });
    const counter = held ?? { used: 0, reserved: 0 };
    const free = Math.max(0, perDay - counter.used - counter.reserved);
    if (free < least) return fault({ free, isUsedUp: perDay - counter.used < least });
    const tokens = Math.min(most, free);
    counter.reserved += tokens;
    day.set(budget, counter);
    const remaining = () => Math.max(0, perDay - counter.used - counter.reserved);
    const today = this.#today;
    const tell = () => this.#onUse?.({ budget, day: today, tokens: counter.used + counter.reserved });
    tell();
    const onSettled = () => {
      if (counter.used === 0 && counter.reserved === 0) day.delete(budget);
      tell();
    };
    return ok(new HeldTokens({ counter, tokens, remaining, onSettled }));
  }

  #dayAt(nowMs: number): Map<string, Counter> {
    const today = Math.floor(nowMs / DAY_MS);
    const held = this.#byDay.get(today) ?? new Map<string, Counter>();
    if (today !== this.#today) this.#turnTo(today, held);
    return held;
  }

  /** What the clock showed longest ago goes first, whatever its date. */
  #turnTo(today: number, held: Map<string, Counter>): void {
    this.#today = today;
    this.#byDay.delete(today);
    this.#byDay.set(today, held);
    for (const day of this.#byDay.keys()) {
      if (this.#byDay.size <= DAYS_MAX) break;
      this.#byDay.delete(day);
    }
  }
}

/** Milliseconds from `nowMs` (Unix, whole) to the next UTC midnight, 1 to 86,400,000. */
export function msToNextDay(nowMs: number): number {
  return DAY_MS - (nowMs % DAY_MS);
}

interface Held {
  readonly counter: Counter;
  readonly tokens: number;
  readonly remaining: () => number;
  readonly onSettled: () => void;
}

class HeldTokens implements Reservation {
  readonly #held: Held;
  #isOpen = true;

  constructor(held: Held) {
    this.#held = held;
  }

  settle(tokens: number): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { counter } = this.#held;
    counter.reserved -= this.#held.tokens;
    counter.used += tokens;
    this.#held.onSettled();
  }

  giveBack(): void {
    this.settle(0);
  }

  remaining(): number {
    return this.#held.remaining();
  }
}
