// The policies in force: the global one, the named documents, and which of them each model has. A request takes its plan
// once; what is replaced later does not touch it.

import { fault, ok, type Result } from '../lib/result.ts';
import { type Plan, planOf } from './plan.ts';
import { BUILT_IN_POLICY, type Policy } from './policy.ts';

/** Policies that are read together. Each document has models, and no model is in two of them. */
export interface PolicySet {
  readonly global: Policy;
  /** By name of the document. */
  readonly documents: ReadonlyMap<string, Policy>;
}

export const BUILT_IN_POLICIES: PolicySet = { global: BUILT_IN_POLICY, documents: new Map() };

/** Named documents at a time. */
export const DOCUMENTS_MAX = 1_000;

/** What the Go router does without the setting (routing.md §17). */
const MAX_TRIES_DEFAULT = 3;

/** Two documents want one model. */
export interface Claim {
  readonly model: string;
  /** The document that has it. */
  readonly owner: string;
}

export class PolicyStore {
  readonly #maxTriesDefault: number;
  #global: Policy;
  #documents: ReadonlyMap<string, Policy>;
  #globalPlan: Plan;
  /** By model, of the named documents. */
  #plans: ReadonlyMap<string, Plan>;
  #policies: ReadonlyMap<string, Policy>;

  /** `maxTriesDefault`, at least 1, is for steps that do not say. */
  constructor({ global, documents }: PolicySet = BUILT_IN_POLICIES, maxTriesDefault = MAX_TRIES_DEFAULT) {
    this.#maxTriesDefault = maxTriesDefault;
    this.#global = global;
    this.#globalPlan = this.#planOf(global);
    this.#documents = documents;
    this.#plans = this.#plansOf(documents);
    this.#policies = policiesOf(documents);
  }

  get global(): Policy {
    return this.#global;
  }

  /** In the order in which they came. */
  get documents(): ReadonlyMap<string, Policy> {
    return this.#documents;
  }

  /** That of the model's document, which replaces the global one whole, or of the global policy. */
  planFor(model: string): Plan {
    return this.#plans.get(model) ?? this.#globalPlan;
  }

  /** What {@link planFor} is made of. */
  policyFor(model: string): Policy {
    return this.#policies.get(model) ?? this.#global;
  }

  /** Whether the model has a policy of its own. */
  hasDocumentFor(model: string): boolean {
    return this.#plans.has(model);
  }

  replaceGlobal(policy: Policy): void {
    this.#global = policy;
    this.#globalPlan = this.#planOf(policy);
  }

  /** All of them at once, as files have them. */
  replaceAll({ global, documents }: PolicySet): void {
    this.replaceGlobal(global);
    this.#replaceDocuments(documents);
  }

  /** A new document, or another version of one; refused when a model of it is in another, or there are too many. */
  putDocument(name: string, policy: Policy): Result<void, Claim | 'full'> {
    const others = new Map([...this.#documents].filter(([other]) => other !== name));
    const claim = findClaim(policy.models, others);
    if (claim !== undefined) return fault(claim);
    if (others.size >= DOCUMENTS_MAX) return fault('full');
    this.#replaceDocuments(new Map([...others, [name, policy]]));
    return ok(undefined);
  }

  /** Its models have the global policy again. Nothing happens when there is none of this name. */
  deleteDocument(name: string): void {
    this.#replaceDocuments(new Map([...this.#documents].filter(([other]) => other !== name)));
  }

  #replaceDocuments(documents: PolicySet['documents']): void {
    this.#documents = documents;
    this.#plans = this.#plansOf(documents);
    this.#policies = policiesOf(documents);
  }

  #planOf(policy: Policy): Plan {
    return planOf(policy, this.#maxTriesDefault);
  }

  #plansOf(documents: PolicySet['documents']): ReadonlyMap<string, Plan> {
    return new Map(
      [...documents.values()].flatMap((policy) => {
        const plan = this.#planOf(policy);
        return policy.models.map((model) => [model, plan] as const);
      }),
    );
  }
}

/** By model. */
function policiesOf(documents: PolicySet['documents']): ReadonlyMap<string, Policy> {
  return new Map([...documents.values()].flatMap((policy) => policy.models.map((model) => [model, policy] as const)));
}

/** The first of `models` that one of the documents has. */
function findClaim(models: readonly string[], documents: PolicySet['documents']): Claim | undefined {
  const wanted = new Set(models);
  for (const [owner, policy] of documents) {
    const model = policy.models.find((owned) => wanted.has(owned));
    if (model !== undefined) return { model, owner };
  }
  return undefined;
}
