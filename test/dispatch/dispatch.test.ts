import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { WHOLE_ANSWER_MAX_BYTES } from '../../src/dispatch/forward.ts';
import { ENDPOINTS } from '../../src/routing/endpoint.ts';
import { bytes, json, silent, startEngine, startRawEngine, stopEngines } from './engines.ts';
import { addAgent, failureOf, responseOf, slots, testSite } from './test-site.ts';

afterEach(stopEngines);

describe('dispatch() to the engine', () => {
  for (const endpoint of ENDPOINTS) {
    it(`sends ${endpoint.path} as POST, byte for byte, without a query (E6)`, async () => {
      const engine = await startEngine(json(200, {}));
      const site = testSite([engine.url], { capability: endpoint.capability });
      // No re-serialisation survives this: spacing, a number beyond 2^53, an escape, a duplicate of another field.
      const body = new TextEncoder().encode(`{ "model" : "m","seed":9007199254740993, "x":"\\u00e9","x":1e400 }\n`);
      responseOf(await site.ask({ endpoint, body }));
      const [seen] = engine.seen;
      assert.deepEqual([seen?.method, seen?.target], ['POST', endpoint.path]);
      assert.deepEqual(new Uint8Array(seen?.body ?? []), body);
    });
  }

  it('appends the path to a base path', async () => {
    const engine = await startEngine(json(200, {}));
    responseOf(await testSite([`${engine.url}/base`]).ask());
    assert.equal(engine.seen[0]?.target, '/base/v1/chat/completions');
  });

  it('sends no credential, but the effective request ID (R-221)', async () => {
    const engine = await startEngine(json(200, {}));
    const headers = new Headers({ authorization: 'Bearer canary', 'x-api-key': 'canary', 'x-request-id': 'client' });
    responseOf(await testSite([engine.url]).ask({ headers, requestId: 'effective' }));
    const seen = engine.seen[0]?.headers;
    assert.doesNotMatch(JSON.stringify(seen), /canary/);
    assert.equal(seen?.['x-request-id'], 'effective');
    assert.equal(seen?.['accept-encoding'], 'identity');
  });
});

describe('dispatch() to an engine with a key', () => {
  it('shows that key, and never the client’s (R-221)', async () => {
    const engine = await startEngine(json(200, {}));
    const headers = new Headers({ authorization: 'Bearer of-the-client', 'x-api-key': 'of-the-client' });
    responseOf(await testSite([engine.url], { apiKey: 'of-the-engine' }).ask({ headers }));
    assert.equal(engine.seen[0]?.headers.authorization, 'Bearer of-the-engine');
    assert.doesNotMatch(JSON.stringify(engine.seen[0]?.headers), /of-the-client/);
  });

  it('shows each engine its own, also after a failed try', async () => {
    const engines = await Promise.all([startEngine(json(500, {})), startEngine(json(200, {}))]);
    const site = testSite([]);
    for (const [index, { url }] of engines.entries()) {
      addAgent(site.registry, { id: `agent-${index}`, backendUrl: url, ...(index === 0 ? { apiKey: 'first' } : {}) });
    }
    responseOf(await site.ask());
    assert.deepEqual(
      engines.map(({ seen }) => seen[0]?.headers.authorization),
      ['Bearer first', undefined],
    );
  });
});

describe('dispatch() of a short answer', () => {
  it('gives it back whole, with its length, and reports its end', async () => {
    const engine = await startEngine(json(200, { id: 'x' }, { 'x-engine': 'kept', 'set-cookie': 'a=b' }));
    const site = testSite([engine.url]);
    const outcome = await site.ask();
    const response = responseOf(outcome);
    assert.equal(response.status, 200);
    assert.deepEqual(Object.fromEntries(response.headers), {
      'content-length': '10',
      'content-type': 'application/json',
      date: response.headers.get('date'),
      'x-engine': 'kept',
    });
    assert.equal(await response.text(), '{"id":"x"}');
    assert.deepEqual(site.ends, [
      {
        status: 200,
        outcome: 'complete',
        cut: undefined,
        firstByteMs: 0,
        reading: { use: undefined, lastWord: 'none', seenTokens: 0 },
      },
    ]);
    assert.deepEqual(slots(site), [0]);
    assert.equal(site.timers.pending, 0);
  });

  it('passes an encoding through that was not asked for', async () => {
    const packed = gzipSync('{"id":"x"}');
    const engine = await startEngine(bytes(200, packed, { 'content-encoding': 'gzip' }));
    const response = responseOf(await testSite([engine.url]).ask());
    assert.equal(response.headers.get('content-encoding'), 'gzip');
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), packed);
  });

  it('keeps the length of 1 MiB and streams a byte more', async () => {
    for (const [size, length] of [
      [WHOLE_ANSWER_MAX_BYTES, String(WHOLE_ANSWER_MAX_BYTES)],
      [WHOLE_ANSWER_MAX_BYTES + 1, null],
    ] as const) {
      const engine = await startEngine(bytes(200, Buffer.alloc(size, 0x20)));
      const site = testSite([engine.url]);
      const response = responseOf(await site.ask());
      assert.equal(response.headers.get('content-length'), length);
      assert.equal(site.ends.length, length === null ? 0 : 1);
      assert.equal((await response.arrayBuffer()).byteLength, size);
      assert.deepEqual([site.ends.length, ...slots(site)], [1, 0]);
    }
  });

  it('believes no length of an answer that is chunked too (RFC 9112 §6.3)', async () => {
    const chunk = `${(WHOLE_ANSWER_MAX_BYTES + 1).toString(16)}\r\n${' '.repeat(WHOLE_ANSWER_MAX_BYTES + 1)}\r\n0\r\n\r\n`;
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n';
    const engine = await startRawEngine((socket) => socket.end(head + chunk));
    const site = testSite([engine.url]);
    const response = responseOf(await site.ask());
    assert.deepEqual([response.headers.get('content-length'), site.ends.length], [null, 0]);
    assert.equal((await response.arrayBuffer()).byteLength, WHOLE_ANSWER_MAX_BYTES + 1);
  });

  it('tries another agent when it breaks off, since the client has seen nothing of it', async () => {
    const broken = await startRawEngine((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"a'));
    const engine = await startEngine(json(200, { id: 'whole' }));
    const site = testSite([broken.url, engine.url]);
    assert.equal(await responseOf(await site.ask()).text(), '{"id":"whole"}');
    assert.deepEqual(slots(site), [0, 0]);
    assert.equal(site.ends.length, 1);
  });
});

describe('dispatch() and capacity', () => {
  it('runs exactly as many requests at a time as there are slots', async () => {
    const engine = await startEngine(silent);
    const site = testSite([engine.url], { capacity: 2 });
    const asking = [site.ask(), site.ask()];
    assert.deepEqual(slots(site), [2]);
    assert.equal((await failureOf(site.ask()))[0], 'no_capacity');
    site.client.abort();
    await Promise.all(asking);
    assert.deepEqual(slots(site), [0]);
  });

  it('prefers the agent with more free slots', async () => {
    const engines = await Promise.all([startEngine(json(200, {})), startEngine(json(200, {}))]);
    const site = testSite(engines.map((engine) => engine.url));
    site.agents[0]?.take();
    await site.ask();
    assert.deepEqual(
      engines.map((engine) => engine.seen.length),
      [0, 1],
    );
  });
});
