// Which agents a step lets through, gate by gate (routing.md §5). A gate says nothing of the model's presence at the
// site: an agent that is barred here serves it all the same, and nobody is redirected because of a gate.

import { METRICS, type MetricName } from './metric.ts';
import type { Match, Operator, Step, Threshold } from './policy.ts';
import type { PolicyAgent } from './policy-agent.ts';

/** The first gate that holds an agent back; a closed list, so that it can be counted by. */
export type Bar =
  | 'health'
  | 'capability'
  | `match.${keyof typeof MATCHED}`
  | 'prev_failures'
  | `exclude_if.${MetricName}`
  | 'capacity';

/** What the gates of one request look at besides the agents. */
export interface Look {
  /** IDs of the agents that failed the request in this step. */
  readonly failed: ReadonlySet<string>;
  /** Now, on the monotonic clock of the figures. */
  readonly nowMs: number;
}

type Filters = Pick<Step, 'match' | 'excludeIf'>;

/** In the order of the reasons that they give. */
const MATCHED = {
  region: (match: Match, agent: PolicyAgent) => isAsked(match.region, agent.region),
  engine: (match: Match, agent: PolicyAgent) => isAsked(match.engine, agent.engine),
  organization: (match: Match, agent: PolicyAgent) => isAsked(match.organization, agent.organization),
  machine: (match: Match, agent: PolicyAgent) => isAsked(match.machine, agent.machine),
  gpu_model: (match: Match, agent: PolicyAgent) => isAsked(match.gpuModel, agent.gpuModel),
  tags: (match: Match, agent: PolicyAgent) => match.tags.every((tag) => agent.tags.includes(tag)),
} as const;

const MATCH_NAMES = [
  'region',
  'engine',
  'organization',
  'machine',
  'gpu_model',
  'tags',
] as const satisfies readonly (keyof typeof MATCHED)[];

const BREACHES: Readonly<Record<Operator, (value: number, threshold: number) => boolean>> = {
  gt: (value, threshold) => value > threshold,
  gte: (value, threshold) => value >= threshold,
  lt: (value, threshold) => value < threshold,
  lte: (value, threshold) => value <= threshold,
};

/**
 * Why the step does not take the agent now; undefined when it does. `capacity` means that nothing but a slot is missing:
 * for such an agent it is worth waiting. How full an agent is therefore counts only while it has a slot: a gate on
 * `capacity_utilization` would else bar every full agent for good.
 */
export function barOf(step: Filters, agent: PolicyAgent, look: Look): Bar | undefined {
  const fixed = fixedBarOf(step, agent);
  if (fixed !== undefined) return fixed;
  if (look.failed.has(agent.id)) return 'prev_failures';
  const isFull = agent.active >= agent.capacity;
  const breached = step.excludeIf.find(
    (threshold) => !(isFull && threshold.metric === 'capacity_utilization') && isBreached(threshold, agent, look.nowMs),
  );
  if (breached !== undefined) return `exclude_if.${breached.metric}`;
  return isFull ? 'capacity' : undefined;
}

/** The gates that no request changes: an agent that passes them belongs to the step. */
export function fixedBarOf({ match }: Pick<Step, 'match'>, agent: PolicyAgent): Bar | undefined {
  if (!agent.isHealthy) return 'health';
  if (!agent.isCapable) return 'capability';
  const missed = MATCH_NAMES.find((name) => !MATCHED[name](match, agent));
  return missed === undefined ? undefined : `match.${missed}`;
}

/** Whether the step would take this agent for this request now. */
export function mayServe(step: Filters, agent: PolicyAgent, look: Look): boolean {
  return barOf(step, agent, look) === undefined;
}

/** A metric that is missing, or too old, breaches nothing. */
export function isBreached({ metric, operator, value }: Threshold, agent: PolicyAgent, nowMs: number): boolean {
  const found = METRICS[metric].read(agent, nowMs);
  return found !== undefined && BREACHES[operator](found, value);
}

function isAsked(asked: string | undefined, found: string | undefined): boolean {
  return asked === undefined || asked === found;
}
