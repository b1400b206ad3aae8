// One agent: an engine with its health and its slots. Slots are exact, so that no engine is given more than its
// capacity. It outlives changes of its setting: requests under way and its record stay with it.

import { isDeepStrictEqual } from 'node:util';
import type { Result } from '../lib/result.ts';
import type { Capability } from '../routing/endpoint.ts';
import { type AgentSetting, isSameEngine } from './agent-setting.ts';
import type { EngineMetrics, EngineReading } from './engine-metrics.ts';
import { type AgentClocks, AgentHealth, type AgentState, type AgentStatus } from './health.ts';
import { MetricsWindow, type TakenMetrics } from './metrics-window.ts';
import { TrackRecord } from './track-record.ts';

/**
 * Told of every change of state, for log and subscribers, and with `from` as `to` of the first failed probe of a start:
 * an engine that never answers would else be passed over in silence. `reason` is one clause without secrets.
 */
export type OnStateChange = (agent: Agent, from: AgentState, to: AgentState, reason: string) => void;

/** Whom an agent tells of what happens to it. */
export interface AgentEvents {
  readonly onStateChange: OnStateChange;
  /** It may take a request that it could not take before: a slot came free, it turned healthy, or lists other models. */
  readonly onVacancy: (agent: Agent) => void;
}

/** Older metrics are not shown: a frozen gauge looks like a calm engine (routing.md §30, 17). */
export const SHOWN_MAX_AGE_MS = 10_000;

export const SYSTEM_CLOCKS: AgentClocks = { nowMs: Date.now, monotonicMs: () => performance.now() };

export class Agent {
  /** Outcomes and latencies of its requests. */
  readonly record: TrackRecord;
  readonly #events: AgentEvents;
  readonly #clocks: AgentClocks;
  readonly #health: AgentHealth;
  #setting: AgentSetting;
  #models: ReadonlySet<string>;
  /** Monotonic ms at which each request under way was given to it, by its turn. */
  readonly #running = new Map<number, number>();
  #lastTaken = 0;
  #lastTakenMs = Number.NEGATIVE_INFINITY;
  #lastSeenMs: number | undefined;
  #isLeaving = false;
  #metrics = new MetricsWindow();

  /** How often any agent was taken; orders agents by their last turn. */
  static #turns = 0;

  constructor(setting: AgentSetting, events: AgentEvents, clocks: AgentClocks = SYSTEM_CLOCKS) {
    this.#setting = setting;
    this.#models = new Set(setting.models);
    this.#events = events;
    this.#clocks = clocks;
    this.record = new TrackRecord(clocks.monotonicMs);
    this.#health = new AgentHealth(clocks, (from, to, reason) => events.onStateChange(this, from, to, reason));
  }

  /** As it stands now; its ID never changes. */
  get setting(): AgentSetting {
    return this.#setting;
  }

  get state(): AgentState {
    return this.#health.status.state;
  }

  get status(): AgentStatus {
    return this.#health.status;
  }

  /** Pinned models, or those of the last good listing. */
  get models(): readonly string[] {
    return [...this.#models];
  }

  /** Slots in use: requests and streams under way. */
  get active(): number {
    return this.#running.size;
  }

  /** Share of the slots in use, 0 to 1; above 1 after the capacity was lowered below what runs. */
  get load(): number {
    return this.active / this.#setting.capacity;
  }

  /** Grows with every turn; 0 before the first. Of two agents the smaller has waited longer. */
  get lastTaken(): number {
    return this.#lastTaken;
  }

  /** Monotonic ms of its last turn; negative infinity before the first. */
  get lastTakenMs(): number {
    return this.#lastTakenMs;
  }

  /** Whether a request still runs that was given to it at `monotonicMs` or later. */
  isBusySince(monotonicMs: number): boolean {
    return [...this.#running.values()].some((takenMs) => takenMs >= monotonicMs);
  }

  /** Unix ms of its last good probe; undefined before the first. */
  get lastSeenMs(): number | undefined {
    return this.#lastSeenMs;
  }

  /** The engine's last metrics, however old; undefined before the first. */
  get metrics(): TakenMetrics | undefined {
    return this.#metrics.latest;
  }

  /** The same as long as they may be shown; `nowMs` is monotonic. */
  shownMetrics(nowMs: number): EngineMetrics | undefined {
    const { metrics } = this;
    return metrics === undefined || nowMs - metrics.takenMs > SHOWN_MAX_AGE_MS ? undefined : metrics.metrics;
  }

  /** It drains for good: gone when nothing runs any more, unless it is configured again before. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  get isProbed(): boolean {
    return this.#health.isProbed;
  }

  get wantsCloseProbes(): boolean {
    return this.#health.wantsCloseProbes;
  }

  /** Whether a probe can make it serve what it does not serve now: by its health, or by the models that it lists. */
  get mayServeMore(): boolean {
    return this.state !== 'healthy' || this.#setting.models.length === 0;
  }

  serves(model: string, capability: Capability): boolean {
    return this.#setting.capability === capability && this.#models.has(model);
  }

  /** Takes one slot: what gives it back, however often it is called only once (E7). Undefined when all are in use. */
  take(): (() => void) | undefined {
    if (this.active >= this.#setting.capacity) return undefined;
    Agent.#turns += 1;
    const turn = Agent.#turns;
    this.#lastTaken = turn;
    this.#lastTakenMs = this.#clocks.monotonicMs();
    this.#running.set(turn, this.#lastTakenMs);
    this.record.touch();
    return () => {
      if (!this.#running.delete(turn)) return;
      this.record.touch();
      this.#events.onVacancy(this);
      this.#endIfDone();
    };
  }

  /**
   * Counts one probe: the models that can be asked for, or why the engine cannot serve. `isAwaited`: a request is held
   * until some engine is there.
   */
  reportProbe(probe: Result<readonly string[], string>, isAwaited = false): void {
    if (!this.isProbed) return;
    if (!probe.ok) {
      if (this.#health.reportFailedProbe(probe.fault)) this.record.wentDown('probes');
      return;
    }
    this.#models = new Set(probe.value);
    this.#lastSeenMs = this.#clocks.nowMs();
    this.#health.reportGoodProbe(isAwaited);
    if (this.state === 'healthy') this.#events.onVacancy(this);
  }

  /** Keeps one reading of the engine's metrics, taken at `takenMs` of the monotonic clock. */
  reportMetrics(reading: EngineReading, takenMs: number): void {
    this.#metrics.add(reading, takenMs);
  }

  /** There is no way to the engine: no need to wait for three probes. `reason` is one clause without secrets. */
  reportConnectionRefused(reason?: string): void {
    if (this.#health.reportConnectionRefused(reason)) this.record.wentDown('refused');
  }

  /**
   * Takes another setting with the same ID, and stays if it was leaving. Another engine starts anew, under the models
   * known before if none are pinned; where only metadata or capacity change, the agent serves on.
   */
  reconfigure(setting: AgentSetting): void {
    if (this.#isLeaving) this.#resume('configured again');
    const before = this.#setting;
    if (isDeepStrictEqual(before, setting)) return;
    const isSame = isSameEngine(before, setting);
    // Told under the setting that it had: its subscribers knew it by that.
    if (!isSame && this.isProbed) this.#health.restart('configuration changed');
    this.#setting = setting;
    if (!isSame) {
      this.#metrics = new MetricsWindow();
      if (setting.models.length > 0) this.#models = new Set(setting.models);
    }
    if (this.state === 'healthy') this.#events.onVacancy(this);
  }

  /** Takes no new work until it is resumed; what runs goes on. */
  drain(): void {
    this.#health.drain('drained by the admin API');
  }

  /** Ends a drain: probes decide again. An agent that leaves is not held back by it. */
  resume(): void {
    if (!this.#isLeaving) this.#resume('resumed by the admin API');
  }

  /** Takes no new work and is gone as soon as nothing runs. */
  leave(): void {
    this.#isLeaving = true;
    if (this.active > 0) this.#health.drain('removed, requests are still running');
    this.#endIfDone();
  }

  #resume(reason: string): void {
    this.#isLeaving = false;
    if (this.state === 'draining') this.#health.restart(reason);
  }

  #endIfDone(): void {
    if (this.#isLeaving && this.active === 0) this.#health.end('removed');
  }
}
