// The five inference endpoints: what each path asks of an agent and which family of SDKs reads its answer. Everything
// that differs between them is in this table, so that no later step compares paths.

import { ENDPOINT_PATHS, type EndpointPath } from '../redirect/claims.ts';
import type { Kind } from '../site/kind.ts';

/** What an agent's engine can do (routing.md §5). */
export const CAPABILITIES = ['llm', 'embedding', 'reranker'] as const;

export type Capability = (typeof CAPABILITIES)[number];

/** Whose wire format an answer has, and with it the form of an error inside a stream. */
export type Dialect = 'openai' | 'anthropic';

export interface Endpoint {
  readonly path: EndpointPath;
  /** The sibling map's word for it. */
  readonly kind: Kind;
  /** The agent's word for it. */
  readonly capability: Capability;
  readonly dialect: Dialect;
}

const PROPERTIES = {
  '/v1/chat/completions': { kind: 'chat', capability: 'llm', dialect: 'openai' },
  '/v1/messages': { kind: 'chat', capability: 'llm', dialect: 'anthropic' },
  '/v1/messages/count_tokens': { kind: 'chat', capability: 'llm', dialect: 'anthropic' },
  '/v1/embeddings': { kind: 'embedding', capability: 'embedding', dialect: 'openai' },
  '/v1/rerank': { kind: 'rerank', capability: 'reranker', dialect: 'openai' },
} as const satisfies Record<EndpointPath, Omit<Endpoint, 'path'>>;

/** All five, in the order of their wire codes (redirect-requirements 4.2). */
export const ENDPOINTS: readonly Endpoint[] = ENDPOINT_PATHS.map((path) => ({ path, ...PROPERTIES[path] }));
