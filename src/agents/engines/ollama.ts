// Ollama: `GET /api/tags` is listing and health in one. It reranks nothing (routing.md §8, §9),
// counts no tokens ahead, and has no metrics.

import { array, is, object, string } from 'valibot';
import type { EngineAdapter } from './engine.ts';

const LISTING = object({ models: array(object({ name: string() })) });
const DEFAULT_TAG = ':latest';

export const ollama: EngineAdapter = {
  healthPath: '/api/tags',
  modelsPath: '/api/tags',
  readModels: (document) =>
    is(LISTING, document) ? document.models.map((model) => publicName(model.name)) : undefined,
  capabilities: ['llm', 'embedding'],
  endpoints: ['/v1/chat/completions', '/v1/messages', '/v1/embeddings'],
  metrics: undefined,
};

/** Ollama takes a name without its default tag as well, and that is the name that people use. */
function publicName(name: string): string {
  return name.endsWith(DEFAULT_TAG) ? name.slice(0, -DEFAULT_TAG.length) : name;
}
