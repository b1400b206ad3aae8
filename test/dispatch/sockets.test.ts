// Dispatch behind the real server: what a client's socket does must reach the engine's, and the other way round.

import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { WHOLE_ANSWER_MAX_BYTES } from '../../src/dispatch/forward.ts';
import type { DispatchOutcome } from '../../src/dispatch/outcome.ts';
import { bunRuntime } from '../../src/runtime/bun.ts';
import type { Listener } from '../../src/runtime/runtime.ts';
import { openStream, silent, startEngine, stopEngines } from './engines.ts';
import { responseOf, slots, type TestSite, testSite } from './test-site.ts';

const listeners: Listener[] = [];

afterEach(() => {
  for (const listener of listeners.splice(0)) listener.abort();
  stopEngines();
});

/** A server that dispatches every request: the URL it listens at, and what became of each. */
function serve(site: TestSite) {
  const outcomes: Promise<DispatchOutcome>[] = [];
  const listener = bunRuntime.listen({
    address: '127.0.0.1:0',
    maxBodyBytes: 1_048_576,
    fetch: async (request) => {
      const asking = site.ask({ headers: request.headers, clientGone: request.signal });
      outcomes.push(asking);
      const outcome = await asking;
      return outcome.kind === 'answered' ? responseOf(outcome) : new Response(outcome.kind, { status: 500 });
    },
  });
  listeners.push(listener);
  return { url: `http://127.0.0.1:${listener.port}`, outcomes };
}

describe('dispatch() behind a server', () => {
  it('passes each event on as soon as the engine has written it', async () => {
    const stream = openStream();
    const engine = await startEngine(stream.answer);
    const site = testSite([engine.url]);
    const asking = fetch(serve(site).url, { method: 'POST', body: '{}' });
    const response = await stream.started;
    response.write('data: 1\n\n');
    const reader = (await asking).body?.getReader();
    for (const number of [1, 2, 3]) {
      const chunk = await reader?.read();
      assert.equal(new TextDecoder().decode(chunk?.value), `data: ${number}\n\n`);
      response.write(`data: ${number + 1}\n\n`);
    }
    await reader?.cancel();
  });

  it('frees the engine when the client closes in the middle of a stream (E7)', async () => {
    const stream = openStream();
    const engine = await startEngine(stream.answer);
    const site = testSite([engine.url]);
    const client = new AbortController();
    const asking = fetch(serve(site).url, { method: 'POST', body: '{}', signal: client.signal });
    (await stream.started).write('data: 1\n\n');
    const reader = (await asking).body?.getReader();
    await reader?.read();
    client.abort();
    await engine.seen[0]?.abandoned;
    assert.deepEqual(slots(site), [0]);
    assert.deepEqual(
      site.ends.map((end) => [end.outcome, end.status]),
      [['client_gone', 499]],
    );
  });

  it('frees the engine when the client closes before the head', async () => {
    const engine = await startEngine(silent);
    const site = testSite([engine.url]);
    const client = new AbortController();
    const { url, outcomes } = serve(site);
    const asking = fetch(url, { method: 'POST', body: '{}', signal: client.signal }).catch(() => 'closed');
    const seen = await engine.nextRequest();
    client.abort();
    await seen.abandoned;
    assert.equal(await asking, 'closed');
    assert.equal((await outcomes[0])?.kind, 'failed');
    assert.deepEqual(slots(site), [0]);
  });

  it('gives a broken event stream its error event and a clean end', async () => {
    const stream = openStream();
    const engine = await startEngine(stream.answer);
    const site = testSite([engine.url]);
    const asking = fetch(serve(site).url, { method: 'POST', body: '{}' });
    const response = await stream.started;
    response.write('data: 1\n\n');
    // The head reaches the client with the first event (bun.md, fact 5).
    const answer = await asking;
    response.destroy();
    assert.match(
      await answer.text(),
      /^data: 1\n\ndata: \{"type":"error","error":\{"code":"backend_error"[^\n]*\}\n\n$/,
    );
  });

  it('breaks the client’s connection when an answer without events breaks: never a clean end', async () => {
    const stream = openStream({ 'content-type': 'application/json' });
    const engine = await startEngine(stream.answer);
    const site = testSite([engine.url]);
    const asking = fetch(serve(site).url, { method: 'POST', body: '{}' });
    const response = await stream.started;
    response.write(`{"data":["${'x'.repeat(WHOLE_ANSWER_MAX_BYTES)}`);
    const answer = await asking;
    response.destroy();
    await assert.rejects(answer.text());
  });
});
