// `POST /v1/embeddings`, and the vectors behind it, which rerank uses too. A text's vector is the sum of its words'
// vectors, each drawn by the word itself: equal texts are equal, and texts that share words are near.

import { Buffer } from 'node:buffer';
import * as v from 'valibot';
import { seededNumbers } from './chance.ts';
import { endpoint, wholeNumber } from './endpoint.ts';
import { RunningRequest, type Turn } from './running-request.ts';
import { countTokens } from './text.ts';

const DIMENSIONS = 64;
const DIMENSIONS_MAX = 4096;

/** A text, or a row of token numbers, which then is the text. */
const TextSchema = v.union([
  v.string(),
  v.pipe(
    v.array(v.number()),
    v.minLength(1),
    v.transform((tokens) => tokens.join(' ')),
  ),
]);

const OneTextSchema = v.pipe(
  TextSchema,
  v.transform((text) => [text]),
);

const EmbeddingsSchema = v.object({
  model: v.string(),
  input: v.union(
    [OneTextSchema, v.pipe(v.array(TextSchema), v.minLength(1))],
    'must be a text, a row of tokens, or an array of these',
  ),
  encoding_format: v.nullish(v.picklist(['float', 'base64']), 'float'),
  dimensions: v.nullish(wholeNumber(1, DIMENSIONS_MAX), DIMENSIONS),
});

/** Answers with one unit vector for each input, in order. */
export const embeddings = endpoint('/v1/embeddings', EmbeddingsSchema, async (ask, turn) => {
  const usage = await readTexts(turn, ask.input);
  const data = ask.input.map((text, index) => {
    const vector = embed(text, ask.dimensions);
    const embedding = ask.encoding_format === 'base64' ? encodeBase64(vector) : [...vector];
    return { object: 'embedding', index, embedding };
  });
  const id = `embd-${turn.settings.name}-${turn.number}`;
  return Response.json({ id, object: 'list', model: ask.model, data, usage });
});

/** Stands in for the computation: takes the time to first token, and counts what was read. */
export async function readTexts(turn: Turn, texts: readonly string[]) {
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  const running = new RunningRequest(turn, tokens);
  await running.waitUntil(turn.settings.ttftMs);
  running.end('stop');
  return { prompt_tokens: tokens, total_tokens: tokens };
}

/** The text's vector of length 1; all zeros for a text without words. */
export function embed(text: string, dimensions = DIMENSIONS): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const next = seededNumbers(word);
    for (let index = 0; index < dimensions; index += 1) sum[index] = (sum[index] ?? 0) + next() - 0.5;
  }
  const length = Math.hypot(...sum) || 1;
  return sum.map((part) => part / length);
}

/** Little-endian 32-bit floats, as the OpenAI SDKs read them. */
function encodeBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((part, index) => {
    bytes.writeFloatLE(part, index * 4);
  });
  return bytes.toString('base64');
}
