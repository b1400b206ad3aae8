import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ENDPOINT_PATHS } from '../../src/redirect/claims.ts';
import { ENDPOINTS } from '../../src/routing/endpoint.ts';

describe('ENDPOINTS', () => {
  it('names kind, capability and dialect of each path (R-016)', () => {
    const table = ENDPOINTS.map(({ path, kind, capability, dialect }) => [path, kind, capability, dialect]);
    assert.deepEqual(table, [
      ['/v1/chat/completions', 'chat', 'llm', 'openai'],
      ['/v1/messages', 'chat', 'llm', 'anthropic'],
      ['/v1/messages/count_tokens', 'chat', 'llm', 'anthropic'],
      ['/v1/embeddings', 'embedding', 'embedding', 'openai'],
      ['/v1/rerank', 'rerank', 'reranker', 'openai'],
    ]);
  });

  it('has every path that a token can carry, in the order of their codes', () => {
    assert.deepEqual(
      ENDPOINTS.map((endpoint) => endpoint.path),
      [...ENDPOINT_PATHS],
    );
  });
});
