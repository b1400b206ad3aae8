// llama.cpp (`llama-server`), which lists the alias given with `-a` (routing.md §9). It has metrics when started with
// `--metrics`, and no histograms: the time between tokens comes from two counters, which move when a request ends.

import { ENDPOINT_PATHS } from '../../redirect/claims.ts';
import { CAPABILITIES } from '../../routing/endpoint.ts';
import type { EngineAdapter } from './engine.ts';
import { prometheusSource } from './metrics-source.ts';
import { readOpenAiListing } from './openai-listing.ts';

export const llamacpp: EngineAdapter = {
  healthPath: '/health',
  modelsPath: '/v1/models',
  readModels: readOpenAiListing,
  capabilities: CAPABILITIES,
  endpoints: ENDPOINT_PATHS,
  metrics: prometheusSource({
    // Gone from the versions since the middle of 2025, which tell nothing of their KV cache.
    kvCacheUse: ['llamacpp:kv_cache_usage_ratio'],
    runningRequests: ['llamacpp:requests_processing'],
    waitingRequests: ['llamacpp:requests_deferred'],
    generatedTokensPerSecond: ['llamacpp:predicted_tokens_seconds'],
    promptTokensPerSecond: ['llamacpp:prompt_tokens_seconds'],
    itl: [{ sumSeconds: 'llamacpp:tokens_predicted_seconds_total', count: 'llamacpp:tokens_predicted_total' }],
  }),
};
