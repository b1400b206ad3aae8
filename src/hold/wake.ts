// That a model is asleep and wanted: told when the first request is held for it, again and again while any is, and once
// more when none is. Whoever comes late or has missed a word is told within a period; and nobody is told more often because
// clients come and go.

import type { Kind } from '../site/kind.ts';

/** A model for which requests are held. */
export interface WantedModel {
  readonly model: string;
  readonly kind: Kind;
  /** Unix ms of the first request of this wait. */
  readonly sinceMs: number;
  /** Requests that are held for it now. */
  readonly held: number;
}

/** Who is told. */
export interface WakePorts {
  announce(event: 'wake_wanted' | 'wake_done', wanted: WantedModel): void;
  /** Asks whoever starts the model to do so. False: the call before is still under way, ask again. */
  call(wanted: WantedModel): boolean;
}

/** From one word to the next (decisions.md, "Hold at zero"). */
const WAKE_PERIOD_MS = 10_000;
/** Models whose last word is remembered after their wait; beyond that the oldest is forgotten. */
export const REMEMBERED_MAX = 1_000;

/** When the next word for a model is due, monotonic. */
interface Due {
  announceAtMs: number;
  callAtMs: number;
  /** An agent was there since: the next wait begins anew, unless the agent proves to be none. */
  hasWoken: boolean;
}

/** The words that were said of models for which nobody waits now, for as long as that keeps the next from being said. */
export class SaidWords {
  readonly #due = new Map<string, Due>();

  /** For a new wait; `isResumed`: of a request that found nobody where an agent was said to be. */
  take(model: string, isResumed: boolean): Due {
    const due = this.#due.get(model);
    this.#due.delete(model);
    if (due === undefined || (due.hasWoken && !isResumed)) {
      return { announceAtMs: Number.NEGATIVE_INFINITY, callAtMs: Number.NEGATIVE_INFINITY, hasWoken: false };
    }
    return { ...due, hasWoken: false };
  }

  /** A wait is over at `nowMs`. */
  keep(model: string, due: Due, nowMs: number): void {
    for (const [known, { announceAtMs, callAtMs }] of this.#due) {
      const isOver = announceAtMs <= nowMs && callAtMs <= nowMs;
      if (isOver || this.#due.size >= REMEMBERED_MAX) this.#due.delete(known);
    }
    this.#due.set(model, due);
  }
}

interface Memory {
  readonly said: SaidWords;
  readonly due: Due;
}

/** One wait for one model, from its first request to its last. */
export class WakeSignal {
  readonly #model: Omit<WantedModel, 'held'>;
  readonly #ports: WakePorts;
  readonly #said: SaidWords;
  readonly #due: Due;
  #isAnnounced = false;

  /** `due`: taken from `said`. */
  constructor(model: Omit<WantedModel, 'held'>, ports: WakePorts, { said, due }: Memory) {
    this.#model = model;
    this.#ports = ports;
    this.#said = said;
    this.#due = due;
  }

  /** Tells what is due at `nowMs` of the monotonic clock; to be called as soon as `held` is above 0, and often. */
  look(nowMs: number, held: number): void {
    const wanted = { ...this.#model, held };
    if (nowMs >= this.#due.announceAtMs) {
      this.#due.announceAtMs = nowMs + WAKE_PERIOD_MS;
      this.#isAnnounced = true;
      this.#ports.announce('wake_wanted', wanted);
    }
    if (nowMs >= this.#due.callAtMs && this.#ports.call(wanted)) this.#due.callAtMs = nowMs + WAKE_PERIOD_MS;
  }

  /** An agent is there. */
  woken(): void {
    this.#due.hasWoken = true;
  }

  /** Nobody waits any more: told to whom it was told that somebody does. */
  end(nowMs: number): void {
    this.#said.keep(this.#model.model, this.#due, nowMs);
    if (this.#isAnnounced) this.#ports.announce('wake_done', { ...this.#model, held: 0 });
  }
}
