// Requests per minute: a bucket that refills evenly, with no minute boundary to wait for (api.md §13.2). All in whole
// numbers, so that a limit of 7 lets 7 pass in each minute and no rounding an eighth.

import { fault, ok, type Result } from '../lib/result.ts';

/** Requests a minute that a bucket counts with; a higher limit is no limit to any router. */
export const PER_MINUTE_MAX = 1_000_000_000;

/** Buckets held at once, some 200 MB. */
const BUCKETS_MAX_DEFAULT = 1_048_576;

/** A bucket that nobody asks is full again after a minute: its burst is at most what a minute brings. */
const MINUTE_MS = 60_000;

/** What one request takes: a bucket of n requests a minute regains n of these parts a millisecond. */
const PARTS = MINUTE_MS;

/** Looked at by each request, so that what rests is dropped faster than it can come. */
const SWEPT_PER_TAKE = 2;

export interface RequestRate {
  /** 1 to 1,000,000,000. */
  readonly perMinute: number;
  /** Requests at once out of a full bucket, 1 to `perMinute`. */
  readonly burst: number;
}

/** Where buckets are kept; in memory here, shared by the routers of a site later. */
export interface RequestBuckets {
  /**
   * Takes one request at `nowMs` (Unix, whole) out of the bucket, which is full if it is new, and returns how many whole
   * ones are left. The fault is after how many milliseconds, 1 or more, one would pass if nobody else asked.
   */
  take(bucket: string, rate: RequestRate, nowMs: number): Result<number, number>;
  /** Puts back what `take` took. */
  giveBack(bucket: string): void;
}

interface Bucket {
  perMinute: number;
  burst: number;
  /** 0 to `burst` × `PARTS`, once refilled. */
  level: number;
  atMs: number;
}

/**
 * Buckets in memory. A rate holds from the request that brings it: raising it adds nothing, lowering the burst clips.
 * Where the clock steps back, a bucket regains nothing for the step and goes on from there; nobody is locked out.
 */
export class TokenBuckets implements RequestBuckets {
  readonly #max: number;
  readonly #buckets = new Map<string, Bucket>();
  #hand: Iterator<[string, Bucket]> = this.#buckets.entries();

  /** `max`: buckets held at once, at least 1. */
  constructor(max: number = BUCKETS_MAX_DEFAULT) {
    this.#max = max;
  }

  /** Buckets held, 0 to `max`; full ones are dropped on the way. */
  get size(): number {
    return this.#buckets.size;
  }

  /** While true, whoever has no bucket yet is refused: worth a line in the log. */
  get isFull(): boolean {
    return this.#buckets.size >= this.#max;
  }

  take(name: string, rate: RequestRate, nowMs: number): Result<number, number> {
    this.#sweep(nowMs);
    const bucket = this.#buckets.get(name) ?? this.#add(name, rate, nowMs);
    if (bucket === undefined) return fault(MINUTE_MS);
    refill(bucket, nowMs);
    apply(bucket, rate);
    if (bucket.level < PARTS) return fault(Math.ceil((PARTS - bucket.level) / bucket.perMinute));
    bucket.level -= PARTS;
    return ok(Math.floor(bucket.level / PARTS));
  }

  /** A bucket that is gone was full; what is too much for one that is there goes with the next refill. */
  giveBack(name: string): void {
    const bucket = this.#buckets.get(name);
    if (bucket !== undefined) bucket.level += PARTS;
  }

  #add(name: string, { perMinute, burst }: RequestRate, atMs: number): Bucket | undefined {
    if (this.isFull) return undefined;
    const bucket = { perMinute, burst, level: burst * PARTS, atMs };
    this.#buckets.set(name, bucket);
    return bucket;
  }

  /** A full bucket is the same as none. The hand goes round: an iterator of a map outlives its changes. */
  #sweep(nowMs: number): void {
    for (let count = 0; count < SWEPT_PER_TAKE; count += 1) {
      const next = this.#hand.next();
      if (next.done === true) {
        this.#hand = this.#buckets.entries();
        return;
      }
      const [name, bucket] = next.value;
      refill(bucket, nowMs);
      if (bucket.level === capacityOf(bucket)) this.#buckets.delete(name);
    }
  }
}

/** Below 2^53: a billion requests a minute over one minute are 6 × 10^13 parts. */
function refill(bucket: Bucket, nowMs: number): void {
  const elapsedMs = Math.max(0, Math.min(nowMs - bucket.atMs, MINUTE_MS));
  bucket.level = Math.min(capacityOf(bucket), bucket.level + elapsedMs * bucket.perMinute);
  bucket.atMs = nowMs;
}

/** A full bucket stays full, as one that was dropped would be. */
function apply(bucket: Bucket, { perMinute, burst }: RequestRate): void {
  const isFull = bucket.level === capacityOf(bucket);
  bucket.perMinute = perMinute;
  bucket.burst = burst;
  bucket.level = isFull ? capacityOf(bucket) : Math.min(bucket.level, capacityOf(bucket));
}

function capacityOf({ burst }: Bucket): number {
  return burst * PARTS;
}
