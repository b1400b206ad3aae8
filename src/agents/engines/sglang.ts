// SGLang (routing.md §9), which has metrics when started with `--enable-metrics`.

import { ENDPOINT_PATHS } from '../../redirect/claims.ts';
import { CAPABILITIES } from '../../routing/endpoint.ts';
import type { EngineAdapter } from './engine.ts';
import { histogram, prometheusSource } from './metrics-source.ts';
import { readOpenAiListing } from './openai-listing.ts';

export const sglang: EngineAdapter = {
  healthPath: '/health',
  modelsPath: '/v1/models',
  readModels: readOpenAiListing,
  capabilities: CAPABILITIES,
  endpoints: ENDPOINT_PATHS,
  metrics: prometheusSource({
    kvCacheUse: ['sglang:token_usage'],
    runningRequests: ['sglang:num_running_reqs'],
    waitingRequests: ['sglang:num_queue_reqs'],
    preemptionsTotal: ['sglang:num_retracted_requests_total'],
    ttft: [histogram('sglang:time_to_first_token_seconds')],
    // The second is the name until spring 2025.
    itl: [histogram('sglang:inter_token_latency_seconds'), histogram('sglang:time_per_output_token_seconds')],
    rankLabel: 'dp_rank',
  }),
};
