import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { WHOLE_ANSWER_MAX_BYTES } from '../../../src/dispatch/forward.ts';
import { encodeUtf8 } from '../../../src/lib/utf8.ts';
import { type Answer, bytes, json, openStream, startEngine, stopEngines } from '../engines.ts';
import { settled } from '../streaming.ts';
import { STREAM_IDLE_MS } from '../test-site.ts';
import { eventStream, eventText } from './golden.ts';
import { ask, CONVERTED, EVENTS, failureOf } from './pairs.ts';
import { API_KEY, providerSite } from './provider-site.ts';

afterEach(stopEngines);

/** A sentence that has the provider for its subject already. */
const BROKE = 'broke off its answer:';

for (const pair of CONVERTED) {
  const { from, to, name } = pair;
  describe(`callProvider(), ${from} by conversion`, () => {
    it('asks nobody when the request has no counterpart', async () => {
      const { provider, attempt } = await ask(pair, json(200, {}), { top_k: 1 });
      const message = `The request cannot be converted for ${name}: "top_k" has no counterpart.`;
      assert.deepEqual(attempt, { kind: 'unconvertible', message });
      assert.equal(provider.seen.length, 0);
    });

    it('tells a finding against the request in the router\u2019s own body (E4, E8)', async () => {
      for (const status of [400, 413, 415, 422]) {
        const body = { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long' } };
        const { attempt } = await ask(pair, json(status, body));
        assert.deepEqual(attempt, { kind: 'client_fault', status, message: 'prompt is too long' });
      }
    });

    const hostile: readonly (readonly [name: string, answer: Answer, more: object, why: string])[] = [
      ['garbage', bytes(200, 'no json', { 'content-type': 'application/json' }), {}, 'its answer is not JSON'],
      ['bytes that are no text', bytes(200, Buffer.from([0xff])), {}, 'its answer is not JSON'],
      ['an empty body', bytes(200, ''), {}, 'its answer is not JSON'],
      ['another document', json(200, { hello: 1 }), {}, 'its answer cannot be converted: "id"'],
      ['a page', bytes(200, '<html>', { 'content-type': 'text/html' }), { stream: true }, 'it sent a document instead'],
      ['events nobody asked for', bytes(200, 'data: 1\n\n', EVENTS), {}, 'it sent events instead of a document'],
      [
        'an encoded document',
        bytes(200, gzipSync('{}'), { 'content-encoding': 'gzip' }),
        {},
        'it sent an encoded answer',
      ],
      [
        'encoded events',
        bytes(200, gzipSync('data: 1\n\n'), { ...EVENTS, 'content-encoding': 'gzip' }),
        { stream: true },
        'it sent encoded events',
      ],
      [
        'a document without end',
        (response) => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.write('x'.repeat(WHOLE_ANSWER_MAX_BYTES + 1));
        },
        {},
        `its answer is longer than ${WHOLE_ANSWER_MAX_BYTES} bytes`,
      ],
      ['no events', bytes(200, ': hi\n\n', EVENTS), { stream: true }, 'BROKE it ended too'],
      ['events of garbage', bytes(200, 'data: x\n\n', EVENTS), { stream: true }, 'BROKE an event is not JSON.'],
    ];
    for (const [what, answer, more, why] of hostile) {
      it(`fails when the provider sends ${what}`, async () => {
        const { attempt, provider } = await ask(pair, answer, more);
        if (what === 'a document without end') await provider.seen[0]?.abandoned;
        const [, message] = failureOf(attempt);
        assert.ok(
          String(message).startsWith(`The provider ${name} failed: ${why}`.replace('failed: BROKE', BROKE)),
          JSON.stringify(failureOf(attempt)),
        );
      });
    }

    it('is busy when the provider says so instead of beginning', async () => {
      const event = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
      const { attempt } = await ask(pair, bytes(200, eventText(to, event), EVENTS), { stream: true });
      assert.deepEqual(failureOf(attempt).slice(0, 2), [503, `The provider ${name} failed: Overloaded`]);
    });

    it('ends a stream that breaks with an error event of the client\u2019s dialect, and never a false end', async () => {
      const stream = openStream();
      const provider = await startEngine(stream.answer);
      const site = providerSite({ ...pair, url: provider.url });
      const asking = site.respond({ body: { ...pair.body, stream: true } });
      const response = await stream.started;
      response.write(eventStream(to, pair.events?.slice(0, 4) ?? []));
      const reader = (await asking).body?.getReader();
      let text = new TextDecoder().decode((await reader?.read())?.value);
      response.destroy();
      for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
        text += new TextDecoder().decode(part.value);
      }
      const message = 'The provider broke off its answer: it ended too early.';
      const body = JSON.stringify({ type: 'error', error: { code: 'backend_error', message } });
      assert.ok(text.endsWith(`${from === 'anthropic' ? 'event: error\n' : ''}data: ${body}\n\n`), text);
      assert.ok(!text.includes('[DONE]') && !text.includes('message_stop'));
      assert.deepEqual(
        site.ends.map(({ outcome }) => outcome),
        ['broken'],
      );
    });

    it('ends with the provider\u2019s own words when it reports an error, but never with the key', async () => {
      const event = { type: 'error', error: { type: 'server_error', message: `It broke for ${API_KEY}` } };
      const stream = eventStream(to, [...(pair.events?.slice(0, 4) ?? []), event]);
      const provider = await startEngine(bytes(200, stream, EVENTS));
      const site = providerSite({ ...pair, url: provider.url });
      const response = await site.respond({ body: { ...pair.body, stream: true } });
      assert.equal(response.headers.get('content-type'), 'text/event-stream');
      const text = await response.text();
      assert.ok(text.endsWith('"message":"It broke for [hidden]"}}\n\n'), text);
    });

    it('holds a stream back that never begins no longer than the idle timeout', async () => {
      const { promise: isWaiting, resolve } = Promise.withResolvers<void>();
      const site = providerSite({
        ...pair,
        url: 'http://provider.test',
        fetch: async (_url, { signal }) => {
          const body = new ReadableStream<Uint8Array>({
            start: (controller) => signal?.addEventListener('abort', () => controller.error(new Error('aborted'))),
            pull: (controller) => {
              if (pulls === 2) return resolve();
              pulls += 1;
              controller.enqueue(encodeUtf8(': at work\n\n'));
            },
          });
          return new Response(body, { headers: EVENTS });
        },
      });
      let pulls = 0;
      const calling = site.call({ body: { ...pair.body, stream: true } });
      await isWaiting;
      await settled();
      assert.equal(pulls, 2);
      site.timers.advance(STREAM_IDLE_MS);
      assert.deepEqual(await calling, { kind: 'cut', cut: 'stream_idle', afterMs: 0 });
    });

    it('takes whatever comes before the first event for life (E9)', async () => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const fetch = async () => new Response(readable, { headers: EVENTS });
      const site = providerSite({ ...pair, url: 'http://provider.test', fetch });
      const asking = site.respond({ body: { ...pair.body, stream: true } });
      const provider = writable.getWriter();
      for (const work of [': at work\n\n', 'data: {"type":"ping",', '"id":"c","model":"g","choices":[]}']) {
        void provider.write(encodeUtf8(work));
        await settled();
        site.timers.advance(STREAM_IDLE_MS - 1);
      }
      void provider.write(encodeUtf8(`\n\n${eventStream(to, pair.events ?? [])}`));
      void provider.close();
      const text = await (await asking).text();
      assert.ok(text.includes('Hel') && !text.includes('error'), text);
    });

    it('counts the tokens of an answer and of a stream', async () => {
      const { attempt } = await ask(pair, bytes(200, eventStream(to, pair.events ?? []), EVENTS), { stream: true });
      assert.ok(attempt.kind === 'stream');
      while (!(await attempt.body.rest?.read())?.done);
      assert.deepEqual(attempt.use?.(), { inputTokens: 33, outputTokens: 7 });
    });
  });
}
