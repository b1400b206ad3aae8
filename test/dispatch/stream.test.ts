import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { WHOLE_ANSWER_MAX_BYTES } from '../../src/dispatch/forward.ts';
import { type Answer, json, openStream, startEngine, startRawEngine, stopEngines } from './engines.ts';
import {
  endpointOf,
  REQUEST_TIMEOUT_MS,
  responseOf,
  STREAM_IDLE_MS,
  slots,
  type TestSite,
  testSite,
  textReader,
} from './test-site.ts';

afterEach(stopEngines);

/** A site with one agent in the middle of a stream, of which the client has read the first event. */
async function streaming(path = '/v1/chat/completions', headers?: Record<string, string>) {
  const stream = openStream(headers);
  const engine = await startEngine(stream.answer);
  const site = testSite([engine.url]);
  const asking = site.ask({ endpoint: endpointOf(path) });
  const response = await stream.started;
  response.write('data: 1\n\n');
  const outcome = await asking;
  const { read, cancel } = textReader(outcome);
  assert.equal(await read(), 'data: 1\n\n');
  const [seen] = engine.seen;
  if (seen === undefined) throw new Error('The engine was not asked');
  return { site, engine: response, abandoned: seen.abandoned, head: responseOf(outcome), read, cancel };
}

const error = (code: string, message: string) =>
  `data: {"type":"error","error":{"code":"${code}","message":"${message}"}}\n\n`;
const BROKEN = error('backend_error', 'The engine broke off its answer.');
const IDLE = error('request_timeout', 'The engine sent nothing within the idle timeout.');

/** Outcome, status and agent of the only end that was reported, and that all slots are free. */
function endOf(site: TestSite) {
  assert.equal(site.ends.length, 1);
  assert.deepEqual(slots(site), [0]);
  assert.equal(site.timers.pending, 0);
  const [end] = site.ends;
  assert.equal(end?.agent, site.agents[0]);
  return [end?.outcome, end?.status];
}

describe('a stream', () => {
  it('is passed on chunk by chunk, holds its slot until the last byte, and ends as it ended', async () => {
    const { site, engine, head, read } = await streaming();
    assert.equal(head.headers.get('content-type'), 'text/event-stream');
    assert.equal(head.headers.get('cache-control'), 'no-cache, no-store, no-transform');
    assert.equal(head.headers.get('x-accel-buffering'), 'no');
    for (const chunk of ['data: 2\n', '\nda', 'ta: [DONE]\n\n']) {
      assert.deepEqual(slots(site), [1]);
      const reading = read();
      engine.write(chunk);
      assert.equal(await reading, chunk);
    }
    assert.equal(site.ends.length, 0);
    engine.end();
    assert.equal(await read(), undefined);
    assert.deepEqual(endOf(site), ['complete', 200]);
  });

  it('without [DONE] gets none from us', async () => {
    const { site, engine, read } = await streaming();
    engine.end();
    assert.equal(await read(), undefined);
    assert.deepEqual(endOf(site), ['complete', 200]);
  });

  it('tells the time to its first byte', async () => {
    const stream = openStream();
    const engine = await startEngine(stream.answer);
    const site = testSite([engine.url]);
    const asking = site.ask();
    const response = await stream.started;
    const { read } = textReader(await asking);
    site.timers.advance(1500);
    response.write('data: 1\n\n');
    await read();
    site.timers.advance(1500);
    response.end('data: 2\n\n');
    while ((await read()) !== undefined);
    assert.equal(site.ends[0]?.firstByteMs, 1500);
  });

  it('passes 5 MB in one event unchanged', async () => {
    const event = `data: ${'x'.repeat(5_000_000)}\n\n`;
    const engine = await startEngine((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      response.end(event);
    });
    const site = testSite([engine.url]);
    assert.equal(await responseOf(await site.ask()).text(), event);
    assert.deepEqual(endOf(site), ['complete', 200]);
  });

  it('reads no further than the client does', async () => {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          pulls += 1;
          controller.enqueue(Uint8Array.of(pulls));
        },
      },
      { highWaterMark: 0 },
    );
    const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    const reader = responseOf(await testSite(['http://engine'], { fetch }).ask()).body?.getReader();
    await settled();
    assert.equal(pulls, 0);
    await reader?.read();
    await settled();
    assert.equal(pulls, 1);
  });
});

/** Until every promise that can be settled is. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a stream that breaks', () => {
  it('ends with an error event for OpenAI clients, and without [DONE] (E8)', async () => {
    const { site, engine, read } = await streaming();
    engine.destroy();
    assert.equal(await read(), BROKEN);
    assert.equal(await read(), undefined);
    assert.deepEqual(endOf(site), ['broken', 200]);
  });

  it('ends with a named error event for Anthropic clients', async () => {
    const { engine, read } = await streaming('/v1/messages');
    engine.destroy();
    assert.equal(await read(), `event: error\n${BROKEN}`);
    assert.equal(await read(), undefined);
  });

  it('has its open event ended first', async () => {
    const { engine, read } = await streaming();
    engine.write('data: {"half');
    await read();
    engine.destroy();
    assert.equal(await read(), `\n\n${BROKEN}`);
  });

  it('is not tried elsewhere, even before its first event', async () => {
    const broken = await startRawEngine((socket) => {
      const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
      socket.write(head, () => setImmediate(() => socket.destroy()));
    });
    const other = await startEngine(json(200, {}));
    const site = testSite([broken.url, other.url]);
    assert.equal(await textReader(await site.ask()).read(), BROKEN);
    assert.equal(other.seen.length, 0);
    assert.equal(site.ends[0]?.firstByteMs, undefined);
  });

  it('breaks off when it is encoded, since no plain text can follow', async () => {
    const { site, engine, read } = await streaming('/v1/messages', {
      'content-type': 'text/event-stream',
      'content-encoding': 'gzip',
    });
    engine.destroy();
    await assert.rejects(read(), /cut short/);
    assert.deepEqual(endOf(site), ['broken', 200]);
  });

  it('breaks off when it is no event stream', async () => {
    const { site, engine, read } = await streaming('/v1/messages', {
      'content-type': 'application/json',
    });
    engine.destroy();
    await assert.rejects(read(), /cut short/);
    assert.deepEqual(endOf(site), ['broken', 200]);
  });
});

describe('a stream and time (E9)', () => {
  it('outlives the request timeout', async () => {
    const { site, engine, read } = await streaming();
    for (let passed = 0; passed < 2 * REQUEST_TIMEOUT_MS; passed += STREAM_IDLE_MS - 1) {
      const reading = read();
      site.timers.advance(STREAM_IDLE_MS - 1);
      engine.write('data: 2\n\n');
      assert.equal(await reading, 'data: 2\n\n');
    }
    engine.end();
    await read();
    assert.deepEqual(endOf(site), ['complete', 200]);
  });

  it('is ended after the idle timeout of silence, with an error event, and frees the engine', async () => {
    const { site, read, abandoned } = await streaming();
    const reading = read();
    site.timers.advance(STREAM_IDLE_MS - 1);
    assert.equal(site.ends.length, 0);
    site.timers.advance(1);
    assert.equal(await reading, IDLE);
    assert.equal(await read(), undefined);
    await abandoned;
    assert.deepEqual(endOf(site), ['broken', 200]);
  });

  it('is ended as left when the client takes nothing for so long, before it reads again', async () => {
    const { site, abandoned, read } = await streaming();
    site.timers.advance(STREAM_IDLE_MS);
    assert.deepEqual(endOf(site), ['client_gone', 499]);
    await abandoned;
    assert.equal(await read(), error('request_timeout', 'The answer was not read within the idle timeout.'));
  });

  it('gives the engine the whole idle timeout after a client that was slow', async () => {
    const { site, engine, read } = await streaming();
    site.timers.advance(STREAM_IDLE_MS - 1);
    const reading = read();
    site.timers.advance(STREAM_IDLE_MS - 1);
    engine.write('data: 2\n\n');
    assert.equal(await reading, 'data: 2\n\n');
    assert.equal(site.ends.length, 0);
  });

  it('must be complete within the request timeout when it is no event stream', async () => {
    const { site, read, abandoned } = await streaming('/v1/messages', {
      'content-type': 'application/json',
      'content-length': String(WHOLE_ANSWER_MAX_BYTES + 1),
    });
    const reading = read();
    site.timers.advance(REQUEST_TIMEOUT_MS);
    await assert.rejects(reading, /cut short/);
    await abandoned;
    assert.deepEqual(endOf(site), ['broken', 200]);
  });

  it('ends with an error event when the grace of a shutdown is over (E13)', async () => {
    const { site, read, abandoned } = await streaming('/v1/messages');
    const reading = read();
    site.shutdown.abort();
    assert.equal(await reading, `event: error\n${error('backend_unavailable', 'The router is shutting down.')}`);
    assert.equal(await read(), undefined);
    await abandoned;
    assert.deepEqual(endOf(site), ['broken', 200]);
  });
});

describe('a stream whose client leaves (E7)', () => {
  it('frees engine and slot at once when its body is cancelled', async () => {
    const { site, cancel, abandoned } = await streaming();
    await cancel();
    assert.deepEqual(endOf(site), ['client_gone', 499]);
    await abandoned;
    assert.equal(site.agents[0]?.state, 'healthy');
  });

  it('frees engine and slot at once when the connection is aborted, also in the middle of a read', async () => {
    const { site, read, abandoned } = await streaming();
    void read();
    site.client.abort();
    assert.deepEqual(endOf(site), ['client_gone', 499]);
    await abandoned;
    await settled();
    assert.deepEqual(site.errorCodes, [], 'nobody is left to tell');
  });

  it('reports one end when both happen, and after the end nothing', async () => {
    const { site, cancel, engine } = await streaming();
    site.client.abort();
    await cancel();
    site.shutdown.abort();
    engine.destroy();
    site.timers.advance(REQUEST_TIMEOUT_MS);
    await settled();
    assert.deepEqual(endOf(site), ['client_gone', 499]);
  });

  it('that has read everything is complete, whatever happens then', async () => {
    const packed = gzipSync('data: 1\n\n');
    const answer: Answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      response.end(packed);
    };
    const engine = await startEngine(answer);
    const site = testSite([engine.url]);
    const received = Buffer.from(await responseOf(await site.ask()).arrayBuffer());
    site.client.abort();
    assert.deepEqual(received, packed);
    assert.deepEqual(endOf(site), ['complete', 200]);
  });
});
