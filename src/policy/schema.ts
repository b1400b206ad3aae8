// What makes a policy valid, wherever it comes from (routing.md §17). Unknown names are refused: a misspelt gate would
// else be no gate, without a word.

import type { DocumentFault } from '../lib/document-fault.ts';
import { isName, NAME_RULE } from '../lib/name.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import type { JsonValue } from '../lib/strict-json.ts';
import { DocumentReader, type Mapping, memberOf } from './document-reader.ts';
import {
  type AdmissionLimits,
  type FallbackProvider,
  MODES,
  type Policy,
  PRIMARY,
  PROVIDERS,
  type Provider,
  type Step,
} from './policy.ts';
import { readStep, readThresholds } from './step-schema.ts';

export const MODELS_MAX = 1_000;
/** Steps behind the primary one. */
export const CHAIN_MAX = 32;
const LIMIT_MAX = 1_000_000_000_000;

const KEYS = [
  'models',
  'mode',
  'max_input_tokens',
  'images_max',
  'admit_budget_tokens',
  'max_inflight',
  'shed_if',
  'routing_policy',
  'fallback_chain',
  'fallback_provider',
] as const;

/** Metrics that say "the engine is full right now" (api.md §14). */
const SHED_METRICS = ['kv_cache_utilization', 'waiting_requests'] as const;

/** `named`: the policy of the models that it lists. `global`: that of all others; models in it mean nothing. */
export type PolicyKind = 'global' | 'named';

/** The policy, or every rule that it breaks, at least one. `keyed`: providers of which the router has a key. */
export function readPolicy(
  value: JsonValue,
  kind: PolicyKind,
  keyed: ReadonlySet<Provider>,
): Result<Policy, readonly DocumentFault[]> {
  const reader = new DocumentReader();
  if (value.kind === 'null') reader.refuse({ path: [] }, 'is empty; {} is the built-in policy');
  const document = value.kind === 'null' ? undefined : reader.mapping({ path: [], value }, KEYS, 'key');
  const policy = document === undefined ? undefined : readMembers(reader, document, keyed);
  if (kind === 'named' && document !== undefined && memberOf(document, 'models') === undefined) {
    reader.refuse({ path: [] }, 'must list in "models" the models that it is for');
  }
  return policy === undefined || reader.faults.length > 0 ? fault(reader.faults) : ok(policy);
}

function readMembers(reader: DocumentReader, document: Mapping, keyed: ReadonlySet<Provider>): Policy {
  return {
    models: readModels(reader, document),
    mode: reader.oneOf(memberOf(document, 'mode'), MODES) ?? 'reserved',
    limits: readLimits(reader, document),
    shedIf: readThresholds(reader, memberOf(document, 'shed_if'), SHED_METRICS),
    steps: readSteps(reader, document),
    provider: readProvider(reader, document, keyed),
  };
}

function readModels(reader: DocumentReader, document: Mapping): readonly string[] {
  const models = new Set<string>();
  for (const item of reader.list(document, 'models', MODELS_MAX)) {
    const model = reader.text(item, isName, `a model ${NAME_RULE}`);
    if (model === undefined) continue;
    if (models.has(model)) reader.refuse(item, 'is listed twice');
    models.add(model);
  }
  const found = memberOf(document, 'models');
  if (found?.value.kind === 'array' && found.value.items.length === 0) reader.refuse(found, 'must list a model');
  return [...models];
}

function readLimits(reader: DocumentReader, document: Mapping): AdmissionLimits {
  const limit = (name: (typeof KEYS)[number]) =>
    reader.number(
      memberOf(document, name),
      (value) => Number.isInteger(value) && value >= 0 && value <= LIMIT_MAX,
      `must be a whole number from 0 (off) to ${LIMIT_MAX}`,
    ) ?? 0;
  return {
    maxInputTokens: limit('max_input_tokens'),
    imagesMax: limit('images_max'),
    admitBudgetTokens: limit('admit_budget_tokens'),
    maxInflight: limit('max_inflight'),
  };
}

/** Without a primary step it is one that says nothing of itself. */
function readSteps(reader: DocumentReader, document: Mapping): readonly Step[] {
  const primary = memberOf(document, PRIMARY) ?? { path: [PRIMARY], value: { kind: 'object', members: new Map() } };
  const chain = reader.list(document, 'fallback_chain', CHAIN_MAX);
  return [
    readStep(reader, primary, PRIMARY, false),
    ...chain.map((found, index) => readStep(reader, found, `fallback_chain[${index}]`, true)),
  ];
}

/** One that cannot be asked is refused: nobody would learn of it before everything else has failed. */
function readProvider(
  reader: DocumentReader,
  document: Mapping,
  keyed: ReadonlySet<Provider>,
): FallbackProvider | undefined {
  const found = memberOf(document, 'fallback_provider');
  const members = found === undefined ? undefined : reader.mapping(found, ['engine', 'model'], 'key');
  if (members === undefined) return undefined;
  for (const name of ['engine', 'model']) {
    if (memberOf(members, name) === undefined) reader.refuse({ path: members.path }, `must have "${name}"`);
  }
  const named = memberOf(members, 'engine');
  const engine = reader.oneOf(named, PROVIDERS);
  if (named !== undefined && engine !== undefined && !keyed.has(engine)) reader.refuse(named, ruleOfKeys(keyed));
  const model = reader.text(memberOf(members, 'model'), isName, `a model ${NAME_RULE}`);
  return engine === undefined || model === undefined ? undefined : { engine, model };
}

function ruleOfKeys(keyed: ReadonlySet<Provider>): string {
  const names = keyed.size === 0 ? 'and there is a key of none' : `which are ${[...keyed].join(', ')}`;
  return `must be a provider that this router has a key of, ${names}`;
}
