// Check 8: a token works once on this router. Used IDs are remembered by the second in which their token ends, and a
// token whose ID may have been forgotten is refused, however the clock steps and however slowly a body comes (D-42).

import { lastValidMs, type RedirectClaims } from './claims.ts';
import { TokenIdSet } from './token-id-set.ts';

/** IDs remembered at once (D-43), some 35 MB: 8,300 accepted redirects a second at a lifetime of 60 s. */
const MAX_LIVE_DEFAULT = 1_048_576;

/**
 * How long an ID is kept after its token ended: a body whose head came in time may take this long (T-08). One that takes
 * longer, under a `--body-timeout` above it, may find its token refused as `expired`, which is safe.
 */
const KEPT_SECONDS = 60;

/**
 * The token IDs used on this router. By token ID alone: a request ID that a client sends again, or that another key
 * guesses, uses nothing up. A live ID is never dropped to make room, or a flood could free a used one (T-10).
 */
export class UsedTokenLedger {
  readonly #maxLive: number;
  /** Used IDs by `endSecond`, so that they are dropped a second at a time. No set is empty: at most `maxLive` of them. */
  readonly #bySecond = new Map<number, TokenIdSet>();
  #size = 0;
  /** The latest second ever dropped. A token that ended in or before it may have been used, whatever the clock says. */
  #floorSecond = -1;
  #sweptSecond = -1;

  /** `maxLive`: IDs remembered at once, at least 1. */
  constructor(maxLive: number = MAX_LIVE_DEFAULT) {
    this.#maxLive = maxLive;
  }

  /** Remembered IDs, 0 to `maxLive`. */
  get size(): number {
    return this.#size;
  }

  /** While true every token is refused as `replay`, used or not: worth a line in the log (D-43). */
  get isFull(): boolean {
    return this.#size >= this.#maxLive;
  }

  /**
   * Why the token may not be used at `nowMs` (Unix, whole), or undefined when it may. `expired`: its ID may be
   * forgotten. `replay`: it was used, or the ledger is full. An `await` between this and `markUsed` would let two
   * requests pass with one token.
   */
  check(claims: RedirectClaims, nowMs: number): 'expired' | 'replay' | undefined {
    this.#dropEnded(secondOf(nowMs));
    const second = endSecond(claims);
    if (second <= this.#floorSecond) return 'expired';
    const isUsed = this.#bySecond.get(second)?.has(claims.tokenId) === true;
    return isUsed || this.isFull ? 'replay' : undefined;
  }

  /** Uses the token up. Throws, as a bug of the caller, unless `check` passes it at the same `nowMs`. */
  markUsed(claims: RedirectClaims, nowMs: number): void {
    const reason = this.check(claims, nowMs);
    if (reason !== undefined) throw new Error(`Cannot mark token as used: ${reason}`);
    const second = endSecond(claims);
    const ids = this.#bySecond.get(second) ?? new TokenIdSet();
    ids.add(claims.tokenId);
    this.#bySecond.set(second, ids);
    this.#size += 1;
  }

  /** Once per second of the clock, in whichever direction it moved; each second of IDs is dropped as a whole. */
  #dropEnded(nowSecond: number): void {
    if (nowSecond === this.#sweptSecond) return;
    this.#sweptSecond = nowSecond;
    for (const [second, ids] of this.#bySecond) {
      if (second + KEPT_SECONDS >= nowSecond) continue;
      this.#bySecond.delete(second);
      this.#size -= ids.size;
      this.#floorSecond = Math.max(this.#floorSecond, second);
    }
  }
}

function endSecond(claims: RedirectClaims): number {
  return secondOf(lastValidMs(claims));
}

function secondOf(timeMs: number): number {
  return Math.floor(timeMs / 1_000);
}
