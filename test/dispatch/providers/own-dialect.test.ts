// A provider asked in its client's own dialect: every byte passes, but never one of the operator's key.

import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { encodeUtf8 } from '../../../src/lib/utf8.ts';
import { type Answer, bytes, json, startEngine, stopEngines } from '../engines.ts';
import { ask, EVENTS, failureOf, OWN } from './pairs.ts';
import { API_KEY, providerSite } from './provider-site.ts';

afterEach(stopEngines);

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const ESCAPED_KEY = `{"a":"\\u0073${API_KEY.slice(1)}"}`;

for (const pair of OWN) {
  describe(`callProvider(), ${pair.from} as it is`, () => {
    it('passes on every byte of an answer, of a finding and of a stream', async () => {
      const text = '{ "n": 12345678901234567890, "new": 1.0 }';
      const type = { 'content-type': 'application/json' };
      for (const status of [200, 400, 413, 415, 422]) {
        const { attempt } = await ask(pair, bytes(status, text, type));
        assert.ok(attempt.kind === 'whole');
        assert.deepEqual([attempt.head.status, Buffer.from(attempt.bytes).toString()], [status, text]);
      }
      const stream = 'data: {"x":1.0}\r\n\r\n: comment\n\ndata: [DONE]\n\n';
      const provider = await startEngine(bytes(200, stream, { ...EVENTS, 'openai-organization': 'acme' }));
      const site = providerSite({ ...pair, url: provider.url });
      const response = await site.respond({ body: { ...pair.body, stream: true } });
      assert.equal(response.headers.get('openai-organization'), null);
      assert.equal(await response.text(), stream);
      assert.equal(response.headers.get('cache-control'), 'no-cache, no-store, no-transform');
    });

    it('asks for no count of tokens that the client did not ask for', async () => {
      const { provider } = await ask(pair, json(500, {}), { stream: true });
      const sent = { ...pair.body, stream: true, model: 'target' };
      assert.equal(String(provider.seen[0]?.body), JSON.stringify(sent));
    });

    const unusable: readonly (readonly [what: string, answer: Answer, why: string])[] = [
      ['nothing', bytes(200, '', { 'content-type': 'application/json' }), 'its answer is not JSON'],
      ['a page', bytes(200, '<html>', { 'content-type': 'text/html' }), 'its answer is not JSON'],
      ['bytes of no type', bytes(200, '{}'), 'its answer is not JSON'],
      ['a long page', bytes(200, 'x'.repeat(1_100_000), { 'content-type': 'text/html' }), 'its answer is not JSON'],
      ['an encoded answer', bytes(200, '{}', { ...JSON_TYPE, 'content-encoding': 'gzip' }), 'it sent an encoded'],
      ['encoded events', bytes(200, 'x', { ...EVENTS, 'content-encoding': 'gzip' }), 'it sent an encoded answer'],
      ['its key in an answer', json(200, { error: { message: API_KEY } }), 'its answer holds a secret'],
      ['its key in escapes', bytes(200, ESCAPED_KEY, JSON_TYPE), 'its answer holds a secret'],
      ['its key in a long answer', bytes(200, `"${API_KEY}${'x'.repeat(1_100_000)}"`, JSON_TYPE), 'its answer holds'],
      ['its key in its first event', bytes(200, `data: ${API_KEY}\n\n`, EVENTS), 'its answer holds a secret'],
    ];
    for (const [what, answer, why] of unusable) {
      it(`fails when the provider sends ${what}`, async () => {
        const [, message] = failureOf((await ask(pair, answer)).attempt);
        assert.ok(String(message).startsWith(`The provider ${pair.name} failed: ${why}`), String(message));
      });
    }

    it('takes every type that is JSON for an answer', async () => {
      for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/problem+json']) {
        assert.equal((await ask(pair, bytes(200, '{}', { 'content-type': type }))).attempt.kind, 'whole');
      }
    });

    it('ends a stream before the key, wherever its bytes are split', async () => {
      const events = ['data: {"n":1}\n\n', `data: {"error":"${API_KEY}"}\n\n`, 'data: [DONE]\n\n'];
      for (let at = events[0]?.length ?? 0; at < events.join('').length; at += 1) {
        const body = encodeUtf8(events.join(''));
        const chunks = [body.subarray(0, 5), body.subarray(5, at), body.subarray(at)];
        const fetch = async () => new Response(streamOf(chunks), { headers: EVENTS });
        const site = providerSite({ ...pair, url: 'http://provider.test', fetch });
        const text = await (await site.respond({ body: { ...pair.body, stream: true } })).text();
        assert.ok(!text.includes('secret"') && !text.includes('[DONE]'), text);
        assert.ok(text.endsWith('"message":"The provider broke off its answer: it held a secret."}}\n\n'), text);
        assert.deepEqual(
          site.ends.map(({ outcome }) => outcome),
          ['broken'],
        );
      }
    });

    it('breaks the connection of a long document with the key in it', async () => {
      const text = `"${'x'.repeat(1_100_000)}${API_KEY}"`;
      const body = encodeUtf8(text);
      const chunks = [body.subarray(0, 1_090_000), body.subarray(1_090_000, 1_100_010), body.subarray(1_100_010)];
      const fetch = async () => new Response(streamOf(chunks), { headers: JSON_TYPE });
      const site = providerSite({ ...pair, url: 'http://provider.test', fetch });
      await assert.rejects(async () => (await site.respond({ body: pair.body })).text());
    });

    it('holds back no event, and no byte that is not the beginning of the key', async () => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const fetch = async () => new Response(readable, { headers: EVENTS });
      const site = providerSite({ ...pair, url: 'http://provider.test', fetch });
      const asking = site.respond({ body: { ...pair.body, stream: true } });
      const provider = writable.getWriter();
      const parts = ['data: 1\n\n', `data: ${API_KEY.slice(0, 5)}`, 'x\n\n', `data: ${API_KEY.slice(0, 9)}`];
      const expected = ['data: 1\n\n', 'data: ', `${API_KEY.slice(0, 5)}x\n\n`, 'data: '];
      void provider.write(encodeUtf8(parts[0] ?? ''));
      const reader = (await asking).body?.getReader();
      for (const [index, part] of parts.entries()) {
        if (index > 0) void provider.write(encodeUtf8(part));
        assert.equal(new TextDecoder().decode((await reader?.read())?.value), expected[index]);
      }
      void provider.close();
      assert.equal(new TextDecoder().decode((await reader?.read())?.value), API_KEY.slice(0, 9));
      assert.ok((await reader?.read())?.done);
    });
  });
}
