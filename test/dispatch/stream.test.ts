import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { openStream, startEngine, stopEngines } from './engines.ts';
import { endOf, error, IDLE, settled, streaming, streamingDocument } from './streaming.ts';
import { failureOf, REQUEST_TIMEOUT_MS, responseOf, STREAM_IDLE_MS, slots, testSite, textReader } from './test-site.ts';

afterEach(stopEngines);

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

  it('is one however its type is written, and kept from proxies whatever the engine tells them', async () => {
    const headers = { 'content-type': 'Text/Event-Stream', 'content-length': '9', 'cache-control': 'max-age=60' };
    const site = testSite(['http://engine'], { fetch: async () => new Response('data: 1\n\n', { headers }) });
    const { headers: sent } = responseOf(await site.ask());
    assert.equal(sent.get('content-length'), null);
    assert.equal(sent.get('cache-control'), 'no-cache, no-store, no-transform');
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
    site.timers.advance(1500);
    response.write('data: 1\n\n');
    const { read } = textReader(await asking);
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

  it('reads its first chunk, and then no further than the client does', async () => {
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
    for (const expected of [1, 1, 2, 3]) {
      await settled();
      assert.equal(pulls, expected);
      await reader?.read();
    }
  });
});

describe('a stream whose source is in hand', () => {
  /** A site whose engine is this stream, which is told of each pull; its first chunk has been read. */
  async function reading(
    pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
    onOutput = (): void => undefined,
  ) {
    const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    const site = testSite(['http://engine'], { fetch });
    const reader = responseOf(await site.ask({ onOutput })).body?.getReader();
    if (reader === undefined) throw new Error('The answer has no body');
    return { site, reader };
  }

  it('is read once at a time, for each of the reads that wait', async () => {
    let pulls = 0;
    let source: ReadableStreamDefaultController<Uint8Array> | undefined;
    const { reader } = await reading((controller) => {
      pulls += 1;
      if (pulls === 1) controller.enqueue(Uint8Array.of(1));
      source = controller;
    });
    await reader.read();
    const parts: ReturnType<typeof reader.read>[] = [];
    for (const _ of [2, 3]) {
      parts.push(reader.read());
      await settled();
    }
    for (const number of [2, 3]) {
      assert.equal(pulls, number);
      source?.enqueue(Uint8Array.of(number));
      await settled();
    }
    assert.equal(pulls, 3);
    assert.deepEqual(
      (await Promise.all(parts)).map(({ value }) => value?.[0]),
      [2, 3],
    );
  });

  it('loses the chunk that comes in the turn in which the client leaves, and nothing else', async () => {
    let source: ReadableStreamDefaultController<Uint8Array> | undefined;
    const { site, reader } = await reading((controller) => {
      if (source === undefined) controller.enqueue(Uint8Array.of(1));
      source = controller;
    });
    await reader.read();
    void reader.read();
    await settled();
    source?.enqueue(Uint8Array.of(2));
    await reader.cancel();
    await settled();
    assert.deepEqual(endOf(site), ['client_gone', 499]);
  });

  it('breaks alone when whoever counts it fails', async () => {
    const failing = (): void => {
      throw new Error('A bug');
    };
    const { reader } = await reading((controller) => controller.enqueue(Uint8Array.of(1)), failing);
    await assert.rejects(reader.read(), /A bug/);
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

  it('is ended at its longest duration, however lively it is, and blames nobody (E9)', async () => {
    const stream = openStream();
    const engine = await startEngine(stream.answer);
    const site = testSite([engine.url], { streamMaxDurationMs: 5_000 });
    const asking = site.ask();
    const response = await stream.started;
    site.timers.advance(STREAM_IDLE_MS - 1);
    response.write('data: 1\n\n');
    const { read } = textReader(await asking);
    await read();
    site.timers.advance(4_999);
    response.write('data: 2\n\n');
    assert.equal(await read(), 'data: 2\n\n');
    const reading = read();
    site.timers.advance(1);
    assert.equal(await reading, error('request_timeout', 'The stream was longer than this router allows.'));
    assert.deepEqual(endOf(site), ['broken', 200]);
    assert.equal(site.agents[0]?.record.failures, 0);
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
    const { site, read } = await streamingDocument();
    const reading = read();
    site.timers.advance(REQUEST_TIMEOUT_MS);
    await assert.rejects(reading, /cut short/);
    assert.deepEqual(endOf(site), ['broken', 200]);
    assert.equal(site.ends[0]?.cut, 'request_timeout');
  });

  it('is not begun when its first event does not come within the idle timeout after the head', async () => {
    const stream = openStream();
    const engine = await startEngine(stream.answer);
    const site = testSite([engine.url]);
    let isHeadThere = false;
    const asking = site.ask();
    void stream.started.then(() => setImmediate(() => (isHeadThere = true)));
    while (!isHeadThere || site.timers.nextMs !== STREAM_IDLE_MS) await settled();
    site.timers.advance(STREAM_IDLE_MS);
    const failure = await failureOf(asking);
    assert.deepEqual(failure, ['request_timeout', 'The engine sent nothing within the idle timeout.']);
    assert.deepEqual(slots(site), [0]);
  });

  it('ends with an error event when the grace of a shutdown is over (E13)', async () => {
    const { site, read, abandoned } = await streaming('/v1/messages');
    const reading = read();
    site.shutdown.abort();
    assert.equal(await reading, `event: error\n${error('shutting_down', 'The router is shutting down.')}`);
    assert.equal(await read(), undefined);
    await abandoned;
    assert.deepEqual(endOf(site), ['broken', 200]);
  });
});
