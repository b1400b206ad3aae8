// Tokens per minute for each key and model, in and out (ITPM and OTPM of gate B4, api.md §14): buckets that fill
// continuously to one minute's worth. Unlike requests, tokens are taken many at a time, and output is charged when it is
// too late to refuse, so a level may be below 0.

import { fault, ok, type Result } from '../lib/result.ts';

/** Buckets kept; beyond, what is full goes, and then what was used longest ago. */
export const BUCKETS_MAX = 100_000;
/** Buckets that stay then, so that making room is rare. */
const BUCKETS_KEPT = 90_000;

/** A higher limit counts as this one, so that sums stay exact. */
export const PER_MINUTE_MAX = 1_000_000_000;

const MINUTE_MS = 60_000;
/** Parts of a token: a bucket of n tokens a minute gains n of them a millisecond. */
const PARTS = MINUTE_MS;

interface Bucket {
  /** In parts, at most `limit` tokens. */
  readonly level: number;
  readonly limit: number;
  readonly atMs: number;
}

export class TokenRates {
  /** In the order of the last use. A full bucket is the same as none. */
  readonly #buckets = new Map<string, Bucket>();

  get size(): number {
    return this.#buckets.size;
  }

  /**
   * Whether the bucket holds `tokens` (above 0) now; else the milliseconds until it does, undefined if it never can,
   * because the limit is lower. `limit`: tokens per minute, and as many at once, above 0. `nowMs`: whole, monotonic.
   */
  check(name: string, limit: number, tokens: number, nowMs: number): Result<void, number | undefined> {
    const perMinute = Math.min(limit, PER_MINUTE_MAX);
    if (tokens > perMinute) return fault(undefined);
    const missing = tokens * PARTS - this.#level(name, perMinute, nowMs);
    return missing <= 0 ? ok(undefined) : fault(Math.ceil(missing / perMinute));
  }

  /** Takes `tokens`, which may leave the bucket below 0; those below 0 are given back, and fill it at most. */
  take(name: string, limit: number, tokens: number, nowMs: number): void {
    const perMinute = Math.min(limit, PER_MINUTE_MAX);
    const level = this.#level(name, perMinute, nowMs) - tokens * PARTS;
    this.#buckets.delete(name);
    if (level < perMinute * PARTS) this.#buckets.set(name, { level, limit: perMinute, atMs: nowMs });
    if (this.#buckets.size > BUCKETS_MAX) this.#makeRoom(nowMs);
  }

  /** Lowering the limit clips what is there, raising it adds nothing (api.md §13.2). */
  #level(name: string, limit: number, nowMs: number): number {
    const bucket = this.#buckets.get(name);
    return bucket === undefined ? limit * PARTS : Math.min(levelAt(bucket, nowMs), limit * PARTS);
  }

  #makeRoom(nowMs: number): void {
    for (const [name, bucket] of this.#buckets) {
      if (levelAt(bucket, nowMs) === bucket.limit * PARTS) this.#buckets.delete(name);
    }
    for (const name of this.#buckets.keys()) {
      if (this.#buckets.size <= BUCKETS_KEPT) break;
      this.#buckets.delete(name);
    }
  }
}

function levelAt({ level, limit, atMs }: Bucket, nowMs: number): number {
  const full = limit * PARTS;
  const untilFullMs = Math.ceil((full - level) / limit);
  return Math.min(full, level + Math.min(Math.max(0, nowMs - atMs), untilFullMs) * limit);
}
