// What is done for one request: the steps of its policy, how many failures each stands, and whether there is an agent
// now, a reason to wait, or nothing left. Whoever dispatches asks again after every failure and every wake-up.
//
// The rule of waiting. A request takes the first step that has an agent for it. It waits only when no step has one and
// at least one step is full: some agent passes all its gates and has no slot. An agent that a gate holds back changes
// nothing about that. It is woken by an agent that `mayServePlan()`, and by no other; of several waiters the first for
// whom that is so, who then takes the slot before any newcomer. A wake-up is lost only if nobody has a use for it.

import { type Bar, barOf, mayServe } from './gates.ts';
import type { FallbackProvider, Policy, Step } from './policy.ts';
import type { PolicyAgent } from './policy-agent.ts';
import { choose } from './strategy.ts';

export interface PlanStep extends Omit<Step, 'maxTries'> {
  /** Failed tries that end the step, at least 1. */
  readonly maxTries: number;
}

/** Taken once for a request: a policy that is replaced meanwhile changes nothing for it. */
export interface Plan {
  /** At least one, the primary step first. */
  readonly steps: readonly PlanStep[];
  /** For generations only, once the steps are exhausted: no other endpoint has a counterpart there (routing.md §20). */
  readonly provider: FallbackProvider | undefined;
}

/** An agent that could not answer the request. */
export interface FailedTry {
  readonly step: PlanStep;
  readonly agentId: string;
  /** False for a connection that was never made: it keeps the agent out of the step, and spends no try. */
  readonly countsAsTry: boolean;
}

/** What is known of the request when an agent is looked for. */
export interface Search {
  /** All of this request so far, of any step. */
  readonly failedTries: readonly FailedTry[];
  /** The raw value of `X-Session-ID`; undefined or empty without one. */
  readonly session: Uint8Array | undefined;
  /** Now, on the monotonic clock of the agents' figures. */
  readonly nowMs: number;
}

/** How many of the model's agents each gate held back; an agent counts at the first of its gates. */
type BarCounts = ReadonlyMap<Bar, number>;

/** `full`: waiting may help. `empty`: it will not, unless an agent changes. `spent`: no try is left in this step. */
type NoAgent = { readonly kind: 'full' | 'empty' | 'spent'; readonly bars: BarCounts };

export function planOf({ steps, provider }: Policy, maxTriesDefault: number): Plan {
  return {
    steps: steps.map((step) => ({ ...step, maxTries: step.maxTries ?? maxTriesDefault })),
    provider,
  };
}

/** Why a step had no agent. */
export interface StepFinding extends NoAgent {
  readonly step: PlanStep;
}

/** `wait`: see the rule above. `exhausted`: the provider's turn, or the end. */
export type PlanSelection<Agent> =
  | { readonly kind: 'agent'; readonly step: PlanStep; readonly agent: Agent }
  | { readonly kind: 'wait' | 'exhausted'; readonly findings: readonly StepFinding[] };

/**
 * The agent of the first step that has one now, or what each step lacks. `agents` are all that have the model, healthy or
 * not, in any order.
 */
export function selectFromPlan<Agent extends PolicyAgent>(
  { steps }: Plan,
  agents: readonly Agent[],
  search: Search,
): PlanSelection<Agent> {
  for (const step of steps) {
    const agent = selectAgent(step, agents, search);
    if (agent !== undefined) return { kind: 'agent', step, agent };
  }
  const findings = steps.map((step) => findingOf(step, agents, search));
  return { kind: findings.some(({ kind }) => kind === 'full') ? 'wait' : 'exhausted', findings };
}

/** The step's choice. */
function selectAgent<Agent extends PolicyAgent>(
  step: PlanStep,
  agents: readonly Agent[],
  search: Search,
): Agent | undefined {
  if (isSpent(step, search)) return undefined;
  const look = lookOf(step, search);
  const candidates = agents.filter((agent) => mayServe(step, agent, look));
  return choose({ step, agents, candidates, session: search.session, nowMs: search.nowMs });
}

/** Of a step that has no agent. */
function findingOf(step: PlanStep, agents: readonly PolicyAgent[], search: Search): StepFinding {
  const bars = new Map<Bar, number>();
  if (isSpent(step, search)) return { step, kind: 'spent', bars };
  const look = lookOf(step, search);
  for (const agent of agents) {
    const bar = barOf(step, agent, look);
    if (bar !== undefined) bars.set(bar, (bars.get(bar) ?? 0) + 1);
  }
  return { step, kind: bars.has('capacity') ? 'full' : 'empty', bars };
}

/** Whether the agent is one to wake a waiting request for: some step that still has tries would take it now. */
export function mayServePlan({ steps }: Plan, agent: PolicyAgent, search: Search): boolean {
  return steps.some((step) => !isSpent(step, search) && mayServe(step, agent, lookOf(step, search)));
}

function isSpent(step: PlanStep, { failedTries }: Search): boolean {
  let spent = 0;
  for (const failed of failedTries) if (failed.countsAsTry && failed.step === step) spent += 1;
  return spent >= step.maxTries;
}

const NONE: ReadonlySet<string> = new Set();

/** A later step may ask an agent again that failed in an earlier one. */
function lookOf(step: PlanStep, { failedTries, nowMs }: Search) {
  if (failedTries.length === 0) return { failed: NONE, nowMs };
  const failed = failedTries.flatMap((attempt) => (attempt.step === step ? [attempt.agentId] : []));
  return { failed: new Set(failed), nowMs };
}
