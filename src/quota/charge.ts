// What one request takes from its owner's quota, when, and what comes back. A request that is refused or never reaches an
// agent costs nothing; one that did costs one request and the tokens that it used (deviations: docs/keys.md).

import { fault, ok, type Result } from '../lib/result.ts';
import { msToNextDay, type Reservation, type Shortage, type TokenBudgets, type TokenDemand } from './daily-budget.ts';
import { type Limits, rateOf } from './limits.ts';
import type { RequestBuckets } from './token-bucket.ts';

/** For what time alone does not change: the request has to be another, or the key. */
const PERMANENT_RETRY_S = 86_400;

/** For tokens that others hold: they come back when those requests end. */
const HELD_RETRY_S = 1;

/** Why a request is a 429. */
export interface QuotaRefusal {
  /** `model`: the key's quotas are per model and do not name it. */
  readonly limit: 'requests' | 'tokens' | 'model';
  /** Of requests or tokens, 0 or more: for `X-RateLimit-Remaining-*`. */
  readonly remaining: number;
  /** 1 or more: before that the same request cannot pass, unless others give back what they hold. */
  readonly retryAfterS: number;
  /** Waiting does not help: a client should not try again by itself. */
  readonly isPermanent: boolean;
}

/** The refusal of a model without a quota of its own (D-04, feature off). */
const MODEL_WITHOUT_QUOTA: QuotaRefusal = Object.freeze({
  limit: 'model',
  remaining: 0,
  retryAfterS: PERMANENT_RETRY_S,
  isPermanent: true,
});

export interface QuotaStores {
  readonly requests: RequestBuckets;
  readonly tokens: TokenBudgets;
  /** 0: a whole minute's requests may come at once; else what 1 to 59 seconds bring. */
  readonly burstSeconds: number;
}

/** The quota of one request, from its first take to its end, of which there is one: later calls do nothing. */
export class Charge {
  /** Whole requests left after this one, for `X-RateLimit-Remaining-Requests`; undefined: unlimited. */
  readonly remainingRequests: number | undefined;
  readonly #limits: Limits;
  readonly #stores: QuotaStores;
  #reservation: Reservation | undefined;
  #isOpen = true;

  /** Only `takeRequest` makes one. */
  constructor(stores: QuotaStores, limits: Limits, remainingRequests: number | undefined) {
    this.#stores = stores;
    this.#limits = limits;
    this.remainingRequests = remainingRequests;
  }

  /**
   * Holds the day's tokens for `demand`, at `nowMs` (Unix, whole), right before dispatch; undefined: they are held, or
   * unlimited. A refusal gives the request back too. Throws, as a bug of the caller, a second time and after the end.
   */
  reserve(demand: TokenDemand, nowMs: number): QuotaRefusal | undefined {
    if (!this.#isOpen || this.#reservation !== undefined) throw new Error('Cannot reserve tokens: done already');
    const { tokens } = this.#limits;
    if (tokens === undefined) return undefined;
    const reserved = this.#stores.tokens.reserve(tokens.budget, demand, tokens.perDay, nowMs);
    if (!reserved.ok) {
      this.giveBack();
      return tokenRefusal(reserved.fault, demand.least > tokens.perDay, nowMs);
    }
    this.#reservation = reserved.value;
    return undefined;
  }

  /** Whether `reserve` has anything to hold: then the prompt has to be measured. */
  get hasTokenLimit(): boolean {
    return this.#limits.tokens !== undefined;
  }

  /** For `X-RateLimit-Remaining-Tokens`: now, so after `settle` without what was held in vain; undefined: unlimited. */
  remainingTokens(): number | undefined {
    return this.#reservation?.remaining();
  }

  /** The request reached an agent and has ended, well or not: it keeps its request and used `tokens`, 0 or more. */
  settle(tokens: number): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#reservation?.settle(tokens);
  }

  /** No agent had the request, and it is to be tried once more: its tokens come back until then. */
  giveBackTokens(): void {
    this.#reservation?.giveBack();
    this.#reservation = undefined;
  }

  /** Neither settled nor given back. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The request ended without having reached an agent: nothing is charged. */
  giveBack(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#reservation?.giveBack();
    const { requests } = this.#limits;
    // Without a rate nothing was taken.
    if (requests !== undefined && this.remainingRequests !== undefined) {
      this.#stores.requests.giveBack(requests.bucket);
    }
  }
}

/**
 * Takes one request at `nowMs` (Unix, whole). `limits`: of `limitsOf`, undefined is refused as `model`. `replicas`: healthy agents for model and capability; a request that is
 * about to be held counts one.
 */
export function takeRequest(
  stores: QuotaStores,
  limits: Limits | undefined,
  replicas: number,
  nowMs: number,
): Result<Charge, QuotaRefusal> {
  if (limits === undefined) return fault(MODEL_WITHOUT_QUOTA);
  const rate = rateOf(limits.requests, replicas, stores.burstSeconds);
  if (limits.requests === undefined || rate === undefined) return ok(new Charge(stores, limits, undefined));
  const taken = stores.requests.take(limits.requests.bucket, rate, nowMs);
  if (taken.ok) return ok(new Charge(stores, limits, taken.value));
  const retryAfterS = Math.ceil(taken.fault / 1_000);
  return fault({ limit: 'requests', remaining: 0, retryAfterS, isPermanent: false });
}

function tokenRefusal({ free, isUsedUp }: Shortage, isPermanent: boolean, nowMs: number): QuotaRefusal {
  const refusal = { limit: 'tokens', remaining: free, isPermanent } as const;
  if (isPermanent) return { ...refusal, retryAfterS: PERMANENT_RETRY_S };
  return { ...refusal, retryAfterS: isUsedUp ? Math.ceil(msToNextDay(nowMs) / 1_000) : HELD_RETRY_S };
}
