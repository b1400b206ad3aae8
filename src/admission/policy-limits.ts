// What admission needs of a policy (routing.md §17), as plain data: whoever wires it hands over the policy of the model.

/** All whole numbers; 0 is off. The last two are for each healthy agent. */
export interface AdmissionLimits {
  readonly maxInputTokens: number;
  readonly imagesMax: number;
  readonly admitBudgetTokens: number;
  readonly maxInflight: number;
}

/** `shed_if`: requests are shed while the pool's mean of the metric is greater than (…) the value. */
export interface ShedRule {
  /** `kv_cache_utilization` or `waiting_requests`; any other tells nothing, and sheds nothing. */
  readonly metric: string;
  readonly operator: 'gt' | 'gte' | 'lt' | 'lte';
  readonly value: number;
}

export interface AdmissionPolicy {
  /** `serverless` adds the gates of each key (B4); undefined is the built-in policy. */
  readonly mode: 'reserved' | 'serverless' | undefined;
  readonly limits: AdmissionLimits;
  readonly shedIf: readonly ShedRule[];
}
