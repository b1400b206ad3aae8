// What an engine says beside its answer, and where the router tells it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, createTestRouter } from '../support/test-router.ts';
import { CHAT, CHAT_BODY } from './redirect-fixture.ts';

describe('a busy engine', () => {
  it('tells the client when to come back (E8)', async () => {
    const busy = () => new Response('busy', { status: 503, headers: { 'retry-after': '7' } });
    const site = createTestRouter({ agents: [{ models: ['m'] }], engine: async () => busy() });
    const response = await site.ask(CHAT, CHAT_BODY, bearer('key-1'));
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '7']);
  });
});
