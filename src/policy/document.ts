// A policy as text: YAML in, with faults that its author can find, and back out as the admin API shows it.

import { type DocumentFault, describeFault, quoteText } from '../lib/document-fault.ts';
import { fault, type Result } from '../lib/result.ts';
import { type Path, parseStrictYaml } from '../lib/strict-yaml.ts';
import { tellFaults } from '../lib/tell-faults.ts';
import { encodeUtf8 } from '../lib/utf8.ts';
import type { AdmissionLimits, Match, Policy, Provider, Step, Threshold } from './policy.ts';
import { type PolicyKind, readPolicy } from './schema.ts';

/** Of one document. A usual one has two KiB. */
export const POLICY_MAX_BYTES = 262_144;

/**
 * Words, marks and gaps of one document: 1,000 models and 32 steps with every tag and gate have some 27,000. Requests wait
 * while they are read, a tenth of a second at most.
 */
export const POLICY_MAX_TOKENS = 32_768;

/** Mappings and lists within each other; the deepest that means anything are five. */
const MAX_DEPTH = 8;

/**
 * Reads one YAML document, of which JSON is a part. Faults are lines, at least one, such as
 * `line 4, column 7: routing_policy.exclude_if.kv_cache: unknown metric, must be one of …`. A fallback provider must be
 * one of `keyed`, of which the router has a key.
 */
export function parsePolicy(
  text: string,
  kind: PolicyKind,
  keyed: ReadonlySet<Provider>,
): Result<Policy, readonly string[]> {
  if (encodeUtf8(text).length > POLICY_MAX_BYTES) return fault([`larger than ${POLICY_MAX_BYTES} bytes`]);
  const document = parseStrictYaml(text, { depth: MAX_DEPTH, tokens: POLICY_MAX_TOKENS });
  if (!document.ok) return fault(document.fault.map((at) => `line ${at.line}, column ${at.column}: ${at.rule}`));
  const policy = readPolicy(document.value.value, kind, keyed);
  if (policy.ok) return policy;
  const lineOf = (broken: DocumentFault): string => {
    const { line, column } = document.value.positionOf(broken.path);
    return `line ${line}, column ${column}: ${describeFault(formatPath(broken.path), broken)}`;
  };
  return fault(tellFaults(policy.fault, lineOf));
}

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** `fallback_chain[0].match.region`; a name that is none of ours is quoted. */
function formatPath(path: Path): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    return `.${PLAIN_NAME.test(step) ? step : quoteText(step)}`;
  });
  return steps.join('').replace(/^\./, '');
}

/** As JSON with the names of the YAML; what is off, empty or left out is not there (api.md §17). It can be put again. */
export function formatPolicy({ models, mode, limits, shedIf, steps, provider }: Policy): object {
  const [primary, ...chain] = steps;
  return {
    ...(models.length > 0 ? { models } : {}),
    ...(mode === undefined ? {} : { mode }),
    ...formatLimits(limits),
    ...(shedIf.length > 0 ? { shed_if: formatThresholds(shedIf) } : {}),
    ...(primary === undefined ? {} : { routing_policy: formatStep(primary) }),
    ...(chain.length > 0 ? { fallback_chain: chain.map((step) => ({ name: step.name, ...formatStep(step) })) } : {}),
    ...(provider === undefined ? {} : { fallback_provider: provider }),
  };
}

function formatLimits(limits: AdmissionLimits): object {
  return withoutZeros({
    max_input_tokens: limits.maxInputTokens,
    images_max: limits.imagesMax,
    admit_budget_tokens: limits.admitBudgetTokens,
    max_inflight: limits.maxInflight,
  });
}

function withoutZeros(limits: Readonly<Record<string, number>>): object {
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit > 0));
}

function formatStep({ match, excludeIf, strategy, maxTries }: Step): object {
  return {
    match: formatMatch(match),
    ...(excludeIf.length > 0 ? { exclude_if: formatThresholds(excludeIf) } : {}),
    strategy,
    ...(maxTries === undefined ? {} : { max_tries: maxTries }),
  };
}

function formatMatch({ gpuModel, tags, ...labels }: Match): object {
  const members = { ...labels, gpu_model: gpuModel, ...(tags.length > 0 ? { tags } : {}) };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function formatThresholds(thresholds: readonly Threshold[]): object {
  return Object.fromEntries(thresholds.map(({ metric, operator, value }) => [metric, { [operator]: value }]));
}
