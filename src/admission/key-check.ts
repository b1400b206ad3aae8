// Keys and policies that contradict each other: a key whose tokens per minute are fewer than a prompt that its models
// allow could send prompts that never pass (routing.md §17). Looked for at the start, at a reload and at a write.

import type { ApiKey } from '../auth/api-key.ts';
import type { Steps } from '../lib/steps.ts';
import type { AdmissionPolicy } from './gates.ts';

/** The policies that would hold together with the keys. */
export interface PolicyTable {
  readonly global: AdmissionPolicy;
  /** Each replaces the global one for its models. */
  readonly documents: ReadonlyMap<string, AdmissionPolicy & { readonly models: readonly string[] }>;
}

/** Contradictions that are told. */
export const CONTRADICTIONS_MAX = 20;

/** Looks that are taken between two pauses. */
const LOOKS_PER_STEP = 20_000;

interface Ceiling {
  /** Longest prompt that the policy lets in; 0: it does not say. */
  readonly tokens: number;
  /** As a message names the policy. */
  readonly policy: string;
}

/**
 * What contradicts, one line each, the first {@link CONTRADICTIONS_MAX}. A key of an auth file is told by its name.
 * A key with limits per model has no tokens per minute, and a policy that is not serverless does not look at them.
 */
export function* findContradictions(keys: Iterable<ApiKey>, table: PolicyTable): Steps<readonly string[]> {
  const ceilings = ceilingsOf(table);
  const lines: string[] = [];
  let looks = 0;
  for (const key of keys) {
    const limit = key.quota?.inputTokensPerMinute ?? 0;
    looks += 1 + (limit > 0 ? (key.allowedModels?.size ?? 0) : 0);
    if (looks >= LOOKS_PER_STEP) {
      looks = 0;
      yield;
    }
    const ceiling = limit > 0 ? highestFor(key, ceilings) : undefined;
    if (ceiling === undefined || limit >= ceiling.tokens) continue;
    lines.push(
      `key "${key.id || key.name}": input_tokens_per_minute ${limit} must be at least ` +
        `max_input_tokens ${ceiling.tokens} of ${ceiling.policy}`,
    );
    if (lines.length === CONTRADICTIONS_MAX) break;
  }
  return lines;
}

interface Ceilings {
  readonly global: Ceiling;
  readonly byModel: ReadonlyMap<string, Ceiling>;
  readonly highest: Ceiling;
}

function ceilingsOf({ global, documents }: PolicyTable): Ceilings {
  const ofGlobal = { tokens: tokensOf(global), policy: 'the global policy' };
  const byModel = new Map<string, Ceiling>();
  let highest: Ceiling = ofGlobal;
  for (const [name, document] of documents) {
    const ceiling = { tokens: tokensOf(document), policy: `policy "${name}"` };
    for (const model of document.models) byModel.set(model, ceiling);
    if (ceiling.tokens > highest.tokens) highest = ceiling;
  }
  return { global: ofGlobal, byModel, highest };
}

function tokensOf({ mode, limits }: AdmissionPolicy): number {
  return mode === 'serverless' ? limits.maxInputTokens : 0;
}

/** Of all policies that the key can reach. */
function highestFor({ allowedModels }: ApiKey, { global, byModel, highest }: Ceilings): Ceiling {
  if (allowedModels === undefined) return highest;
  let reached: Ceiling | undefined;
  for (const model of allowedModels) {
    const ceiling = byModel.get(model) ?? global;
    if (reached === undefined || ceiling.tokens > reached.tokens) reached = ceiling;
  }
  return reached ?? highest;
}
