// Streamed answers: their bytes go through at once, and their request is over, logged and measured with the last one.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RouterPorts } from '../../src/http/router-ports.ts';
import { bearer, createTestRouter, type TestRouter } from '../support/test-router.ts';
import { CHAT, CHAT_BODY, follow, present, siteB, tokenForB } from './redirect-fixture.ts';

/** An engine whose stream the test writes. */
function streamingEngine() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  return {
    engine: async () => new Response(readable, { headers: { 'content-type': 'text/event-stream' } }),
    say: (text: string) => void writer.write(encoder.encode(text)),
    close: () => void writer.close(),
    break: () => void writer.abort(new Error('connection reset')),
  };
}

function siteWith(engine: () => Promise<Response>): TestRouter {
  return createTestRouter({ agents: [{ models: ['m'] }], engine });
}

async function begin(site: TestRouter) {
  const response = await site.ask(CHAT, CHAT_BODY, bearer('key-1'));
  const reader = (response.body ?? new ReadableStream()).getReader();
  const read = async () => {
    const { done, value } = await reader.read();
    return done ? undefined : new TextDecoder().decode(value);
  };
  return { response, read, cancel: () => reader.cancel() };
}

/** What the connection is told for the time of every body. */
const BODY = ['allow', 'end'] as const;

describe('a streamed answer', () => {
  it('comes chunk by chunk, with its IDs and CORS at its head (E9)', async () => {
    const stream = streamingEngine();
    const site = siteWith(stream.engine);
    stream.say('data: 1\n\n');
    const { response, read } = await begin(site);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
    assert.equal(response.headers.get('x-request-id'), site.engineCalls[0]?.headers.get('x-request-id'));
    assert.equal(response.headers.get('cache-control'), 'no-cache, no-store, no-transform');
    assert.equal(await read(), 'data: 1\n\n');
    stream.say('data: 2\n\n');
    assert.equal(await read(), 'data: 2\n\n');
    stream.close();
    assert.equal(await read(), undefined);
  });

  it('is logged and measured once, when its last byte has left, with the whole time (E7, api.md 16.2)', async () => {
    const stream = streamingEngine();
    const site = siteWith(stream.engine);
    site.monotonicMs = 0;
    stream.say('data: 1\n\n');
    const { read } = await begin(site);
    assert.deepEqual(site.accessLines, []);
    assert.equal(await site.metric('http_server_active_requests'), 1);
    site.monotonicMs = 1_500;
    await read();
    assert.deepEqual(site.accessLines, []);
    site.monotonicMs = 4_000;
    stream.close();
    await read();
    assert.equal(site.accessLines.length, 1);
    const [line] = site.accessLines;
    assert.deepEqual([line?.['status_code'], line?.['latency_ms'], line?.['agent_id']], [200, 4_000, 'agent-1']);
    assert.equal(typeof line?.['first_byte_ms'], 'number');
    assert.equal(line !== undefined && 'error_code' in line, false);
    assert.equal(await site.metric('http_server_active_requests'), 0);
    const counts = await site.family('http_server_request_duration_seconds_count');
    assert.deepEqual(
      counts.map((count) => count.slice(-2)),
      [' 1'],
    );
  });

  it('that the client leaves is logged as 499, once, and frees its slot (E7)', async () => {
    const stream = streamingEngine();
    const site = siteWith(stream.engine);
    stream.say('data: 1\n\n');
    const { read, cancel } = await begin(site);
    await read();
    assert.equal(site.ports.agents.all()[0]?.active, 1);
    await cancel();
    assert.equal(site.accessLines.length, 1);
    const { status_code, error_code } = site.accessLines[0] ?? {};
    assert.deepEqual({ status_code, error_code }, { status_code: 499, error_code: 'client_gone' });
    assert.equal(site.ports.agents.all()[0]?.active, 0);
    assert.equal(await site.metric('http_server_active_requests'), 0);
  });

  it('that breaks ends with an error event in the body of E4, and is logged so (E8)', async () => {
    const stream = streamingEngine();
    const site = siteWith(stream.engine);
    stream.say('data: 1\n\n');
    const { read } = await begin(site);
    await read();
    stream.break();
    const event = String(await read());
    assert.match(event, /^data: \{"type":"error","error":\{"type":"api_error".*"code":"backend_error".*\}\}\n\n$/);
    assert.equal(await read(), undefined);
    assert.equal(site.accessLines.length, 1);
    assert.equal(site.accessLines[0]?.['error_code'], 'backend_error');
  });

  it('keeps the connection’s silence allowed from the body’s end to the last byte, and no longer (bun.md, fact 3)', async () => {
    const stream = streamingEngine();
    const site = siteWith(stream.engine);
    stream.say('data: 1\n\n');
    const { read } = await begin(site);
    assert.deepEqual(site.silence, [...BODY, 'allow']);
    stream.close();
    while ((await read()) !== undefined);
    assert.deepEqual(site.silence, [...BODY, 'allow', 'end']);
  });

  it('arms the connection again after an error too, and never touches it without an engine (bun.md, fact 3)', async () => {
    const failing = createTestRouter({
      agents: [{ models: ['m'] }],
      engine: async () => new Response('', { status: 500 }),
    });
    assert.equal((await failing.ask(CHAT, CHAT_BODY, bearer('key-1'))).status, 502);
    assert.deepEqual(failing.silence, [...BODY, 'allow', 'end']);
    await failing.ask(CHAT, '{', bearer('key-1'));
    await failing.ask(CHAT, '{"model":"x"}', bearer('key-1'));
    assert.deepEqual(failing.silence, [...BODY, 'allow', 'end', ...BODY, ...BODY]);
  });

  it('of an accepted token keeps the token’s request ID and the engine’s cache rule for streams (R-128, E9)', async () => {
    const stream = streamingEngine();
    stream.say('data: [DONE]\n\n');
    stream.close();
    const response = await follow(siteB({ engine: stream.engine }), tokenForB());
    assert.equal(await response.text(), 'data: [DONE]\n\n');
    assert.equal(response.headers.get('cache-control'), 'no-cache, no-store, no-transform');
  });
});

describe('an answer that is short', () => {
  it('is logged and measured when it is handed over, once (E8)', async () => {
    const engine = async () =>
      new Response('{}', { headers: { 'content-length': '2', 'content-type': 'application/json' } });
    const site = siteWith(engine);
    await site.ask(CHAT, CHAT_BODY, bearer('key-1'));
    assert.equal(site.accessLines.length, 1);
    assert.equal(site.accessLines[0]?.['status_code'], 200);
    assert.equal(await site.metric('http_server_active_requests'), 0);
    assert.deepEqual(site.silence, [...BODY, 'allow', 'end']);
  });
});

describe('the end of an answer', () => {
  for (let hops = 0; hops <= 16; hops += 1) {
    it(`is logged and measured once, on its own route, when it comes ${hops} steps after the head (E7)`, async () => {
      const site = siteWith(async () => Response.json({}));
      const agent = present(site.ports.agents.all()[0]);
      (site.ports as { dispatch: RouterPorts['dispatch'] }).dispatch = async ({ onEnd }) => {
        let turn = Promise.resolve();
        for (let hop = 0; hop < hops; hop += 1) turn = turn.then(() => undefined);
        const reading = { use: undefined, lastWord: 'missing', seenTokens: 0 } as const;
        const how = { status: 499, outcome: 'client_gone', cut: 'client_gone' } as const;
        const end = { ...how, agent, firstByteMs: undefined, reading };
        if (hops === 0) onEnd(end);
        else void turn.then(() => onEnd(end));
        return { kind: 'answered', response: new Response('data'), by: agent };
      };
      await site.ask(CHAT, CHAT_BODY, bearer('key-1'));
      for (let hop = 0; hop < hops; hop += 1) await Promise.resolve();
      const logged = site.accessLines.map((line) => [line['status_code'], line['error_code'], line['agent_id']]);
      assert.deepEqual(logged, [[499, 'client_gone', 'agent-1']]);
      const labels = `method="POST",route="${CHAT}",status_code="499"`;
      assert.deepEqual(await site.family('http_server_request_duration_seconds_count'), [
        `http_server_request_duration_seconds_count{${labels}} 1`,
      ]);
      assert.equal(await site.metric('http_server_active_requests'), 0);
    });
  }
});

describe('a client that leaves', () => {
  it('before the engine has answered is logged as 499, and the engine’s work ends (E7)', async () => {
    let signal: AbortSignal | null | undefined;
    const engine = (_url: string, init: RequestInit) =>
      new Promise<Response>((_resolve, reject) => {
        signal = init.signal;
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    const site = createTestRouter({ agents: [{ models: ['m'] }], engine });
    const leaving = new AbortController();
    const asked = site.send(CHAT, {
      method: 'POST',
      body: CHAT_BODY,
      headers: bearer('key-1'),
      signal: leaving.signal,
    });
    while (site.engineCalls.length === 0) await Promise.resolve();
    leaving.abort();
    await asked;
    assert.equal(signal?.aborted, true);
    assert.equal(site.accessLines.at(-1)?.['status_code'], 499);
    assert.equal(site.ports.agents.all()[0]?.state, 'healthy');
    assert.equal(site.ports.agents.all()[0]?.active, 0);
  });
});
