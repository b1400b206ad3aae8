import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Answer, json, openStream, silent, startEngine, startRawEngine, stopEngines } from './engines.ts';
import { BROKEN, endOf, settled, streaming, streamingDocument } from './streaming.ts';
import { failureOf, REQUEST_TIMEOUT_MS, responseOf, slots, testSite, textReader } from './test-site.ts';

afterEach(stopEngines);

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

  it('is tried elsewhere before its first event, under what is left of the request timeout', async () => {
    const broken = await startRawEngine((socket) => {
      const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
      site.timers.advance(REQUEST_TIMEOUT_MS - 1);
      socket.write(head, () => setImmediate(() => socket.destroy()));
    });
    const other = await startEngine(silent);
    const site = testSite([broken.url, other.url]);
    const asking = site.ask();
    await other.nextRequest();
    assert.match(site.failedTries.join(), /^agent-0: connection failed: /);
    site.timers.advance(1);
    assert.equal((await failureOf(asking))[0], 'request_timeout');
    assert.deepEqual(slots(site), [0, 0]);
  });

  it('is not tried elsewhere after its first event', async () => {
    const stream = openStream();
    const engine = await startEngine(stream.answer);
    const other = await startEngine(json(200, {}));
    const site = testSite([engine.url, other.url]);
    const asking = site.ask();
    const response = await stream.started;
    response.write('data: 1\n\n');
    const { read } = textReader(await asking);
    await read();
    response.destroy();
    assert.equal(await read(), BROKEN);
    assert.equal(other.seen.length, 0);
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

  it('breaks off when it is no event stream and too long to be held back', async () => {
    const { site, engine, read } = await streamingDocument();
    engine.destroy();
    await assert.rejects(read(), /cut short/);
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

  it('frees the slot when it leaves in the very turn in which the answer begins', async () => {
    const fetch = async () => {
      site.client.abort();
      return new Response('data: 1\n\n', { headers: { 'content-type': 'text/event-stream' } });
    };
    const site = testSite(['http://engine'], { fetch });
    await site.ask();
    assert.deepEqual(endOf(site), ['client_gone', 499]);
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
