// What an engine says beside its answer, and where the router tells it: tokens in the access log, the end of a stream, and
// when to come back.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, createTestRouter } from '../support/test-router.ts';
import { CHAT, CHAT_BODY } from './redirect-fixture.ts';

const MESSAGES = '/v1/messages';
const OPENAI_USAGE = { usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } };
const DONE = 'data: [DONE]\n\n';

/** The access line of one request that was answered so. */
async function lineOf(path: string, answer: Response): Promise<Record<string, unknown>> {
  const site = createTestRouter({ agents: [{ models: ['m'] }], engine: async () => answer });
  const response = await site.ask(path, CHAT_BODY, bearer('key-1'));
  await response.arrayBuffer();
  return site.accessLines[0] ?? {};
}

const events = (...documents: readonly object[]) =>
  documents.map((document) => `data: ${JSON.stringify(document)}\n\n`).join('');

const streamOf = (text: string) => new Response(text, { headers: { 'content-type': 'text/event-stream' } });

const tokens = (line: Record<string, unknown>) => [line['input_tokens'], line['output_tokens']];

describe('the tokens of an answer', () => {
  it('stand in the access log, streamed or not, in either dialect (api.md 16.2)', async () => {
    const anthropic = { usage: { input_tokens: 5, output_tokens: 7 } };
    const start = { type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 1 } } };
    const delta = { type: 'message_delta', usage: { output_tokens: 7 } };
    for (const [path, answer] of [
      [CHAT, Response.json(OPENAI_USAGE)],
      [MESSAGES, Response.json(anthropic)],
      [CHAT, streamOf(events({ choices: [] }, OPENAI_USAGE) + DONE)],
      [MESSAGES, streamOf(events(start, delta, { type: 'message_stop' }))],
    ] as const) {
      const line = await lineOf(path, answer);
      assert.deepEqual(tokens(line), [5, 7]);
      assert.equal(line['stream_incomplete'], undefined);
    }
  });

  it('are left out where the engine tells none, or refuses', async () => {
    for (const answer of [Response.json({}), Response.json({ error: 'x' }, { status: 500 })]) {
      assert.deepEqual(tokens(await lineOf(CHAT, answer)), [undefined, undefined]);
    }
  });
});

describe('a stream that ends well without its last word', () => {
  it('is passed on as it is, and marked in the access log', async () => {
    const text = events({ choices: [] });
    const site = createTestRouter({ agents: [{ models: ['m'] }], engine: async () => streamOf(text) });
    const response = await site.ask(CHAT, CHAT_BODY, bearer('key-1'));
    assert.equal(await response.text(), text);
    const [line] = site.accessLines;
    assert.deepEqual(
      [line?.['status_code'], line?.['error_code'], line?.['stream_incomplete']],
      [200, undefined, true],
    );
  });

  it('is not one that the router or the client ended', async () => {
    const site = createTestRouter({
      agents: [{ models: ['m'] }],
      engine: async () => streamOf(events({ choices: [] }, { choices: [] })),
    });
    const response = await site.ask(CHAT, CHAT_BODY, bearer('key-1'));
    await response.body?.cancel();
    const [line] = site.accessLines;
    assert.deepEqual([line?.['status_code'], line?.['stream_incomplete']], [499, undefined]);
  });
});

describe('a busy engine', () => {
  it('tells the client when to come back (E8)', async () => {
    const busy = () => new Response('busy', { status: 503, headers: { 'retry-after': '7' } });
    const site = createTestRouter({ agents: [{ models: ['m'] }], engine: async () => busy() });
    const response = await site.ask(CHAT, CHAT_BODY, bearer('key-1'));
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '7']);
  });
});
