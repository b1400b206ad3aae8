import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, it } from 'node:test';
import { HEADERS_MAX } from '../../src/dispatch/forward.ts';
import { json, silent, startEngine, stopEngines } from './engines.ts';
import { failureOf, REQUEST_TIMEOUT_MS, responseOf, slots, testSite } from './test-site.ts';

afterEach(stopEngines);

describe('dispatch() and the request timeout (E9)', () => {
  it('ends an engine without a response head, and asks no other', async () => {
    const engine = await startEngine(silent);
    const other = await startEngine(json(200, {}));
    const site = testSite([engine.url, other.url]);
    const asking = site.ask();
    const seen = await engine.nextRequest();
    site.timers.advance(REQUEST_TIMEOUT_MS - 1);
    assert.deepEqual(slots(site), [1, 0]);
    site.timers.advance(1);
    assert.deepEqual(await failureOf(asking), ['request_timeout', 'No complete answer within the request timeout.']);
    await seen.abandoned;
    assert.equal(other.seen.length, 0);
    assert.deepEqual(slots(site), [0, 0]);
  });

  it('runs over all tries together', async () => {
    const second = await startEngine(silent);
    const first = await startEngine((response, request) => {
      site.timers.advance(REQUEST_TIMEOUT_MS - 1);
      json(500, {})(response, request);
    });
    const site = testSite([first.url, second.url]);
    const asking = site.ask();
    await second.nextRequest();
    site.timers.advance(1);
    assert.equal((await failureOf(asking))[0], 'request_timeout');
  });

  it('ends a short answer whose end does not come', async () => {
    const engine = await startEngine((response) => {
      response.writeHead(200, { 'content-length': '99' });
      response.write('{"');
    });
    const site = testSite([engine.url]);
    const asking = site.ask();
    const seen = await engine.nextRequest();
    site.timers.advance(REQUEST_TIMEOUT_MS);
    assert.equal((await failureOf(asking))[0], 'request_timeout');
    await seen.abandoned;
    assert.deepEqual([site.ends.length, ...slots(site)], [0, 0]);
  });
});

describe('dispatch() of an answer of unknown length', () => {
  const chunked = (broken: boolean) => (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"id":', () => broken && setImmediate(() => response.destroy()));
  };

  it('is whole when it ends within 1 MiB', async () => {
    const engine = await startEngine((response) => {
      chunked(false)(response);
      response.end('"x"}');
    });
    const response = responseOf(await testSite([engine.url]).ask());
    assert.equal(response.headers.get('content-length'), '10');
    assert.equal(await response.text(), '{"id":"x"}');
  });

  it('is tried elsewhere when it breaks before that, and fails clearly when nobody is left (E8)', async () => {
    const engine = await startEngine(chunked(true));
    const other = await startEngine(json(200, { id: 'other' }));
    const answered = responseOf(await testSite([engine.url, other.url]).ask());
    assert.equal(await answered.text(), '{"id":"other"}');
    const failure = await failureOf(testSite([engine.url]).ask());
    assert.deepEqual(failure, ['backend_error', 'The connection to the engine failed.']);
    // Once each: an answer had begun, so that the connection was no old one.
    assert.equal(engine.seen.length, 2);
  });

  it('fails clearly when its end does not come within the request timeout (E9)', async () => {
    const engine = await startEngine(chunked(false));
    const site = testSite([engine.url]);
    const asking = site.ask();
    const seen = await engine.nextRequest();
    site.timers.advance(REQUEST_TIMEOUT_MS);
    assert.equal((await failureOf(asking))[0], 'request_timeout');
    await seen.abandoned;
    assert.deepEqual([site.ends.length, ...slots(site)], [0, 0]);
  });
});

describe('dispatch() and the headers of an answer', () => {
  it('takes 16,384 characters of them, and none more', async () => {
    for (const [size, isTaken] of [
      [HEADERS_MAX, true],
      [HEADERS_MAX + 1, false],
    ] as const) {
      const others = { 'content-length': '2', date: '', connection: 'close' };
      const known = Object.entries(others).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
      const fetch = async () => new Response('{}', { headers: { ...others, 'x-long': 'x'.repeat(size - known - 6) } });
      const outcome = await testSite(['http://engine'], { fetch }).ask();
      assert.equal(outcome.kind, isTaken ? 'answered' : 'failed', `${size}`);
    }
  });
});

describe('dispatch() and a client that leaves', () => {
  it('ends the engine’s work before the head, blames nobody and asks no other (E7)', async () => {
    const engine = await startEngine(silent);
    const other = await startEngine(json(200, {}));
    const site = testSite([engine.url, other.url]);
    const asking = site.ask();
    const seen = await engine.nextRequest();
    site.client.abort();
    assert.equal((await failureOf(asking))[0], 'client_gone');
    await seen.abandoned;
    assert.deepEqual([site.agents[0]?.state, other.seen.length, site.ends.length], ['healthy', 0, 0]);
    assert.deepEqual([...slots(site), site.timers.pending], [0, 0, 0]);
  });

  it('is the cause that counts, whatever follows before the engine’s connection is closed', async () => {
    const engine = await startEngine(silent);
    const site = testSite([engine.url]);
    const asking = site.ask();
    await engine.nextRequest();
    site.client.abort();
    site.timers.advance(REQUEST_TIMEOUT_MS);
    site.shutdown.abort();
    assert.equal((await failureOf(asking))[0], 'client_gone');
  });

  it('sends nothing for one that has left already', async () => {
    const engine = await startEngine(json(200, {}));
    const site = testSite([engine.url]);
    site.client.abort();
    assert.equal((await failureOf(site.ask()))[0], 'client_gone');
    assert.deepEqual([engine.seen.length, ...slots(site), site.timers.pending], [0, 0, 0]);
  });
});

describe('dispatch() at the end of a shutdown (E13)', () => {
  it('ends a request that has no answer yet', async () => {
    const engine = await startEngine(silent);
    const site = testSite([engine.url]);
    const asking = site.ask();
    const seen = await engine.nextRequest();
    site.shutdown.abort();
    assert.deepEqual(await failureOf(asking), ['shutting_down', 'The router is shutting down.']);
    await seen.abandoned;
    assert.deepEqual(slots(site), [0]);
  });

  it('ends at once a request that comes after it', async () => {
    const engine = await startEngine(json(200, {}));
    const site = testSite([engine.url]);
    site.shutdown.abort();
    assert.equal((await failureOf(site.ask()))[0], 'shutting_down');
    assert.equal(engine.seen.length, 0);
  });

  it('keeps nothing of an ended request, however it ended', async () => {
    const engine = await startEngine(json(200, {}));
    const site = testSite([engine.url]);
    await site.ask();
    assert.equal(site.ports.lives.count, 0);
    site.client.abort();
    await site.ask();
    assert.equal(site.ports.lives.count, 0);
    assert.equal(getEventListeners(site.shutdown.signal, 'abort').length, 1);
  });
});
