// What a request leaves behind besides its answer: what counts for or against the agent, and what the answer told.

import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { WHOLE_ANSWER_MAX_BYTES } from '../../src/dispatch/forward.ts';
import { bytes, deadUrl, json, openStream, silent, startEngine, stopEngines } from './engines.ts';
import { settled, streaming } from './streaming.ts';
import { failureOf, REQUEST_TIMEOUT_MS, responseOf, STREAM_IDLE_MS, type TestSite, testSite } from './test-site.ts';

afterEach(stopEngines);

const USAGE = { usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } };

/** Successes, failures and tokens of the first agent. */
function recordOf(site: TestSite) {
  const { successes, failures, inputTokens, outputTokens } = site.agents[0]?.record ?? {};
  return { successes, failures, tokens: [inputTokens, outputTokens] };
}

const NOTHING = { successes: 0, failures: 0, tokens: [0, 0] };
const FAILED = { ...NOTHING, failures: 1 };

describe('An agent’s record', () => {
  it('counts a whole answer with its tokens, and how long its head took', async () => {
    const engine = await startEngine((response, request) => {
      site.timers.advance(40);
      json(200, USAGE)(response, request);
    });
    const site = testSite([engine.url]);
    site.timers.advance(1_000);
    responseOf(await site.ask());
    assert.deepEqual(recordOf(site), { successes: 1, failures: 0, tokens: [5, 7] });
    assert.equal(site.agents[0]?.record.srttMs, 40);
  });

  it('counts a stream when it has ended, with its tokens', async () => {
    const { site, engine, read } = await streaming();
    assert.deepEqual(recordOf(site), NOTHING);
    engine.end(`data: ${JSON.stringify(USAGE)}\n\ndata: [DONE]\n\n`);
    while ((await read()) !== undefined);
    assert.deepEqual(recordOf(site), { successes: 1, failures: 0, tokens: [5, 7] });
    assert.equal(site.agents[0]?.record.srttMs, 0);
  });

  it('counts the tokens that an answer has told when it breaks or its client leaves', async () => {
    for (const [end, failures] of [
      [({ engine }: Awaited<ReturnType<typeof streaming>>) => engine.destroy(), 1],
      [({ site }: Awaited<ReturnType<typeof streaming>>) => site.client.abort(), 0],
    ] as const) {
      const stream = await streaming();
      stream.engine.write(`data: ${JSON.stringify(USAGE)}\n\n`);
      await stream.read();
      void stream.read();
      end(stream);
      while (stream.site.ends.length === 0) await settled();
      assert.deepEqual(recordOf(stream.site), { successes: 0, failures, tokens: [5, 7] });
    }
  });

  for (const status of [400, 413, 415, 422]) {
    it(`does not count a ${status}: the client’s mistake, in JSON or not`, async () => {
      for (const answer of [json(status, USAGE), bytes(status, 'no')]) {
        const engine = await startEngine(answer);
        const site = testSite([engine.url]);
        await site.ask();
        assert.deepEqual(recordOf(site), NOTHING);
        assert.equal(site.agents[0]?.record.srttMs, undefined);
      }
    });
  }

  it('counts a failed status, and takes no latency from it', async () => {
    const engine = await startEngine(bytes(503, 'no'));
    const site = testSite([engine.url]);
    await failureOf(site.ask());
    assert.deepEqual(recordOf(site), FAILED);
    assert.equal(site.agents[0]?.record.srttMs, undefined);
  });

  it('counts a refused connection, no answer in time, and silence before the first event', async () => {
    const refused = testSite([await deadUrl()]);
    await failureOf(refused.ask());
    assert.deepEqual(recordOf(refused), FAILED);

    const engine = await startEngine(silent);
    const slow = testSite([engine.url]);
    const asking = slow.ask();
    await engine.nextRequest();
    slow.timers.advance(REQUEST_TIMEOUT_MS);
    await failureOf(asking);
    assert.deepEqual(recordOf(slow), FAILED);

    const stream = openStream();
    const mute = testSite([(await startEngine(stream.answer)).url]);
    const hearing = mute.ask();
    await stream.started;
    while (mute.agents[0]?.record.srttMs === undefined) await settled();
    await settled();
    mute.timers.advance(STREAM_IDLE_MS);
    assert.equal((await failureOf(hearing))[0], 'request_timeout');
    assert.deepEqual(recordOf(mute), FAILED);
  });

  it('counts no answer in time only for an agent that had at least half of that time', async () => {
    for (const [waitedMs, failures] of [
      [REQUEST_TIMEOUT_MS / 2, 1],
      [REQUEST_TIMEOUT_MS / 2 + 1, 0],
    ] as const) {
      const engine = await startEngine(silent);
      const site = testSite([engine.url], { capacity: 1, queueDepth: 1 });
      const free = site.agents[0]?.take();
      const asking = site.ask();
      site.timers.advance(waitedMs);
      free?.();
      await engine.nextRequest();
      site.timers.advance(REQUEST_TIMEOUT_MS - waitedMs);
      assert.equal((await failureOf(asking))[0], 'request_timeout');
      assert.equal(site.agents[0]?.record.failures, failures, `${waitedMs} ms in the queue`);
    }
  });

  it('counts a stream that the engine broke off, and one in which it fell silent', async () => {
    for (const end of [
      ({ engine }: Awaited<ReturnType<typeof streaming>>) => engine.destroy(),
      ({ site }: Awaited<ReturnType<typeof streaming>>) => site.timers.advance(STREAM_IDLE_MS),
    ]) {
      const stream = await streaming();
      const reading = stream.read();
      end(stream);
      await reading;
      assert.deepEqual(recordOf(stream.site), FAILED);
    }
  });

  it('does not count a client that leaves or stops reading, nor a shutdown, in the middle of a stream (E7)', async () => {
    for (const end of [
      ({ client }: TestSite) => client.abort(),
      ({ shutdown }: TestSite) => shutdown.abort(),
      ({ timers }: TestSite) => timers.advance(STREAM_IDLE_MS),
    ]) {
      const { site } = await streaming();
      end(site);
      assert.equal(site.ends.length, 1);
      assert.deepEqual(recordOf(site), NOTHING);
    }
  });

  it('does not count a client that leaves or a shutdown before the head (E7)', async () => {
    for (const what of ['client', 'shutdown'] as const) {
      const engine = await startEngine(silent);
      const site = testSite([engine.url]);
      const asking = site.ask();
      await engine.nextRequest();
      site[what].abort();
      await failureOf(asking);
      assert.deepEqual(recordOf(site), NOTHING);
    }
  });
});

describe('The reading of an answer', () => {
  const readingOf = (site: TestSite) => site.ends[0]?.reading;

  it('is that of the whole answer', async () => {
    const engine = await startEngine(json(200, USAGE));
    const site = testSite([engine.url]);
    await site.ask();
    assert.deepEqual(readingOf(site), { use: { inputTokens: 5, outputTokens: 7 }, lastWord: 'none', seenTokens: 0 });
  });

  it('is that of a document too long to be held back', async () => {
    const engine = await startEngine(json(200, { data: 'x'.repeat(WHOLE_ANSWER_MAX_BYTES), ...USAGE }));
    const site = testSite([engine.url]);
    await responseOf(await site.ask()).arrayBuffer();
    assert.deepEqual(readingOf(site)?.use, { inputTokens: 5, outputTokens: 7 });
  });

  it('is that of a stream up to where it ended, and tells one without its last word', async () => {
    const { site, engine, read } = await streaming();
    engine.end(`data: ${JSON.stringify(USAGE)}\n\n`);
    while ((await read()) !== undefined);
    assert.deepEqual(readingOf(site), { use: { inputTokens: 5, outputTokens: 7 }, lastWord: 'missing', seenTokens: 0 });
    assert.equal(site.ends[0]?.outcome, 'complete');

    const left = await streaming('/v1/messages');
    left.engine.write('data: {"type":"message_start","message":{"usage":{"input_tokens":5,"output_tokens":1}}}\n\n');
    await left.read();
    left.site.client.abort();
    assert.deepEqual(readingOf(left.site), {
      use: { inputTokens: 5, outputTokens: 1 },
      lastWord: 'missing',
      seenTokens: 0,
    });
  });

  it('is that of a whole answer when the client leaves on its last word (E7)', async () => {
    const { site, engine, read } = await streaming();
    engine.write('data: [DONE]\n\n');
    await read();
    site.client.abort();
    assert.deepEqual(
      site.ends.map(({ status, outcome, cut }) => ({ status, outcome, cut })),
      [{ status: 200, outcome: 'complete', cut: undefined }],
    );
  });

  it('is empty for an encoded answer, and calls no stream unfinished that it cannot read', async () => {
    for (const type of ['application/json', 'text/event-stream']) {
      const headers = { 'content-type': type, 'content-encoding': 'gzip' };
      const engine = await startEngine(bytes(200, gzipSync(JSON.stringify(USAGE)), headers));
      const site = testSite([engine.url]);
      await responseOf(await site.ask()).arrayBuffer();
      assert.deepEqual(readingOf(site), { use: undefined, lastWord: 'none', seenTokens: 0 });
    }
  });
});
