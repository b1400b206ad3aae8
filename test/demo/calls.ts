// The five calls of a client that knows one hostname: with the official SDKs as their users call them, and with plain
// fetch. Each checks its answer, so that a wrong one fails the demo even if every status was right.

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type Fleet, MODELS } from './fleet.ts';
import { type Call, expect } from './journey.ts';

const TIMEOUT_MS = 10_000;
const QUESTION = { role: 'user', content: 'Why is one hostname enough?' } as const;

type Answer = Omit<Call, 'totalMs'>;

export interface NamedCall {
  readonly name: string;
  readonly make: () => Promise<Call>;
}

/** All of them, to the first site only, without retries: what fails once has failed. */
export function callsOf({ first, keys, ground }: Fleet): readonly NamedCall[] {
  const common = { fetchOptions: { tls: { ca: ground.ca } }, maxRetries: 0, timeout: TIMEOUT_MS };
  const openai = new OpenAI({ ...common, baseURL: `${first.url}/v1`, apiKey: keys[0].secret });
  const anthropic = new Anthropic({ ...common, baseURL: first.url, apiKey: keys[1].secret });
  const rerankInit = {
    headers: { authorization: `Bearer ${keys[0].secret}`, 'content-type': 'application/json' },
    tls: common.fetchOptions.tls,
  };
  return [
    timed('chat completion', () => chat(openai)),
    timed('streamed chat', () => streamedChat(openai)),
    timed('/v1/messages', () => messages(anthropic)),
    timed('embedding', () => embedding(openai)),
    timed('rerank', () => rerank(`${first.url}/v1/rerank`, rerankInit)),
  ];
}

function timed(name: string, call: () => Promise<Answer>): NamedCall {
  return {
    name,
    make: async () => {
      const startedMs = performance.now();
      const answer = await call();
      return { ...answer, totalMs: performance.now() - startedMs };
    },
  };
}

async function chat(openai: OpenAI): Promise<Answer> {
  const asked = openai.chat.completions.create({ model: MODELS.chat.id, messages: [QUESTION] });
  const { data, response } = await asked.withResponse();
  expectEngine(data.choices[0]?.message.content);
  return { response, finding: `${data.usage?.completion_tokens} tokens by ${MODELS.chat.engine}` };
}

async function streamedChat(openai: OpenAI): Promise<Answer> {
  const asked = openai.chat.completions.create({ model: MODELS.chat.id, messages: [QUESTION], stream: true });
  const { data, response } = await asked.withResponse();
  const chunks = [];
  for await (const chunk of data) chunks.push(chunk.choices[0]);
  expectEngine(chunks.map((choice) => choice?.delta.content ?? '').join(''));
  expect(chunks.at(-1)?.finish_reason === 'stop', 'the stream did not end with finish_reason "stop"');
  return { response, finding: `${chunks.length} chunks by ${MODELS.chat.engine}` };
}

async function messages(anthropic: Anthropic): Promise<Answer> {
  const asked = anthropic.messages.create({ model: MODELS.chat.id, max_tokens: 64, messages: [QUESTION] });
  const { data, response } = await asked.withResponse();
  const [block] = data.content;
  expectEngine(block?.type === 'text' ? block.text : undefined);
  return { response, finding: `${data.usage.output_tokens} tokens by ${MODELS.chat.engine}` };
}

async function embedding(openai: OpenAI): Promise<Answer> {
  const asked = openai.embeddings.create({ model: MODELS.embedding.id, input: QUESTION.content });
  const { data, response } = await asked.withResponse();
  const vector = data.data[0]?.embedding ?? [];
  expect(vector.length > 0 && vector.some((part) => part !== 0), 'the embedding is empty');
  expectEngineHeader(response, MODELS.embedding.engine);
  return { response, finding: `${vector.length} dimensions by ${MODELS.embedding.engine}` };
}

async function rerank(url: string, init: RequestInit): Promise<Answer> {
  const documents = ['A river in spring', 'One hostname is enough for every model', 'Warm bread'];
  const body = JSON.stringify({ model: MODELS.rerank.id, query: QUESTION.content, documents });
  const response = await fetch(url, { ...init, method: 'POST', body, signal: AbortSignal.timeout(TIMEOUT_MS) });
  expect(response.status === 200, `status ${response.status}`);
  const { results } = (await response.json()) as { results: readonly { index: number; relevance_score: number }[] };
  const scores = results.map((result) => result.relevance_score);
  expect(results.length === documents.length && results[0]?.index === 1, 'the nearest document is not first');
  expect(scores.join() === scores.toSorted((a, b) => b - a).join(), 'the documents are not in order of relevance');
  expectEngineHeader(response, MODELS.rerank.engine);
  return { response, finding: `${results.length} documents by ${MODELS.rerank.engine}` };
}

/** The mock engine names itself in every text that it generates. */
function expectEngine(content: string | null | undefined): void {
  const opening = `engine ${MODELS.chat.engine}, model ${MODELS.chat.id}: `;
  expect(content?.startsWith(opening) ?? false, `the answer is not by engine ${MODELS.chat.engine}`);
}

function expectEngineHeader(response: Response, engine: string): void {
  const name = response.headers.get('x-mock-engine');
  expect(name === engine, `the answer is by engine ${name} instead of ${engine}`);
}
