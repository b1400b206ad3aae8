import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EngineUnderTest } from './engine-under-test.ts';

interface Ranked {
  readonly index: number;
  readonly document: { readonly text: string };
  readonly relevance_score: number;
}

const QUESTION = {
  model: 'tiny',
  query: 'what is the capital of France',
  documents: ['bread needs flour', { text: 'Paris is the capital of France' }, 'Rome is the capital of Italy'],
};

function post(fields: object): Promise<Response> {
  return new EngineUnderTest({ capability: 'reranker' }).post('/v1/rerank', { ...QUESTION, ...fields });
}

async function rank(fields: object = {}): Promise<readonly Ranked[]> {
  return (await (await post(fields)).json()).results;
}

describe('rerank', () => {
  it('puts the nearest document first, each with its index and relevance', async () => {
    const results = await rank();
    assert.deepEqual(
      results.map(({ index, document }) => [index, document.text]),
      [
        [1, 'Paris is the capital of France'],
        [2, 'Rome is the capital of Italy'],
        [0, 'bread needs flour'],
      ],
    );
    const scores = results.map(({ relevance_score }) => relevance_score);
    assert.deepEqual(scores, [...scores].sort().reverse());
    assert.ok(scores.every((score) => score >= 0 && score <= 1));
    assert.deepEqual(await rank(), results);
  });

  it('names engine and model, and fills the usage', async () => {
    const { id, model, usage } = await (await post({})).json();
    assert.deepEqual(
      { id, model, usage },
      {
        id: 'rerank-gpu-1-1',
        model: 'tiny',
        usage: { prompt_tokens: 28, total_tokens: 28 },
      },
    );
  });

  for (const [top, count] of [
    [1, 1],
    [3, 3],
    [4, 3],
    [null, 3],
  ] as const) {
    it(`answers with ${count} of 3 for top_n ${top}`, async () => {
      assert.equal((await rank({ top_n: top })).length, count);
    });
  }

  it('calls no relevance less than 0 or more than 1', async () => {
    const results = await rank({ query: 'query', documents: ['query', 'zebra'] });
    assert.equal(results[1]?.relevance_score, 0);
    assert.ok((results[0]?.relevance_score ?? 2) <= 1);
  });

  it('keeps the order of equally near documents', async () => {
    const results = await rank({ documents: ['same', 'same', 'same'] });
    assert.deepEqual(
      results.map(({ index }) => index),
      [0, 1, 2],
    );
  });

  for (const [fields, path] of [
    [{ documents: [] }, 'documents'],
    [{ documents: [1] }, 'documents.0'],
    [{ query: 1 }, 'query'],
    [{ top_n: 0 }, 'top_n'],
  ] as const) {
    it(`refuses ${JSON.stringify(fields)}, naming ${path}`, async () => {
      const response = await post(fields);
      assert.equal(response.status, 400);
      assert.ok((await response.json()).error.message.startsWith(`${path}: `));
    });
  }
});
