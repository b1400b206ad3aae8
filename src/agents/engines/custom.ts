// Any other server that speaks OpenAI's interface. The listing is all it is known to have, so that is its health too.

import { ENDPOINT_PATHS } from '../../redirect/claims.ts';
import { CAPABILITIES } from '../../routing/endpoint.ts';
import type { EngineAdapter } from './engine.ts';
import { readOpenAiListing } from './openai-listing.ts';

export const custom: EngineAdapter = {
  healthPath: '/v1/models',
  modelsPath: '/v1/models',
  readModels: readOpenAiListing,
  capabilities: CAPABILITIES,
  endpoints: ENDPOINT_PATHS,
  metrics: undefined,
};
