// What makes one step of a policy valid: its filters, its gates, its strategy (routing.md §17).

import { isName, NAME_MAX_BYTES, NAME_RULE } from '../lib/name.ts';
import { type DocumentReader, type Found, type Mapping, memberOf } from './document-reader.ts';
import { METRICS, type MetricName, type Unit } from './metric.ts';
import { type Match, OPERATORS, PLAIN_STEP, STRATEGIES, type Step, type Strategy, type Threshold } from './policy.ts';

export const TAGS_MAX = 64;
export const TRIES_MAX = 100;

const STEP_KEYS = ['match', 'exclude_if', 'strategy', 'max_tries'] as const;
const MATCH_KEYS = ['region', 'engine', 'organization', 'machine', 'gpu_model', 'tags'] as const;

/** One step, as much of it as is valid. `name` is what it is called unless it has one; only the chain's steps may. */
export function readStep(reader: DocumentReader, found: Found, name: string, isNamed: boolean): Step {
  const step = reader.mapping(found, isNamed ? ['name', ...STEP_KEYS] : STEP_KEYS, 'key');
  if (step === undefined) return { ...PLAIN_STEP, name };
  const tries = reader.number(
    memberOf(step, 'max_tries'),
    (value) => Number.isInteger(value) && value >= 0 && value <= TRIES_MAX,
    `must be a whole number from 1 to ${TRIES_MAX}, or 0 for the setting of the router`,
  );
  return {
    name: readLabel(reader, memberOf(step, 'name'), 'a name') ?? name,
    match: readMatch(reader, memberOf(step, 'match')),
    excludeIf: readThresholds(reader, memberOf(step, 'exclude_if'), METRIC_NAMES),
    strategy: readStrategy(reader, memberOf(step, 'strategy')),
    maxTries: tries === 0 ? undefined : tries,
  };
}

function readMatch(reader: DocumentReader, found: Found | undefined): Match {
  const match = found === undefined ? undefined : reader.mapping(found, MATCH_KEYS, 'key');
  if (match === undefined) return PLAIN_STEP.match;
  const label = (name: (typeof MATCH_KEYS)[number]) => readLabel(reader, memberOf(match, name), 'a label');
  return {
    region: label('region'),
    engine: label('engine'),
    organization: label('organization'),
    machine: label('machine'),
    gpuModel: label('gpu_model'),
    tags: reader.list(match, 'tags', TAGS_MAX).flatMap((item) => reader.text(item, isName, `a tag ${NAME_RULE}`) ?? []),
  };
}

/** As in the Go router, empty text asks for nothing. */
function readLabel(reader: DocumentReader, found: Found | undefined, what: string): string | undefined {
  const rule = `${what} must be text of at most ${NAME_MAX_BYTES} bytes without control characters`;
  const label = reader.text(found, (text) => text === '' || isName(text), rule);
  return label === '' ? undefined : label;
}

const METRIC_NAMES = Object.keys(METRICS).filter(isMetricName);

function isMetricName(name: string): name is MetricName {
  return Object.hasOwn(METRICS, name);
}

/** `exclude_if` or `shed_if`: for each of the metrics in `known` at most one operator and its value. */
export function readThresholds(
  reader: DocumentReader,
  found: Found | undefined,
  known: readonly MetricName[],
): readonly Threshold[] {
  const thresholds = found === undefined ? undefined : reader.mapping(found, known, 'metric');
  if (thresholds === undefined) return [];
  return [...thresholds.members].flatMap(([name, value]) => {
    const metric = known.find((metricName) => metricName === name);
    return metric === undefined ? [] : readThreshold(reader, { path: [...thresholds.path, name], value }, metric);
  });
}

function readThreshold(reader: DocumentReader, found: Found, metric: MetricName): readonly Threshold[] {
  const rule = reader.mapping(found, OPERATORS, 'operator');
  if (rule === undefined) return [];
  const operators = OPERATORS.filter((operator) => rule.members.has(operator));
  const [operator] = operators;
  if (operator === undefined || operators.length > 1) {
    // An operator that is unknown was refused already.
    if (operators.length === rule.members.size)
      reader.refuse(found, `must have exactly one of ${OPERATORS.join(', ')}`);
    return [];
  }
  const value = readBound(reader, rule, operator, METRICS[metric].unit);
  return value === undefined ? [] : [{ metric, operator, value }];
}

const BOUND_MAX = 1_000_000_000;

/** A value outside the metric's range is a slip: `90` for a share would never exclude anybody. */
function readBound(reader: DocumentReader, rule: Mapping, operator: string, unit: Unit): number | undefined {
  const value = rule.members.get(operator) ?? { kind: 'null' };
  const [most, words] =
    unit === 'share' ? [1, 'a share from 0 to 1, not a percentage'] : [BOUND_MAX, `a number from 0 to ${BOUND_MAX}`];
  return reader.number(
    { path: [...rule.path, operator], value },
    (number) => number >= 0 && number <= most,
    `must be ${words}`,
  );
}

/** Names that the Go router plans or keeps for itself, and what does their work here. */
const RESERVED_STRATEGIES: ReadonlyMap<string, string> = new Map([
  ['lowest-kv-cache', 'exclude_if with kv_cache_utilization'],
  ['lowest-queue', 'exclude_if with waiting_requests'],
  ['best-ttft', 'exclude_if with p90_ttft_seconds'],
  ['best-itl', 'exclude_if with p90_itl_seconds'],
  ['lowest-srtt', 'lowest-latency'],
  ['round-robin', 'least-loaded, which takes turns among the equally loaded'],
  ['prefix-aware', 'session-affinity'],
]);

/** Left out, it is `least-loaded`: the Go router's own documentation leaves it out where nothing else is meant. */
function readStrategy(reader: DocumentReader, found: Found | undefined): Strategy {
  const { value } = found ?? {};
  const instead = value?.kind === 'string' ? RESERVED_STRATEGIES.get(value.value) : undefined;
  if (found !== undefined && instead !== undefined) {
    reader.refuse(found, `is reserved and implemented nowhere; use ${instead}`);
    return PLAIN_STEP.strategy;
  }
  return reader.oneOf(found, STRATEGIES) ?? PLAIN_STEP.strategy;
}
