// Any other server that speaks OpenAI's interface. The listing is all it is known to have, so that is its health too.

import { CAPABILITIES } from '../../routing/endpoint.ts';
import type { EngineAdapter } from './engine.ts';
import { readOpenAiListing } from './openai-listing.ts';

export const custom: EngineAdapter = {
  healthPath: '/v1/models',
  modelsPath: '/v1/models',
  readModels: readOpenAiListing,
  capabilities: CAPABILITIES,
};
