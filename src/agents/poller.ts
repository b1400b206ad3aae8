// When engines are asked, again and again: each in its period, never twice at a time, and not all in the same instant.
// What is asked, and what an answer means, is up to whoever polls.

import type { Result } from '../lib/result.ts';
import type { Agent } from './agent.ts';
import { type AgentSetting, isSameEngine } from './agent-setting.ts';
import type { AgentRegistry } from './registry.ts';
import type { Timers } from './timers.ts';

export interface PollPlan<Answer> {
  /** Grain of all periods. */
  readonly tickMs: number;
  /** What takes longer has failed. */
  readonly timeoutMs: number;
  /** Whether the agent is asked at all now. */
  readonly isAsked: (agent: Agent) => boolean;
  /** Whether it is asked at every tick, on top of its period. */
  readonly isUrgent: (agent: Agent) => boolean;
  /**
   * Of those, whether it is asked at the next tick also while an answer is out, for this long; undefined: it is not. The
   * first good answer of all counts, and no failure beside the one that was asked first. By default none is.
   */
  readonly besideMs?: (agent: Agent) => number | undefined;
  /** Never rejects; ended by `signal`. */
  readonly ask: (setting: AgentSetting, signal: AbortSignal) => Promise<Result<Answer, string>>;
  /** Told of every result; `failuresBefore` is how many in a row it follows. */
  readonly onResult: (agent: Agent, result: Result<Answer, string>, failuresBefore: number) => void;
  /** From one time to the next, after that many failures in a row. */
  readonly periodTicks: (failures: number) => number;
}

interface Turn {
  /** Of the engine that the turn is about: another one begins anew. */
  readonly setting: AgentSetting;
  ticksLeft: number;
  /** Failures in a row. */
  failures: number;
  /** Ticks by which it is ahead of those that begin with it. */
  readonly lead: number;
  /** What is in flight; undefined when nothing is. */
  running: AbortController | undefined;
  /** What was asked beside it. */
  readonly beside: Set<AbortController>;
}

/** Why something was ended: its result then says nothing of the engine. */
const STOPPED = 'stopped';

export class Poller<Answer> {
  readonly #registry: AgentRegistry;
  readonly #timers: Timers;
  readonly #plan: PollPlan<Answer>;
  readonly #turns = new Map<Agent, Turn>();
  /** Turns that have begun. */
  #begun = 0;

  constructor(registry: AgentRegistry, timers: Timers, plan: PollPlan<Answer>) {
    this.#registry = registry;
    this.#timers = timers;
    this.#plan = plan;
  }

  /** Asks every agent of the registry that is to be asked, also those added later. Returns what stops it for good. */
  start(): () => void {
    const stopTicking = this.#timers.every(this.#plan.tickMs, () => this.tick());
    return () => {
      stopTicking();
      for (const agent of this.#turns.keys()) this.#forget(agent);
    };
  }

  /** Asks whoever is due. */
  tick(): void {
    const agents = new Set(this.#registry.all());
    for (const [agent, { setting }] of this.#turns) {
      if (!agents.has(agent) || !isSameEngine(setting, agent.setting)) this.#forget(agent);
    }
    for (const agent of agents) {
      if (this.#plan.isAsked(agent)) this.#takeTurn(agent);
    }
  }

  #takeTurn(agent: Agent): void {
    const turn = this.#turns.get(agent) ?? this.#begin(agent);
    turn.ticksLeft -= 1;
    const isUrgent = this.#plan.isUrgent(agent);
    if (turn.running !== undefined) {
      const timeoutMs = this.#plan.besideMs?.(agent);
      if (isUrgent && timeoutMs !== undefined) void this.#askBeside(agent, turn, timeoutMs);
      return;
    }
    if (turn.ticksLeft > 0 && !isUrgent) return;
    const period = this.#plan.periodTicks(turn.failures);
    // A fleet that starts together is urgent together: from then on it is spread over the period.
    turn.ticksLeft = isUrgent ? period - (turn.lead % period) : period;
    void this.#ask(agent, turn);
  }

  #begin(agent: Agent): Turn {
    const turn: Turn = {
      setting: agent.setting,
      ticksLeft: 0,
      failures: 0,
      lead: this.#begun,
      running: undefined,
      beside: new Set(),
    };
    this.#begun += 1;
    this.#turns.set(agent, turn);
    return turn;
  }

  async #ask(agent: Agent, turn: Turn): Promise<void> {
    const running = new AbortController();
    turn.running = running;
    const result = await this.#answer(agent, running, this.#plan.timeoutMs);
    if (turn.running === running) turn.running = undefined;
    if (running.signal.reason !== STOPPED) this.#tell(agent, turn, result);
  }

  /** An engine that let a connection hang may answer the next: whoever waits for it shall not wait for that one. */
  async #askBeside(agent: Agent, turn: Turn, timeoutMs: number): Promise<void> {
    const asking = new AbortController();
    turn.beside.add(asking);
    const result = await this.#answer(agent, asking, timeoutMs);
    turn.beside.delete(asking);
    if (result.ok && asking.signal.reason !== STOPPED) this.#tell(agent, turn, result);
  }

  async #answer(agent: Agent, asking: AbortController, timeoutMs: number): Promise<Result<Answer, string>> {
    const cancelTimeout = this.#timers.after(timeoutMs, () => asking.abort());
    const result = await this.#plan.ask(agent.setting, asking.signal);
    cancelTimeout();
    return result;
  }

  #tell(agent: Agent, turn: Turn, result: Result<Answer, string>): void {
    if (!isSameEngine(turn.setting, agent.setting)) return;
    const { periodTicks, onResult } = this.#plan;
    const failuresBefore = turn.failures;
    turn.failures = result.ok ? 0 : failuresBefore + 1;
    turn.ticksLeft += periodTicks(turn.failures) - periodTicks(failuresBefore);
    // What is out still was asked before this: it says nothing new.
    if (result.ok) stop(turn);
    onResult(agent, result, failuresBefore);
  }

  #forget(agent: Agent): void {
    const turn = this.#turns.get(agent);
    if (turn !== undefined) stop(turn);
    this.#turns.delete(agent);
  }
}

/** Ends all that is out. */
function stop(turn: Turn): void {
  turn.running?.abort(STOPPED);
  turn.running = undefined;
  for (const asking of turn.beside) asking.abort(STOPPED);
}
