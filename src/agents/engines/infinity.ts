// Infinity, started with the URL prefix `/v1`: embeddings and reranking, no chat (routing.md §9). Its `/metrics` counts
// HTTP requests and tells nothing of the model.

import type { EngineAdapter } from './engine.ts';
import { readOpenAiListing } from './openai-listing.ts';

export const infinity: EngineAdapter = {
  healthPath: '/health',
  modelsPath: '/v1/models',
  readModels: readOpenAiListing,
  capabilities: ['embedding', 'reranker'],
  endpoints: ['/v1/embeddings', '/v1/rerank'],
  metrics: undefined,
};
