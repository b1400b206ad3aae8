// SGLang (routing.md §9), which has metrics when started with `--enable-metrics`.

import { ENDPOINT_PATHS } from '../../redirect/claims.ts';
import { CAPABILITIES } from '../../routing/endpoint.ts';
import type { EngineAdapter } from './engine.ts';
import { readOpenAiListing } from './openai-listing.ts';

export const sglang: EngineAdapter = {
  healthPath: '/health',
  modelsPath: '/v1/models',
  readModels: readOpenAiListing,
  capabilities: CAPABILITIES,
  endpoints: ENDPOINT_PATHS,
};
