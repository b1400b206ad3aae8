// The limits that a key brings along, pushed or from an auth file: checked when they come in and given back when read
// (api.md §9). What is charged against them is quota/.

import * as v from 'valibot';
import { JsonObject, jsonObject, Name } from './key-fields.ts';

/** Most models that one key may have limits or permission for. */
export const KEY_MODELS_MAX = 10_000;

/** Both are 0 (unlimited) or more. */
export interface ModelQuota {
  readonly requestsPerMinutePerReplica: number;
  readonly tokensPerDay: number;
}

/**
 * Limits as declared; undefined: not declared. Either flat or per model: beside `perModel` every flat limit is 0 or
 * undefined.
 */
export interface KeyQuota {
  /** 0 or less: unlimited. */
  readonly requestsPerMinute: number | undefined;
  /** 0 or less: unlimited. */
  readonly tokensPerDay: number | undefined;
  /** 0: unset. */
  readonly inputTokensPerMinute: number | undefined;
  /** 0: unset. */
  readonly outputTokensPerMinute: number | undefined;
  /** By exact model name, 1 to 10,000 entries. */
  readonly perModel: ReadonlyMap<string, ModelQuota> | undefined;
}

const INTEGER_RULE = 'must be a whole number';
const COUNT_RULE = 'must be a whole number, 0 or more';
const MODELS_RULE = `must have 1 to ${KEY_MODELS_MAX} models`;
const EITHER_RULE = 'must have either per_model or limits for all models, not both';

const Integer = v.pipe(v.number(INTEGER_RULE), v.safeInteger(INTEGER_RULE));
const Count = v.pipe(v.number(COUNT_RULE), v.safeInteger(COUNT_RULE), v.minValue(0, COUNT_RULE));

const ModelLimits = v.pipe(
  jsonObject({ requests_per_minute_per_replica: Count, tokens_per_day: Count }),
  v.transform(
    (declared): ModelQuota => ({
      requestsPerMinutePerReplica: declared.requests_per_minute_per_replica,
      tokensPerDay: declared.tokens_per_day,
    }),
  ),
);

/** Counted before it is read, and a map because `v.record` drops models named `constructor` or `__proto__`. */
const PerModel = v.pipe(
  JsonObject,
  v.check((models) => isModelCount(Object.keys(models).length), MODELS_RULE),
  v.transform((models) => new Map(Object.entries(models))),
  v.map(Name, ModelLimits),
);

/** The `quota` object of a key entry. `null` counts as absent. */
export const Quota = v.pipe(
  jsonObject({
    requests_per_minute: v.nullish(Integer),
    tokens_per_day: v.nullish(Integer),
    input_tokens_per_minute: v.nullish(Count),
    output_tokens_per_minute: v.nullish(Count),
    per_model: v.nullish(PerModel),
  }),
  v.check(({ per_model, ...flat }) => !per_model || Object.values(flat).every((limit) => !limit), EITHER_RULE),
  v.transform(
    (declared): KeyQuota => ({
      requestsPerMinute: declared.requests_per_minute ?? undefined,
      tokensPerDay: declared.tokens_per_day ?? undefined,
      inputTokensPerMinute: declared.input_tokens_per_minute ?? undefined,
      outputTokensPerMinute: declared.output_tokens_per_minute ?? undefined,
      perModel: declared.per_model ?? undefined,
    }),
  ),
);

/** The JSON object that `Quota` reads; what was not declared is undefined, so JSON leaves it out. */
export function formatQuota(quota: KeyQuota): object {
  return {
    requests_per_minute: quota.requestsPerMinute,
    tokens_per_day: quota.tokensPerDay,
    input_tokens_per_minute: quota.inputTokensPerMinute,
    output_tokens_per_minute: quota.outputTokensPerMinute,
    per_model: quota.perModel && Object.fromEntries(Array.from(quota.perModel, formatModelQuota)),
  };
}

function isModelCount(count: number): boolean {
  return count >= 1 && count <= KEY_MODELS_MAX;
}

function formatModelQuota([model, limits]: readonly [string, ModelQuota]): [string, object] {
  const { requestsPerMinutePerReplica, tokensPerDay } = limits;
  return [model, { requests_per_minute_per_replica: requestsPerMinutePerReplica, tokens_per_day: tokensPerDay }];
}
