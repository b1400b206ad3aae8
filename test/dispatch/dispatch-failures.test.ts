// Failed answers that are odd themselves: they stall, break, are too long, or tell what no client may know.

import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { EngineFetch } from '../../src/agents/engine-fetch.ts';
import { FAILURE_BODY_TIMEOUT_MS, HEADERS_MAX, WHOLE_ANSWER_MAX_BYTES } from '../../src/dispatch/forward.ts';
import { type Answer, bytes, json, silent, startEngine, stopEngines } from './engines.ts';
import { settled } from './streaming.ts';
import { failureOf, responseOf, slots, testSite } from './test-site.ts';

afterEach(stopEngines);

const KEY = 'sk-engine-1';
const JSON_TYPE = { 'content-type': 'application/json' };

/** Announces more than it ever sends. */
const stalled =
  (status: number): Answer =>
  (response) => {
    response.writeHead(status, { 'content-length': '100' });
    response.write('abc');
  };

/** Lets the time pass for which the rest of a failed answer is waited for, once that has begun. */
async function pass(site: ReturnType<typeof testSite>, ms = FAILURE_BODY_TIMEOUT_MS): Promise<void> {
  while (site.timers.nextMs !== FAILURE_BODY_TIMEOUT_MS) await settled();
  site.timers.advance(ms);
}

describe('dispatch() by a failed answer whose body stalls', () => {
  it('goes elsewhere after a second, by the status alone', async () => {
    const engine = await startEngine(stalled(500));
    const other = await startEngine(json(200, { id: 'other' }));
    const site = testSite([engine.url, other.url]);
    const asking = site.ask();
    await pass(site, FAILURE_BODY_TIMEOUT_MS - 1);
    await settled();
    assert.equal(other.seen.length, 0);
    site.timers.advance(1);
    assert.equal(await responseOf(await asking).text(), '{"id":"other"}');
    assert.deepEqual(site.failedTries, ['agent-0: status 500']);
    await engine.seen[0]?.abandoned;
    assert.equal(site.timers.pending, 0);
  });

  it('is the client’s fault all the same after a 400, with what has come', async () => {
    const engine = await startEngine(stalled(400));
    const site = testSite([engine.url]);
    const asking = site.ask();
    await pass(site);
    assert.deepEqual(await asking, { kind: 'client_fault', status: 400, message: 'abc', by: site.agents[0] });
  });

  it('goes by the status of one that breaks off, too', async () => {
    const engine = await startEngine((response, request) => {
      stalled(429)(response, request);
      setImmediate(() => response.destroy());
    });
    const site = testSite([engine.url]);
    const expected = ['backend_unavailable', 'The engine answered with status 429.'];
    assert.deepEqual(await failureOf(site.ask()), expected);
    assert.deepEqual([site.failedTries, site.timers.pending], [['agent-0: status 429'], 0]);
  });

  it('ends at once when the client leaves', async () => {
    const site = testSite([(await startEngine(stalled(500))).url]);
    const asking = site.ask();
    await pass(site, 1);
    site.client.abort();
    assert.equal((await failureOf(asking))[0], 'client_gone');
    assert.deepEqual([...slots(site), site.timers.pending, site.agents[0]?.record.failures], [0, 0, 0]);
  });
});

describe('dispatch() by an answer that repeats the engine’s key', () => {
  it('hides it in the message of a failure', async () => {
    const engine = await startEngine(json(500, { error: { message: `bad key Bearer ${KEY}` } }));
    const [, message] = await failureOf(testSite([engine.url], { apiKey: KEY }).ask());
    assert.equal(message, 'bad key Bearer [hidden]');
  });

  for (const status of [400, 413, 415, 422]) {
    it(`wraps a ${status} with it, however it is written`, async () => {
      for (const [body, message] of [
        [`{"error":"bad key ${KEY}"}`, 'bad key [hidden]'],
        [`{"error":"bad key \\u0073k-engine-1"}`, 'bad key [hidden]'],
        [`{"error":"bad", "key":"${KEY}"}`, 'bad'],
        [`bad key ${KEY}`, 'bad key [hidden]'],
      ] as const) {
        const engine = await startEngine(bytes(status, body, JSON_TYPE));
        const site = testSite([engine.url], { apiKey: KEY });
        assert.deepEqual(await site.ask(), { kind: 'client_fault', status, message, by: site.agents[0] });
      }
    });
  }

  it('passes on what does not repeat it, but nothing encoded in which it cannot be looked for', async () => {
    const plain = await startEngine(json(400, { error: 'bad' }, { 'x-seen': KEY, 'x-other': 'y' }));
    const response = responseOf(await testSite([plain.url], { apiKey: KEY }).ask());
    assert.equal(await response.text(), '{"error":"bad"}');
    assert.deepEqual([response.headers.get('x-seen'), response.headers.get('x-other')], [null, 'y']);
    const packed = await startEngine(bytes(400, gzipSync(KEY), { 'content-encoding': 'gzip' }));
    assert.equal((await testSite([packed.url], { apiKey: KEY }).ask()).kind, 'client_fault');
  });
});

describe('dispatch() at its bounds', () => {
  it('passes a finding of 1 MiB on, and wraps the beginning of a longer one', async () => {
    for (const [size, kind] of [
      [WHOLE_ANSWER_MAX_BYTES, 'answered'],
      [WHOLE_ANSWER_MAX_BYTES + 1, 'client_fault'],
    ] as const) {
      const engine = await startEngine(bytes(400, '{"error":"bad"}'.padEnd(size, ' '), JSON_TYPE));
      assert.equal((await testSite([engine.url]).ask()).kind, kind, `${size} bytes`);
    }
  });

  it('holds an answer of 1 MiB back as a whole, with and without its length, and no longer one', async () => {
    for (const [size, isOver] of [
      [WHOLE_ANSWER_MAX_BYTES, true],
      [WHOLE_ANSWER_MAX_BYTES + 1, false],
    ] as const) {
      const body = Buffer.alloc(size, 0x20);
      const chunked: Answer = (response) => response.writeHead(200, JSON_TYPE).end(body);
      for (const answer of [bytes(200, body, JSON_TYPE), chunked]) {
        const site = testSite([(await startEngine(answer)).url]);
        const response = responseOf(await site.ask());
        assert.equal(site.ends.length === 1, isOver, `${size} bytes`);
        await response.arrayBuffer();
      }
    }
  });

  it('cancels an answer with too many headers', async () => {
    let isCancelled = false;
    const cancel = () => {
      isCancelled = true;
    };
    const headers = { 'x-long': 'x'.repeat(HEADERS_MAX) };
    const fetch: EngineFetch = async () => new Response(new ReadableStream({ cancel }), { headers });
    const [, message] = await failureOf(testSite(['http://engine'], { fetch }).ask());
    assert.deepEqual([message, isCancelled], ['The engine sent too many headers.', true]);
  });
});

describe('dispatch() and what it holds', () => {
  it('takes no failure after a head for a refused connection', async () => {
    const refused = Object.assign(new TypeError('x'), { code: 'ECONNREFUSED' });
    const fetch: EngineFetch = async () =>
      new Response(new ReadableStream({ pull: (controller) => controller.error(refused) }));
    const site = testSite(['http://engine'], { fetch });
    assert.equal((await failureOf(site.ask()))[0], 'backend_error');
    assert.equal(site.agents[0]?.state, 'healthy');
  });

  it('gives the slot of a failed try back before the next one is over', async () => {
    const other = await startEngine(silent);
    const site = testSite([(await startEngine(json(500, {}))).url, other.url]);
    const asking = site.ask();
    await other.nextRequest();
    assert.deepEqual(slots(site), [0, 1]);
    site.client.abort();
    await failureOf(asking);
  });
});
