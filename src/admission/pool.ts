// What the admitted requests of one model weigh, in all and by key, and whether one more fits (gates B2 and B4 share,
// api.md §14). Who waits for room is in occupancy.ts.

/** How much may be admitted for a model at this moment. */
export interface PoolRoom {
  /** Healthy agents that can serve the request. Below 1 counts as 1, so that the gate stays on (T5). */
  readonly replicas: number;
  /** Tokens for each agent; 0: no limit. */
  readonly budgetTokens: number;
  /** Requests for each agent; 0: no limit. */
  readonly maxInflight: number;
}

/** What a request would occupy. */
export interface Footprint {
  readonly keyId: string;
  readonly promptTokens: number;
  /** 0: undeclared; the reservation then grows with the output. */
  readonly declaredOutputTokens: number;
  /** Of the pool that the key may hold, 0 to 1; 0: no limit. */
  readonly share: number;
}

/** `full`: not now. `never`: not even alone. `share`: the key has its part already. */
export type Verdict = 'fits' | 'full' | 'never' | 'share';

/** An admitted request's hold on its pool. All of it may be called at any time, and does nothing after `release`. */
export interface Reservation {
  /** The output so far, in tokens: an undeclared request grows with it, and is never stopped by that. */
  grow(outputTokens: number): void;
  /** The exact prompt tokens, from 0, in place of the estimate. */
  correct(promptTokens: number): void;
  /** Gives everything back, once. */
  release(): void;
}

interface Held {
  tokens: number;
  requests: number;
}

/** Tokens that may be held at once; undefined: no limit. `fraction` is above 0 and at most 1. */
export function budgetOf({ replicas, budgetTokens }: PoolRoom, fraction: number): number | undefined {
  return budgetTokens > 0 ? Math.max(1, Math.floor(fraction * budgetTokens * Math.max(1, replicas))) : undefined;
}

/** Requests that may be admitted at once; undefined: no limit. */
export function inflightMaxOf({ replicas, maxInflight }: PoolRoom): number | undefined {
  return maxInflight > 0 ? maxInflight * Math.max(1, replicas) : undefined;
}

export class Pool {
  readonly #held: Held = { tokens: 0, requests: 0 };
  /** By key; only those that hold something. */
  readonly #byKey = new Map<string, Held>();

  get tokens(): number {
    return this.#held.tokens;
  }

  get requests(): number {
    return this.#held.requests;
  }

  /** Keys that hold something. */
  get keys(): number {
    return this.#byKey.size;
  }

  verdict(footprint: Footprint, room: PoolRoom, fraction: number): Verdict {
    const weight = weightOf(footprint);
    const budget = budgetOf(room, fraction) ?? Number.POSITIVE_INFINITY;
    if (weight > budget) return 'never';
    const inflightMax = inflightMaxOf(room) ?? Number.POSITIVE_INFINITY;
    if (this.#held.tokens + weight > budget || this.#held.requests + 1 > inflightMax) return 'full';
    // No fraction here: a key's share is of what the engines can hold (api.md §14).
    const share = Math.floor(footprint.share * room.budgetTokens * Math.max(1, room.replicas));
    const ofKey = this.#byKey.get(footprint.keyId)?.tokens ?? 0;
    return share > 0 && ofKey + weight > share ? 'share' : 'fits';
  }

  /** Holds the footprint. `onFreed` is told whenever there is more room than before. */
  reserve(footprint: Footprint, onFreed: () => void): Reservation {
    const ofKey = this.#byKey.get(footprint.keyId) ?? { tokens: 0, requests: 0 };
    this.#byKey.set(footprint.keyId, ofKey);
    const move = (tokens: number, requests: number): void => {
      for (const held of [this.#held, ofKey]) {
        held.tokens += tokens;
        held.requests += requests;
      }
      if (ofKey.requests === 0) this.#byKey.delete(footprint.keyId);
      if (tokens < 0 || requests < 0) onFreed();
    };
    return new PoolReservation(footprint, move);
  }
}

function weightOf({ promptTokens, declaredOutputTokens }: Footprint): number {
  return promptTokens + declaredOutputTokens;
}

class PoolReservation implements Reservation {
  readonly #isDeclared: boolean;
  readonly #move: (tokens: number, requests: number) => void;
  #promptTokens: number;
  #grownTokens = 0;
  #weight: number;
  #isReleased = false;

  constructor(footprint: Footprint, move: (tokens: number, requests: number) => void) {
    this.#isDeclared = footprint.declaredOutputTokens > 0;
    this.#move = move;
    this.#promptTokens = footprint.promptTokens;
    this.#weight = weightOf(footprint);
    move(this.#weight, 1);
  }

  grow(outputTokens: number): void {
    if (this.#isDeclared || outputTokens <= this.#grownTokens) return;
    this.#change(outputTokens - this.#grownTokens);
    this.#grownTokens = outputTokens;
  }

  correct(promptTokens: number): void {
    this.#change(promptTokens - this.#promptTokens);
    this.#promptTokens = promptTokens;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#move(-this.#weight, -1);
  }

  /** What was counted exactly is never below 0, so neither is the weight. */
  #change(tokens: number): void {
    if (this.#isReleased) return;
    this.#weight += tokens;
    this.#move(tokens, 0);
  }
}
