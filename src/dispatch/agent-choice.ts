// Which agent one request is given to next, by the plan that its policy had when it came, and why there is none. Apart
// from dispatch, because the queue asks the same again and again while the request waits.

import type { Agent } from '../agents/agent.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import type { Timers } from '../agents/timers.ts';
import {
  type FailedTry,
  mayServePlan,
  type Plan,
  type Search,
  type StepFinding,
  selectFromPlan,
} from '../policy/plan.ts';
import type { Capability, Endpoint } from '../routing/endpoint.ts';
import { sessionOf } from '../routing/session.ts';
import { AgentView } from './agent-view.ts';
import type { Failure } from './failure.ts';
import { type LastResort, lastResortOf } from './last-resort.ts';
import type { Choice, SeatSearch } from './queue.ts';

export interface ChoosingRequest {
  readonly model: string;
  readonly endpoint: Endpoint;
  readonly headers: Headers;
}

export interface ChoicePorts {
  readonly registry: AgentRegistry;
  /** Where each model's plan is; asked once a request. */
  readonly policies: { planFor(model: string): Plan };
  readonly timers: Timers;
}

export class AgentChoice implements SeatSearch {
  readonly model: string;
  readonly #plan: Plan;
  readonly #endpoint: Endpoint;
  /** Undefined where no step asks for it. */
  readonly #session: Uint8Array | undefined;
  readonly #ports: ChoicePorts;
  readonly #failedTries: FailedTry[] = [];
  #hasRepeated = false;
  #findings: readonly StepFinding[] = [];
  #lastAsked: Agent | undefined;
  #lastFailure: Failure | undefined;

  constructor({ model, endpoint, headers }: ChoosingRequest, ports: ChoicePorts) {
    this.model = model;
    this.#plan = ports.policies.planFor(model);
    this.#endpoint = endpoint;
    this.#session = asksForSession(this.#plan) ? sessionOf(headers) : undefined;
    this.#ports = ports;
  }

  get capability(): Capability {
    return this.#endpoint.capability;
  }

  /** Who may answer when no step can. */
  get lastResort(): LastResort | undefined {
    return lastResortOf(this.#plan, this.#endpoint);
  }

  /** Of those that could not answer. */
  get lastAsked(): Agent | undefined {
    return this.#lastAsked;
  }

  /** Of those that cost a try. */
  get lastFailure(): Failure | undefined {
    return this.#lastFailure;
  }

  /** What each step lacked when none had an agent. */
  get findings(): readonly StepFinding[] {
    return this.#findings;
  }

  /** Whether it was repeated for free: not twice, or a request that kills engines would be carried through them all. */
  get hasRepeated(): boolean {
    return this.#hasRepeated;
  }

  noteRepeat(): void {
    this.#hasRepeated = true;
  }

  choose(): Choice | 'full' | 'none' {
    const search = this.#search();
    const selection = selectFromPlan(this.#plan, this.#views(search.nowMs), search);
    if (selection.kind === 'agent') return { agent: selection.agent.agent, step: selection.step };
    this.#findings = selection.findings;
    return selection.kind === 'wait' ? 'full' : 'none';
  }

  mayUse(agent: Agent): boolean {
    const search = this.#search();
    return mayServePlan(this.#plan, new AgentView(agent, this.#endpoint, search.nowMs), search);
  }

  freeAgents(): readonly Agent[] {
    return this.#ports.registry.serving(this.model, this.capability).filter((agent) => this.mayUse(agent));
  }

  /**
   * The agent could not answer, and the step asks it no more. `countsAsTry`: that spends one of the step's tries. The client
   * is told the last `failure`.
   */
  noteFailed({ agent, step }: Choice, countsAsTry: boolean, failure?: Failure): void {
    this.#failedTries.push({ step, agentId: agent.setting.id, countsAsTry });
    this.#lastAsked = agent;
    this.#lastFailure = failure ?? this.#lastFailure;
  }

  /** Whether a step of the fallback chain made the choice. */
  isFallback({ step }: Choice): boolean {
    return step !== this.#plan.steps[0];
  }

  /** The model is here, but behind engines without the endpoint: no agent that recovers would change that. */
  hasNoEngine(): boolean {
    const views = this.#views(this.#ports.timers.monotonicMs());
    return views.length > 0 && !views.some(({ isCapable }) => isCapable);
  }

  #search(): Search {
    const nowMs = this.#ports.timers.monotonicMs();
    return { failedTries: this.#failedTries, session: this.#session, nowMs };
  }

  #views(nowMs: number): readonly AgentView[] {
    const agents = this.#ports.registry.serving(this.model, this.capability);
    return agents.map((agent) => new AgentView(agent, this.#endpoint, nowMs));
  }
}

function asksForSession({ steps }: Plan): boolean {
  return steps.some(({ strategy }) => strategy === 'session-affinity');
}
