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
    if (turn.running !== undefined || (turn.ticksLeft > 0 && !isUrgent)) return;
    const period = this.#plan.periodTicks(turn.failures);
    // A fleet that starts together is urgent together: from then on it is spread over the period.
    turn.ticksLeft = isUrgent ? period - (turn.lead % period) : period;
    void this.#ask(agent, turn);
  }

  #begin(agent: Agent): Turn {
    const turn: Turn = { setting: agent.setting, ticksLeft: 0, failures: 0, lead: this.#begun, running: undefined };
    this.#begun += 1;
    this.#turns.set(agent, turn);
    return turn;
  }

  async #ask(agent: Agent, turn: Turn): Promise<void> {
    const { timeoutMs, ask, onResult, periodTicks } = this.#plan;
    const running = new AbortController();
    turn.running = running;
    const cancelTimeout = this.#timers.after(timeoutMs, () => running.abort());
    const result = await ask(agent.setting, running.signal);
    cancelTimeout();
    turn.running = undefined;
    if (running.signal.reason === STOPPED || !isSameEngine(turn.setting, agent.setting)) return;
    const failuresBefore = turn.failures;
    turn.failures = result.ok ? 0 : failuresBefore + 1;
    turn.ticksLeft += periodTicks(turn.failures) - periodTicks(failuresBefore);
    onResult(agent, result, failuresBefore);
  }

  #forget(agent: Agent): void {
    this.#turns.get(agent)?.running?.abort(STOPPED);
    this.#turns.delete(agent);
  }
}
