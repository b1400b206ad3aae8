import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { EngineFetch } from '../../../src/agents/engine-fetch.ts';
import { HEADERS_MAX } from '../../../src/dispatch/forward.ts';
import { isChatEndpoint } from '../../../src/dispatch/providers/provider.ts';
import { ENDPOINTS } from '../../../src/routing/endpoint.ts';
import { bytes, deadUrl, json, openStream, silent, startEngine, startRawEngine, stopEngines } from '../engines.ts';
import { settled } from '../streaming.ts';
import { REQUEST_TIMEOUT_MS, STREAM_IDLE_MS } from '../test-site.ts';
import { eventText } from './golden.ts';
import { ask, CONVERTED, failureOf, firstEvent, OWN } from './pairs.ts';
import { API_KEY, providerSite } from './provider-site.ts';

afterEach(stopEngines);

describe('isChatEndpoint()', () => {
  it('keeps counting tokens, embeddings and reranks from a chat provider (routing.md, trap 26)', () => {
    assert.deepEqual(
      ENDPOINTS.filter(isChatEndpoint).map(({ path }) => path),
      ['/v1/chat/completions', '/v1/messages'],
    );
  });
});

for (const pair of [...CONVERTED, ...OWN]) {
  const { from, to, name } = pair;
  describe(`callProvider(), ${from} to ${to}`, () => {
    it('sends the operator\u2019s key and nothing of the client\u2019s but what is listed (E6)', async () => {
      const provider = await startEngine(json(500, {}));
      const site = providerSite({ from, to, url: provider.url });
      const secrets = ['authorization', 'x-api-key', 'api-key', 'cookie', 'referer', 'rt', 'x-hivenet-scope'];
      const others = [
        'x-session-id',
        'openai-organization',
        'anthropic-workspace-id',
        'x-forwarded-for',
        'x-stainless-os',
      ];
      const headers = new Headers([...secrets, ...others].map((header) => [header, 'canary']));
      headers.set('traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
      headers.set('anthropic-beta', 'some-feature');
      headers.set('user-agent', 'canary');
      await site.call({ body: pair.body, headers });
      const seen = provider.seen[0]?.headers ?? {};
      assert.ok(!JSON.stringify(seen).includes('canary'));
      const key = to === 'openai' ? ['authorization'] : ['anthropic-version', 'x-api-key'];
      if (from === 'anthropic' && to === 'anthropic') key.push('anthropic-beta');
      const always = ['accept-encoding', 'content-type', 'traceparent', 'user-agent', 'x-request-id'];
      const ofFetch = ['accept', 'connection', 'content-length', 'host'];
      assert.deepEqual(Object.keys(seen).sort(), [...key, ...always, ...ofFetch].sort());
      assert.equal(seen['x-request-id'], 'request-1');
      assert.equal(seen['accept-encoding'], 'identity');
      assert.equal(seen['user-agent'], 'hivenet-router');
    });

    it('sends no empty header in the place of one that the client has not sent', async () => {
      const { provider } = await ask(pair, json(500, {}));
      assert.ok(!Object.values(provider.seen[0]?.headers ?? {}).includes(''));
    });

    it('asks for the model of the policy', async () => {
      const { provider } = await ask(pair, json(500, {}));
      assert.equal(JSON.parse(String(provider.seen[0]?.body)).model, 'target');
    });

    it('asks once: what fails is told with the provider\u2019s words, at most 512 bytes (E8)', async () => {
      for (const status of [402, 409, 429, 500, 502]) {
        const { provider, attempt } = await ask(pair, json(status, { error: { message: 'x'.repeat(600) } }));
        const message = `The provider ${name} failed: ${'x'.repeat(512)}`;
        assert.deepEqual(failureOf(attempt), [status, message, `${name}: status ${status}`]);
        assert.equal(provider.seen.length, 1);
      }
    });

    it('takes a refused key for the operator\u2019s fault, and repeats nothing of it', async () => {
      for (const status of [401, 403]) {
        const { attempt } = await ask(pair, json(status, { error: { message: 'Incorrect API key: sk-op****cret' } }));
        const message = `The provider ${name} failed: it does not accept the key of this router.`;
        assert.deepEqual(failureOf(attempt), [status, message, `${name}: status ${status}`]);
      }
    });

    it('tells the operator where to look when the provider does not know the model', async () => {
      const { attempt } = await ask(pair, json(404, { error: { message: 'no such model' } }));
      const reason = `${name}: status 404, check the model of the policy and the base URL`;
      assert.deepEqual(failureOf(attempt), [404, `The provider ${name} failed: no such model`, reason]);
    });

    it('takes no other status for an answer, and quotes none of it in an error', async () => {
      for (const status of [201, 202, 206]) {
        const { attempt } = await ask(pair, json(status, { message: 'canary', error: 'canary' }));
        const message = `The provider ${name} answered with status ${status}.`;
        assert.deepEqual(failureOf(attempt), [status, message, `${name}: status ${status}`]);
      }
    });

    it('takes an overload for one, in the status that everybody knows', async () => {
      const { attempt } = await ask(pair, json(529, { error: { message: 'Overloaded' } }));
      assert.deepEqual(failureOf(attempt).slice(0, 2), [503, `The provider ${name} failed: Overloaded`]);
    });

    it('lets no key out of an error, wherever the provider repeats it', async () => {
      for (const status of [400, 500]) {
        for (const answer of [
          json(status, { error: { message: `got ${API_KEY}` } }),
          bytes(status, `got ${API_KEY}`),
        ]) {
          const { attempt } = await ask(pair, answer);
          assert.ok(!JSON.stringify(attempt).includes(API_KEY), JSON.stringify(attempt));
          assert.ok('message' in attempt && attempt.message.endsWith('got [hidden]'));
        }
      }
    });

    it('lets no part of the key out where the error is cut, nor the key in escapes', async () => {
      const escaped = [...API_KEY].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
      for (const status of [400, 500]) {
        const long = await ask(pair, json(status, { error: { message: `${'x'.repeat(505)}${API_KEY}` } }));
        assert.ok(!JSON.stringify(long.attempt).includes(API_KEY.slice(0, 6)), JSON.stringify(long.attempt));
        for (const text of [`{"error":{"message":"${escaped}"}}`, `not JSON ${escaped}`, `{"x":"${escaped}"}`]) {
          const { attempt } = await ask(pair, bytes(status, text));
          const told = 'message' in attempt ? attempt.message : attempt.kind;
          assert.ok(!told.includes(API_KEY) && !told.includes(escaped.slice(0, 30)), told);
        }
      }
    });

    it('fails when nobody listens, or the connection breaks', async () => {
      const dead = providerSite({ from, to, url: await deadUrl() });
      const refused = [
        undefined,
        `The provider ${name} failed: it refuses connections.`,
        `${name}: it refuses connections`,
      ];
      assert.deepEqual(failureOf(await dead.call({ body: pair.body })), refused);
      const raw = await startRawEngine((socket) => void socket.end('garbage\r\n\r\n'));
      const [, message = ''] = failureOf(await providerSite({ from, to, url: raw.url }).call({ body: pair.body }));
      assert.equal(message, `The connection to the provider ${name} failed.`);
    });

    it('opens a connection once more that is lost before the answer begins, and no third one', async () => {
      let connections = 0;
      const raw = await startRawEngine((socket) => {
        connections += 1;
        if (connections === 2) socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}');
        else socket.destroy();
      });
      const { call } = providerSite({ from, to, url: raw.url });
      assert.notEqual((await call({ body: pair.body })).kind, 'failed');
      connections = 2;
      assert.equal((await call({ body: pair.body })).kind, 'failed');
      assert.equal(connections, 4);
    });

    it('opens it for that call alone, so that no kept one is lost again', async () => {
      const kept: unknown[] = [];
      const fetch: EngineFetch = async (_url, { keepalive }) => {
        kept.push(keepalive);
        throw Object.assign(new Error('lost'), { code: 'ECONNRESET' });
      };
      assert.equal((await providerSite({ from, to, url: 'http://127.0.0.1:9', fetch }).call(pair)).kind, 'failed');
      assert.deepEqual(kept, [undefined, false]);
    });

    it('follows no redirect, and takes no flood of headers', async () => {
      const target = await startEngine(json(200, {}));
      const { attempt } = await ask(pair, json(307, {}, { location: target.url }));
      assert.deepEqual(failureOf(attempt)[0], 307);
      assert.equal(target.seen.length, 0);
      const flood = await ask(pair, json(200, {}, { 'x-flood': 'x'.repeat(HEADERS_MAX - 100) }));
      assert.equal(flood.attempt.kind, 'failed');
    });

    it('ends at the request timeout, and lets go of the provider (E9)', async () => {
      const provider = await startEngine(silent);
      const site = providerSite({ from, to, url: provider.url });
      const calling = site.call({ body: pair.body });
      const seen = await provider.nextRequest();
      site.timers.advance(REQUEST_TIMEOUT_MS);
      assert.deepEqual(await calling, { kind: 'cut', cut: 'request_timeout', afterMs: REQUEST_TIMEOUT_MS });
      await seen.abandoned;
    });

    it('ends when the client leaves, before and within a stream (E7)', async () => {
      const stream = openStream();
      const provider = await startEngine(stream.answer);
      const site = providerSite({ from, to, url: provider.url });
      const asking = site.respond({ body: { ...pair.body, stream: true } });
      const response = await stream.started;
      response.write(eventText(to, firstEvent(to)));
      const reader = (await asking).body?.getReader();
      await reader?.read();
      site.client.abort();
      await provider.seen[0]?.abandoned;
      assert.deepEqual(
        site.ends.map(({ outcome, status }) => [outcome, status]),
        [['client_gone', 499]],
      );
      const quiet = await startEngine(silent);
      const early = providerSite({ from, to, url: quiet.url });
      const calling = early.call({ body: pair.body });
      await quiet.nextRequest();
      early.client.abort();
      assert.deepEqual(await calling, { kind: 'cut', cut: 'client_gone', afterMs: 0 });
    });

    it('ends a stream that falls silent with an error event of the client\u2019s dialect (E9)', async () => {
      const stream = openStream();
      const provider = await startEngine(stream.answer);
      const site = providerSite({ from, to, url: provider.url });
      const asking = site.respond({ body: { ...pair.body, stream: true } });
      (await stream.started).write(eventText(to, firstEvent(to)));
      const reader = (await asking).body?.getReader();
      await reader?.read();
      const reading = reader?.read();
      await settled();
      site.timers.advance(STREAM_IDLE_MS);
      const text = new TextDecoder().decode((await reading)?.value);
      assert.match(
        text,
        from === 'anthropic' ? /^event: error\ndata: \{.*request_timeout/ : /^data: \{.*request_timeout/,
      );
      assert.ok((await reader?.read())?.done);
    });

    it('tells the client nothing of the operator\u2019s account', async () => {
      const headers = { 'openai-organization': 'acme', 'x-ratelimit-remaining-requests': '1', 'request-id': 'r' };
      for (const answer of [json(200, {}, headers), json(400, {}, headers)]) {
        const { attempt } = await ask(pair, answer);
        if (attempt.kind === 'whole') assert.deepEqual(Object.keys(attempt.head.headers), ['content-type']);
      }
    });
  });
}
