// Whether an agent may be given work, why, and since when. Health moves with hysteresis, so that one slow answer during
// a long prefill takes no agent out, and one that flaps is not believed at once.

import type { NowMs } from '../lib/clock.ts';

/**
 * `starting` until the first good probe; only a `healthy` agent is given requests. A `draining` one finishes what runs;
 * `gone` is the end, when it is in no registry any more.
 */
export type AgentState = 'starting' | 'healthy' | 'unhealthy' | 'draining' | 'gone';

export interface AgentStatus {
  readonly state: AgentState;
  /** One clause without secrets. */
  readonly reason: string;
  /** Unix ms of the change to this state. */
  readonly sinceMs: number;
}

export interface AgentClocks {
  readonly nowMs: NowMs;
  readonly monotonicMs: () => number;
}

/** Failed probes in a row that make a healthy agent unhealthy (decisions.md, "Agents", 1). */
const FAILURES_TO_UNHEALTHY = 3;
/** Good probes in a row that make an unhealthy agent healthy; a starting or awaited one needs a single good probe. */
const SUCCESSES_TO_HEALTHY = 2;
/** How long an engine is looked for closely, when it starts and when nobody listens: it is there soon, or takes long. */
export const RESTART_MS = 60_000;
/** An engine that is lost again so soon after it came back flaps, and is not looked for closely. */
export const FLAP_MS = 30_000;

/** Told of a change. With `from` as `to`: of the first failed probe of a start. */
type OnChange = (from: AgentState, to: AgentState, reason: string) => void;

export class AgentHealth {
  readonly #clocks: AgentClocks;
  readonly #onChange: OnChange;
  #status: AgentStatus;
  /** Probes in a row with the same result: above 0 good ones, below 0 failed ones. */
  #streak = 0;
  /** Monotonic: until when an agent that is not healthy is probed closely, and when it last came back. */
  #closeUntilMs: number;
  #recoveredMs = Number.NEGATIVE_INFINITY;

  constructor(clocks: AgentClocks, onChange: OnChange) {
    this.#clocks = clocks;
    this.#onChange = onChange;
    this.#status = { state: 'starting', reason: 'not probed yet', sinceMs: clocks.nowMs() };
    this.#closeUntilMs = clocks.monotonicMs() + RESTART_MS;
  }

  get status(): AgentStatus {
    return this.#status;
  }

  /** Whether its probes decide anything: not those of an agent that drains or is gone. */
  get isProbed(): boolean {
    return this.#status.state !== 'draining' && this.#status.state !== 'gone';
  }

  /** Whether the next probe should come soon: its engine may just be starting, or restarting. */
  get wantsCloseProbes(): boolean {
    const { state } = this.#status;
    return (state === 'starting' || state === 'unhealthy') && this.#clocks.monotonicMs() < this.#closeUntilMs;
  }

  /** `isAwaited`: a request waits for an engine to be there, so that one good probe is enough. */
  reportGoodProbe(isAwaited = false): void {
    if (!this.isProbed) return;
    this.#streak = Math.max(this.#streak, 0) + 1;
    const { state } = this.#status;
    if (this.#streak < (state === 'starting' || isAwaited ? 1 : SUCCESSES_TO_HEALTHY)) return;
    if (state === 'unhealthy') this.#recoveredMs = this.#clocks.monotonicMs();
    this.#closeUntilMs = Number.NEGATIVE_INFINITY;
    this.#become('healthy', 'probe answered');
  }

  /** Whether that made it unhealthy. */
  reportFailedProbe(reason: string): boolean {
    this.#streak = Math.min(this.#streak, 0) - 1;
    const { state } = this.#status;
    if (state === 'starting') {
      this.#status = { ...this.#status, reason };
      if (this.#streak === -1) this.#onChange('starting', 'starting', reason);
    }
    if (state !== 'healthy' || this.#streak > -FAILURES_TO_UNHEALTHY) return false;
    this.#become('unhealthy', reason);
    return true;
  }

  /** There is no way to the engine: no need to wait for three probes. Whether that made it unhealthy. */
  reportConnectionRefused(reason = 'connection refused'): boolean {
    this.#streak = Math.min(this.#streak, 0);
    if (this.#status.state !== 'healthy') return false;
    const nowMs = this.#clocks.monotonicMs();
    const flaps = nowMs - this.#recoveredMs < FLAP_MS;
    this.#closeUntilMs = flaps ? nowMs : nowMs + RESTART_MS;
    this.#become('unhealthy', reason);
    return true;
  }

  /** From here on it is met anew: another engine, or one that was drained. */
  restart(reason: string): void {
    this.#streak = 0;
    this.#closeUntilMs = this.#clocks.monotonicMs() + RESTART_MS;
    const isAnotherStart = this.#status.state === 'starting';
    if (isAnotherStart) this.#status = { ...this.#status, reason, sinceMs: this.#clocks.nowMs() };
    else this.#become('starting', reason);
  }

  drain(reason: string): void {
    this.#become('draining', reason);
  }

  end(reason: string): void {
    this.#become('gone', reason);
  }

  #become(state: AgentState, reason: string): void {
    const from = this.#status.state;
    if (from === state || from === 'gone') return;
    this.#status = { state, reason, sinceMs: this.#clocks.nowMs() };
    this.#onChange(from, state, reason);
  }
}
