// What an agent did so far: outcomes, tokens, and how quickly it answers. It outlives the engine's restarts, and an
// agent that is pushed again takes its record along.

/** Share of a sample in the smoothed latency when it got worse, and when it got better (routing.md §23). */
const WORSE_SHARE = 0.125;
const BETTER_SHARE = 0.5;
/** Share of a deviation in the smoothed deviation (RFC 6298 §2.3). */
const DEVIATION_SHARE = 0.25;

/** Tokens of one answer, as the engine counted them. */
export interface TokenUse {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The figures that outlive a restart of the router (routing.md §23). */
export interface Lifetime {
  readonly successes: number;
  readonly failures: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Times it turned unhealthy by its probes, and by a refused connection. */
  readonly lossesByProbes: number;
  readonly lossesByRefusal: number;
  readonly srttMs: number | undefined;
  readonly rttvarMs: number | undefined;
}

/** How an engine was lost: its probes failed, or nobody listened when a request came. */
export type Loss = 'probes' | 'refused';

export class TrackRecord {
  readonly #monotonicMs: () => number;
  #onChange: (() => void) | undefined;
  #takenMs = Number.NEGATIVE_INFINITY;
  #lastFailedMs = Number.NEGATIVE_INFINITY;
  #losses: Readonly<Record<Loss, number>> = { probes: 0, refused: 0 };
  #successes = 0;
  #failures = 0;
  #consecutiveFailures = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  #srttMs: number | undefined;
  #rttvarMs: number | undefined;

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  get lifetime(): Lifetime {
    return {
      successes: this.#successes,
      failures: this.#failures,
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      lossesByProbes: this.#losses.probes,
      lossesByRefusal: this.#losses.refused,
      srttMs: this.#srttMs,
      rttvarMs: this.#rttvarMs,
    };
  }

  /** Calls `listener` with each change of the lifetime. */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Goes on from the figures of before a start; failures in a row are not among them. */
  restore(lifetime: Lifetime): void {
    this.#successes = lifetime.successes;
    this.#failures = lifetime.failures;
    this.#inputTokens = lifetime.inputTokens;
    this.#outputTokens = lifetime.outputTokens;
    this.#losses = { probes: lifetime.lossesByProbes, refused: lifetime.lossesByRefusal };
    this.#srttMs = lifetime.srttMs;
    this.#rttvarMs = lifetime.rttvarMs;
  }

  /** Monotonic ms of when a request last began or ended; negative infinity before the first. */
  get takenMs(): number {
    return this.#takenMs;
  }

  /** Answers that came to their end. */
  get successes(): number {
    return this.#successes;
  }

  /** Tries that the engine failed; a client's mistake or leaving is none (E7). */
  get failures(): number {
    return this.#failures;
  }

  /** Failures since the last success. */
  get consecutiveFailures(): number {
    return this.#consecutiveFailures;
  }

  /** Monotonic ms of the last failure; negative infinity before the first. */
  get lastFailedMs(): number {
    return this.#lastFailedMs;
  }

  /** How often it turned from healthy to unhealthy, by cause. */
  get losses(): Readonly<Record<Loss, number>> {
    return this.#losses;
  }

  /** How often it turned from healthy to unhealthy. */
  get timesLost(): number {
    return this.#losses.refused + this.#losses.probes;
  }

  /** Successes in all tries, 0 to 1; undefined before the first. */
  get successRate(): number | undefined {
    const tries = this.#successes + this.#failures;
    return tries === 0 ? undefined : this.#successes / tries;
  }

  get inputTokens(): number {
    return this.#inputTokens;
  }

  get outputTokens(): number {
    return this.#outputTokens;
  }

  /** Smoothed milliseconds from sending a request to the head of its answer; undefined before the first sample. */
  get srttMs(): number | undefined {
    return this.#srttMs;
  }

  /** Smoothed deviation of those, ms. */
  get rttvarMs(): number | undefined {
    return this.#rttvarMs;
  }

  /**
   * One latency sample, whole milliseconds from 0. As RFC 6298 §2, but an improvement counts at once: an agent that was
   * slow for a while is not shunned for long (routing.md §23).
   */
  sample(ms: number): void {
    if (this.#srttMs === undefined || this.#rttvarMs === undefined) {
      this.#srttMs = ms;
      this.#rttvarMs = ms / 2;
    } else {
      this.#rttvarMs = mixed(this.#rttvarMs, Math.abs(this.#srttMs - ms), DEVIATION_SHARE);
      this.#srttMs = mixed(this.#srttMs, ms, ms < this.#srttMs ? BETTER_SHARE : WORSE_SHARE);
    }
    this.#onChange?.();
  }

  /** A request begins, or gives its slot back: from now on the figures are news. */
  touch(): void {
    this.#takenMs = this.#monotonicMs();
  }

  /** An answer came to its end; `use` when the engine told its tokens. */
  succeeded(use?: TokenUse): void {
    this.#successes += 1;
    this.#consecutiveFailures = 0;
    this.used(use);
  }

  /** The tokens of an answer that the client got, to its end or in part; `use` when the engine told them. */
  used(use: TokenUse | undefined): void {
    this.#inputTokens += use?.inputTokens ?? 0;
    this.#outputTokens += use?.outputTokens ?? 0;
    this.#onChange?.();
  }

  /** The engine failed a try, before or after its first byte. */
  failed(): void {
    this.#failures += 1;
    this.#consecutiveFailures += 1;
    this.#lastFailedMs = this.#monotonicMs();
    this.#onChange?.();
  }

  /** It was healthy and is no longer. */
  wentDown(loss: Loss): void {
    this.#losses = { ...this.#losses, [loss]: this.#losses[loss] + 1 };
    this.#onChange?.();
  }
}

function mixed(old: number, fresh: number, share: number): number {
  return (1 - share) * old + share * fresh;
}
