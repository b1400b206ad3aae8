// That a model is asleep and wanted: told when the first request is held for it, again and again while any is, and once
// more when none is. Whoever comes late or has missed a word is told within a period.

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

export class WakeSignal {
  readonly #model: Omit<WantedModel, 'held'>;
  readonly #ports: WakePorts;
  #announceAtMs = Number.NEGATIVE_INFINITY;
  #callAtMs = Number.NEGATIVE_INFINITY;

  constructor(model: Omit<WantedModel, 'held'>, ports: WakePorts) {
    this.#model = model;
    this.#ports = ports;
  }

  /** Tells what is due at `nowMs` of the monotonic clock; to be called as soon as `held` is above 0, and often. */
  look(nowMs: number, held: number): void {
    const wanted = { ...this.#model, held };
    if (nowMs >= this.#announceAtMs) {
      this.#announceAtMs = nowMs + WAKE_PERIOD_MS;
      this.#ports.announce('wake_wanted', wanted);
    }
    if (nowMs >= this.#callAtMs && this.#ports.call(wanted)) this.#callAtMs = nowMs + WAKE_PERIOD_MS;
  }

  /** Nobody waits any more. */
  end(): void {
    this.#ports.announce('wake_done', { ...this.#model, held: 0 });
  }
}
