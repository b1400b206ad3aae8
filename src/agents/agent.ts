// One agent: an engine with its health and its slots. Health moves with hysteresis, so that one slow answer during a
// long prefill takes no agent out; slots are exact, so that no engine is given more than its capacity.

import type { Result } from '../lib/result.ts';
import type { Capability } from '../routing/endpoint.ts';
import type { EngineReading } from './engine-metrics.ts';
import { MetricsWindow, type TakenMetrics } from './metrics-window.ts';
import { TrackRecord } from './track-record.ts';

export const ENGINE_NAMES = ['vllm', 'sglang', 'ollama', 'llamacpp', 'infinity', 'custom'] as const;

export type EngineName = (typeof ENGINE_NAMES)[number];

/** What the operator says of one agent. */
export interface AgentSetting {
  /** Unique in the registry; `ENGINE-host-port` for an `--engine`. */
  readonly id: string;
  readonly engine: EngineName;
  readonly capability: Capability;
  /** `http:` or `https:` URL without trailing slash, query or fragment; the request path is appended. */
  readonly backendUrl: string;
  /** Pinned model names; empty: whatever the engine lists. */
  readonly models: readonly string[];
  /** Requests and streams at a time, at least 1. */
  readonly capacity: number;
  /** Answers 200 to GET when the engine is up; undefined: the engine's own health path. */
  readonly healthPath?: string;
  /** Shown to the engine as a bearer token. Never in a log, an error or a metric. */
  readonly apiKey?: string;
}

/** `starting` until the first good probe; only a `healthy` agent is given requests. */
export type AgentState = 'starting' | 'healthy' | 'unhealthy';

/**
 * Told of every change of state, for log and metric, and with `from` as `to` of the first failed probe of a start: an
 * engine that never answers would else be passed over in silence. `reason` is one clause without secrets.
 */
export type OnStateChange = (agent: Agent, from: AgentState, to: AgentState, reason: string) => void;

/** Whom an agent tells of what happens to it. */
export interface AgentEvents {
  readonly onStateChange: OnStateChange;
  /** It may take a request that it could not take before: a slot came free, it turned healthy, or lists other models. */
  readonly onVacancy: (agent: Agent) => void;
}

/** Failed probes in a row that make a healthy agent unhealthy (decisions.md, "Agents", 1). */
const FAILURES_TO_UNHEALTHY = 3;
/** Good probes in a row that make an unhealthy agent healthy; a starting one needs a single good probe. */
const SUCCESSES_TO_HEALTHY = 2;

export class Agent {
  readonly setting: AgentSetting;
  /** Outcomes and latencies of its requests. */
  readonly record = new TrackRecord();
  readonly #events: AgentEvents;
  #state: AgentState = 'starting';
  #models: ReadonlySet<string>;
  #active = 0;
  #lastTaken = 0;
  readonly #metrics = new MetricsWindow();
  /** Probes in a row with the same result: above 0 good ones, below 0 failed ones. */
  #streak = 0;

  /** How often any agent was taken; orders agents by their last turn. */
  static #turns = 0;

  constructor(setting: AgentSetting, events: AgentEvents) {
    this.setting = setting;
    this.#models = new Set(setting.models);
    this.#events = events;
  }

  get state(): AgentState {
    return this.#state;
  }

  /** Pinned models, or those of the last good listing. */
  get models(): readonly string[] {
    return [...this.#models];
  }

  /** Slots in use: requests and streams under way. */
  get active(): number {
    return this.#active;
  }

  /** Share of the slots in use, 0 to 1. */
  get load(): number {
    return this.#active / this.setting.capacity;
  }

  /** Grows with every turn; 0 before the first. Of two agents the smaller has waited longer. */
  get lastTaken(): number {
    return this.#lastTaken;
  }

  /** The engine's last metrics, however old; undefined before the first. */
  get metrics(): TakenMetrics | undefined {
    return this.#metrics.latest;
  }

  serves(model: string, capability: Capability): boolean {
    return this.setting.capability === capability && this.#models.has(model);
  }

  /** Takes one slot: what gives it back, however often it is called only once (E7). Undefined when all are in use. */
  take(): (() => void) | undefined {
    if (this.#active >= this.setting.capacity) return undefined;
    this.#active += 1;
    Agent.#turns += 1;
    this.#lastTaken = Agent.#turns;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#active -= 1;
      this.#events.onVacancy(this);
    };
  }

  /** Counts one probe: the models that can be asked for, or why the engine cannot serve. */
  reportProbe(probe: Result<readonly string[], string>): void {
    if (probe.ok) {
      this.#models = new Set(probe.value);
      this.#streak = Math.max(this.#streak, 0) + 1;
      const needed = this.#state === 'starting' ? 1 : SUCCESSES_TO_HEALTHY;
      if (this.#streak >= needed) this.#become('healthy', 'probe answered');
      if (this.#state === 'healthy') this.#events.onVacancy(this);
    } else {
      this.#streak = Math.min(this.#streak, 0) - 1;
      if (this.#state === 'starting' && this.#streak === -1)
        this.#events.onStateChange(this, 'starting', 'starting', probe.fault);
      if (this.#state === 'healthy' && this.#streak <= -FAILURES_TO_UNHEALTHY) this.#become('unhealthy', probe.fault);
    }
  }

  /** Keeps one reading of the engine's metrics, taken at `takenMs` of the monotonic clock. */
  reportMetrics(reading: EngineReading, takenMs: number): void {
    this.#metrics.add(reading, takenMs);
  }

  /** Nobody listens at the engine's address: no need to wait for three probes. */
  reportConnectionRefused(): void {
    this.#streak = Math.min(this.#streak, 0);
    if (this.#state === 'healthy') this.#become('unhealthy', 'connection refused');
  }

  #become(state: AgentState, reason: string): void {
    const from = this.#state;
    if (from === state) return;
    this.#state = state;
    this.#events.onStateChange(this, from, state, reason);
  }
}
