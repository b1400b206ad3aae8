// llama.cpp (`llama-server`), which lists the alias given with `-a` (routing.md §9). It has metrics when started with
// `--metrics`, and no histograms: the time between tokens comes from two counters, which move when a request ends.

import { ENDPOINT_PATHS } from '../../redirect/claims.ts';
import { CAPABILITIES } from '../../routing/endpoint.ts';
import type { EngineAdapter } from './engine.ts';
import { readOpenAiListing } from './openai-listing.ts';

export const llamacpp: EngineAdapter = {
  healthPath: '/health',
  modelsPath: '/v1/models',
  readModels: readOpenAiListing,
  capabilities: CAPABILITIES,
  endpoints: ENDPOINT_PATHS,
};
