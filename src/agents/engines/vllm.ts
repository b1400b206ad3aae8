// vLLM (routing.md §9).

import { ENDPOINT_PATHS } from '../../redirect/claims.ts';
import { CAPABILITIES } from '../../routing/endpoint.ts';
import type { EngineAdapter } from './engine.ts';
import { histogram, prometheusSource } from './metrics-source.ts';
import { readOpenAiListing } from './openai-listing.ts';

export const vllm: EngineAdapter = {
  healthPath: '/health',
  modelsPath: '/v1/models',
  readModels: readOpenAiListing,
  capabilities: CAPABILITIES,
  endpoints: ENDPOINT_PATHS,
  metrics: prometheusSource({
    // The second name here and of `itl` is that of versions before 0.11.
    kvCacheUse: ['vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc'],
    runningRequests: ['vllm:num_requests_running'],
    waitingRequests: ['vllm:num_requests_waiting'],
    preemptionsTotal: ['vllm:num_preemptions_total'],
    ttft: [histogram('vllm:time_to_first_token_seconds')],
    itl: [histogram('vllm:inter_token_latency_seconds'), histogram('vllm:time_per_output_token_seconds')],
    rankLabel: 'engine',
  }),
};
