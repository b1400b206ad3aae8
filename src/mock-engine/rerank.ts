// `POST /v1/rerank`, as vLLM, Jina and Cohere have it: documents in the order of their nearness to the query.

import * as v from 'valibot';
import { embed, readTexts } from './embeddings.ts';
import { endpoint, wholeNumber } from './endpoint.ts';

const DocumentSchema = v.union([v.string(), v.object({ text: v.string() })], 'must be a text or {"text": …}');

const RerankSchema = v.object({
  model: v.string(),
  query: v.string(),
  documents: v.pipe(v.array(DocumentSchema), v.minLength(1, 'must hold a document')),
  top_n: v.nullish(wholeNumber(1), Number.MAX_SAFE_INTEGER),
});

/** Answers with the best `top_n` documents, best first; equally good ones keep their order. Relevance is 0 to 1. */
export const rerank = endpoint('/v1/rerank', RerankSchema, async (ask, turn) => {
  const texts = ask.documents.map((document) => (typeof document === 'string' ? document : document.text));
  const usage = await readTexts(turn, [ask.query, ...texts]);
  const query = embed(ask.query);
  const results = texts
    .map((text, index) => ({ index, document: { text }, relevance_score: relevance(query, embed(text)) }))
    .sort((one, other) => other.relevance_score - one.relevance_score)
    .slice(0, ask.top_n);
  return Response.json({ id: `rerank-${turn.settings.name}-${turn.number}`, model: ask.model, results, usage });
});

/** The cosine of two unit vectors, with 0 for opposite ones. */
function relevance(query: Float32Array, document: Float32Array): number {
  const cosine = query.reduce((sum, part, index) => sum + part * (document[index] ?? 0), 0);
  return Math.min(1, Math.max(0, cosine));
}
