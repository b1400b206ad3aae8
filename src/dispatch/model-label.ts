// The model of a request as a metric's label. A policy for every model lets a provider answer for any name a client makes
// up, and none of those may become a series.

import type { AgentRegistry } from '../agents/registry.ts';
import type { PolicyStore } from '../policy/store.ts';
import { CAPABILITIES } from '../routing/endpoint.ts';

/** Of a model that neither an agent here lists nor a policy document is for. */
const OTHER_MODEL = 'other';

export function modelLabel(model: string, agents: AgentRegistry, policies: PolicyStore): string {
  const isKnown =
    policies.hasDocumentFor(model) || CAPABILITIES.some((capability) => agents.presence(model, capability) !== 'none');
  return isKnown ? model : OTHER_MODEL;
}
