// What a policy says: which agents a request may go to, in which order of preference, and what is tried when they fail
// (routing.md §17). Data alone; what it means is in `gates`, `strategy` and `plan`.

import type { MetricName } from './metric.ts';

export const OPERATORS = ['gt', 'gte', 'lt', 'lte'] as const;

export type Operator = (typeof OPERATORS)[number];

/** `exclude_if` and `shed_if`: the rule is broken when the metric is greater than (…) the threshold. */
export interface Threshold {
  readonly metric: MetricName;
  readonly operator: Operator;
  /** In the metric's unit. */
  readonly value: number;
}

/** Words of the operator's, compared byte by byte; undefined asks for nothing. */
export interface Match {
  readonly region: string | undefined;
  readonly engine: string | undefined;
  readonly organization: string | undefined;
  readonly machine: string | undefined;
  readonly gpuModel: string | undefined;
  /** The agent must have every one. */
  readonly tags: readonly string[];
}

export const STRATEGIES = ['least-loaded', 'lowest-latency', 'session-affinity'] as const;

export type Strategy = (typeof STRATEGIES)[number];

/** One step: the primary one, or one of the fallback chain. */
export interface Step {
  /** `routing_policy`, the name that the chain gives it, or `fallback_chain[0]`. */
  readonly name: string;
  readonly match: Match;
  /** At most one threshold a metric. */
  readonly excludeIf: readonly Threshold[];
  readonly strategy: Strategy;
  /** Failed tries that end the step, 1 to 100; undefined: the router's setting. */
  readonly maxTries: number | undefined;
}

export const PROVIDERS = ['openai', 'anthropic'] as const;

export type Provider = (typeof PROVIDERS)[number];

/** Who is asked when every step has failed. */
export interface FallbackProvider {
  readonly engine: Provider;
  /** The provider's own name of the model. */
  readonly model: string;
}

/** What is let in at all; whole numbers, 0 is off. The last two are for each healthy agent (api.md §14). */
export interface AdmissionLimits {
  readonly maxInputTokens: number;
  readonly imagesMax: number;
  readonly admitBudgetTokens: number;
  readonly maxInflight: number;
}

export const MODES = ['reserved', 'serverless'] as const;

export interface Policy {
  /** The models that a named document is for. Of the global policy they are read and mean nothing. */
  readonly models: readonly string[];
  /** Undefined in the built-in policy alone. */
  readonly mode: (typeof MODES)[number] | undefined;
  readonly limits: AdmissionLimits;
  readonly shedIf: readonly Threshold[];
  /** The primary step first; at least one. */
  readonly steps: readonly Step[];
  readonly provider: FallbackProvider | undefined;
}

/** What the primary step is called in logs. */
export const PRIMARY = 'routing_policy';

const ANY: Match = {
  region: undefined,
  engine: undefined,
  organization: undefined,
  machine: undefined,
  gpuModel: undefined,
  tags: [],
};

/** A step that says nothing of itself: every agent, the least loaded first. */
export const PLAIN_STEP: Step = {
  name: PRIMARY,
  match: ANY,
  excludeIf: [],
  strategy: 'least-loaded',
  maxTries: undefined,
};

/** What holds where no policy was given (routing.md §17). */
export const BUILT_IN_POLICY: Policy = {
  models: [],
  mode: undefined,
  limits: { maxInputTokens: 0, imagesMax: 0, admitBudgetTokens: 0, maxInflight: 0 },
  shedIf: [],
  steps: [PLAIN_STEP],
  provider: undefined,
};
