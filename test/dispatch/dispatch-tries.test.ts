import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { EngineFetch } from '../../src/agents/engine-fetch.ts';
import { ENGINE_MESSAGE_MAX_BYTES } from '../../src/dispatch/engine-message.ts';
import { bytes, deadUrl, json, startEngine, startRawEngine, stopEngines } from './engines.ts';
import { failureOf, MODEL, responseOf, slots, testSite } from './test-site.ts';

afterEach(stopEngines);

describe('dispatch() over several agents', () => {
  it('ends by the last answer, and names the agent that gave it', async () => {
    for (const [statuses, code] of [
      [[500, 503], 'backend_unavailable'],
      [[503, 500], 'backend_error'],
    ] as const) {
      const engines = await Promise.all(statuses.map((status) => startEngine(bytes(status, `said ${status}`))));
      const site = testSite(engines.map(({ url }) => url));
      const outcome = await site.ask();
      assert.equal(
        outcome.kind === 'failed' ? `${outcome.code}: ${outcome.message}` : '',
        `${code}: said ${statuses[1]}`,
      );
      assert.equal(outcome.by, site.agents[1]);
      assert.deepEqual(site.failedTries, [`agent-0: status ${statuses[0]}`, `agent-1: status ${statuses[1]}`]);
    }
  });
});

describe('dispatch() by the engine’s status (E8)', () => {
  for (const status of [400, 413, 415, 422]) {
    it(`gives a ${status} in JSON back as it is, and asks no other agent`, async () => {
      const text = '{ "error" : {"message":"bad"} }';
      const engine = await startEngine(bytes(status, text, { 'content-type': 'application/json' }));
      const other = await startEngine(json(200, {}));
      const site = testSite([engine.url, other.url]);
      const response = responseOf(await site.ask());
      assert.equal(response.status, status);
      assert.equal(await response.text(), text);
      assert.equal(other.seen.length, 0);
      assert.deepEqual([site.ends[0]?.status, site.ends[0]?.outcome], [status, 'complete']);
    });

    it(`hands a ${status} in any other form over for wrapping`, async () => {
      const engine = await startEngine(bytes(status, '<html>too long</html>'));
      const site = testSite([engine.url]);
      const outcome = await site.ask();
      assert.deepEqual(outcome, {
        kind: 'client_fault',
        status,
        message: '<html>too long</html>',
        by: site.agents[0],
      });
      assert.deepEqual([site.ends.length, ...slots(site), site.timers.pending], [0, 0, 0]);
    });
  }

  for (const status of [204, 307, 401, 403, 404, 408, 409, 425, 429, 500, 502, 503, 504, 599]) {
    it(`tries another agent after ${status}`, async () => {
      const headers: Record<string, string> = status === 307 ? { location: 'http://127.0.0.1:1/' } : {};
      const engine = await startEngine(bytes(status, status === 204 ? '' : 'no', headers));
      const other = await startEngine(json(200, { id: 'other' }));
      const site = testSite([engine.url, other.url]);
      const outcome = await site.ask();
      assert.equal(await responseOf(outcome).text(), '{"id":"other"}');
      assert.equal(outcome.by, site.agents[1]);
      assert.equal(engine.seen.length, 1);
      assert.equal(site.agents[0]?.state, 'healthy');
      assert.deepEqual(slots(site), [0, 0]);
    });

    const code = status === 429 || status === 503 ? 'backend_unavailable' : 'backend_error';
    it(`ends with ${code} when the last try answered ${status}`, async () => {
      const message = status === 204 ? 'The engine answered with status 204.' : 'out of memory';
      const engine = await startEngine(bytes(status, status === 204 ? '' : message));
      const site = testSite([engine.url]);
      assert.deepEqual(await failureOf(site.ask()), [code, message]);
      assert.deepEqual([site.ends.length, ...slots(site), site.timers.pending], [0, 0, 0]);
    });
  }

  it('tries three agents and no fourth, each once', async () => {
    const engines = await Promise.all(Array.from({ length: 4 }, () => startEngine(json(500, { error: 'x' }))));
    const site = testSite(engines.map((engine) => engine.url));
    assert.deepEqual(await failureOf(site.ask()), ['backend_error', 'x']);
    assert.deepEqual(
      engines.map((engine) => engine.seen.length),
      [1, 1, 1, 0],
    );
  });

  it('passes an encoded finding on unread, and quotes no encoded failure', async () => {
    const packed = gzipSync('{"error":"bad"}');
    const finding = await startEngine(bytes(400, packed, { 'content-encoding': 'gzip' }));
    const response = responseOf(await testSite([finding.url]).ask());
    assert.equal(response.headers.get('content-encoding'), 'gzip');
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), packed);
    const failing = await startEngine(bytes(500, packed, { 'content-encoding': 'gzip' }));
    const failure = await failureOf(testSite([failing.url]).ask());
    assert.deepEqual(failure, ['backend_error', 'The engine answered with status 500.']);
  });

  it('passes on how long a busy engine wants to be left alone: whole seconds, from 1 to an hour (E8)', async () => {
    for (const [status, header, seconds] of [
      [503, '7', 7],
      [429, '3600', 3600],
      [503, '3601', undefined],
      [503, '0', undefined],
      [503, '-1', undefined],
      [503, '1.5', undefined],
      [503, 'Tue, 03 Nov 2026 12:00:00 GMT', undefined],
      [500, '7', undefined],
    ] as const) {
      const engine = await startEngine(bytes(status, 'busy', { 'retry-after': header }));
      const outcome = await testSite([engine.url]).ask();
      assert.equal(outcome.kind === 'failed' ? outcome.retryAfterS : 'not failed', seconds, `${status} ${header}`);
    }
  });

  it('tells the last engine’s message, at most 512 bytes of it', async () => {
    const engine = await startEngine(json(500, { error: { message: `x${'é'.repeat(ENGINE_MESSAGE_MAX_BYTES)}` } }));
    const [, message] = await failureOf(testSite([engine.url]).ask());
    assert.equal(message, `x${'é'.repeat(255)}`);
  });

  it('cancels the rest of an abandoned answer', async () => {
    const engine = await startEngine((response) => {
      response.writeHead(500);
      const fill = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', fill);
      fill();
    });
    await failureOf(testSite([engine.url]).ask());
    await engine.seen[0]?.abandoned;
  });
});

describe('dispatch() and connections', () => {
  it('marks an agent that refuses the connection and goes elsewhere for free', async () => {
    const dead = await deadUrl();
    const failing = await Promise.all(Array.from({ length: 2 }, () => startEngine(json(500, {}))));
    const last = await startEngine(json(200, { id: 'last' }));
    const site = testSite([dead, dead, ...failing.map((engine) => engine.url), last.url]);
    assert.equal(await responseOf(await site.ask()).text(), '{"id":"last"}');
    assert.deepEqual(
      site.agents.map((agent) => agent.state),
      ['unhealthy', 'unhealthy', 'healthy', 'healthy', 'healthy'],
    );
    assert.deepEqual(slots(site), [0, 0, 0, 0, 0]);
  });

  it('sends a request again, on a new connection, when the first was reset', async () => {
    const engine = await startRawEngine((socket, index) => {
      if (index === 0) socket.end();
      else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
    });
    const site = testSite([engine.url]);
    assert.equal(await responseOf(await site.ask()).text(), '{}');
    assert.deepEqual(
      [...slots(site), site.agents[0]?.record.failures],
      [0, 0],
      'a kept connection may just have ended',
    );
    assert.deepEqual(site.failedTries, []);
  });

  it('is the engine’s failure when it goes down with the request, though it then refuses the repeat', async () => {
    const codes = ['ECONNRESET', 'ECONNREFUSED'];
    const fetch: EngineFetch = () => Promise.reject(Object.assign(new TypeError('x'), { code: codes.shift() }));
    const site = testSite(['http://engine'], { fetch });
    assert.deepEqual(await failureOf(site.ask()), ['backend_error', 'The connection to the engine failed.']);
    assert.deepEqual(site.failedTries, ['agent-0: connection failed: ECONNRESET']);
    assert.deepEqual([site.agents[0]?.state, site.agents[0]?.record.failures], ['unhealthy', 1]);
    assert.equal((await failureOf(site.ask()))[0], 'no_agents_available', 'now none was tried');
  });

  it('passes an agent over that breaks every connection, though each request succeeds elsewhere', async () => {
    const asked = { bad: 0, good: 0 };
    const fetch: EngineFetch = (url) => {
      const isBad = new URL(url).host === 'bad';
      asked[isBad ? 'bad' : 'good'] += 1;
      return isBad
        ? Promise.reject(Object.assign(new TypeError('reset'), { code: 'ECONNRESET' }))
        : Promise.resolve(Response.json({}));
    };
    const site = testSite(['http://bad', 'http://good'], { fetch });
    for (let count = 0; count < 20; count += 1) responseOf(await site.ask());
    assert.deepEqual(asked, { bad: 3, good: 20 });
    assert.deepEqual(
      site.failedTries,
      Array.from({ length: 3 }, () => 'agent-0: connection failed: ECONNRESET'),
    );
    assert.equal(site.agents[0]?.record.failures, 3);
  });

  it('asks for a connection of its own then, not for another one of the pool', async () => {
    const inits: RequestInit[] = [];
    const fetch: EngineFetch = (_url, init) => {
      inits.push(init);
      return Promise.reject(Object.assign(new TypeError('reset'), { code: 'ECONNRESET' }));
    };
    await failureOf(testSite(['http://engine'], { fetch }).ask());
    assert.deepEqual(
      inits.map((init) => init.keepalive),
      [undefined, false],
    );
  });

  it('goes to another agent for that where one has a slot, once for free, then for a try each (G13)', async () => {
    const urls = Array.from({ length: 6 }, (_, index) => `http://engine-${index}`);
    const asked: string[] = [];
    const kept: (boolean | undefined)[] = [];
    const fetch: EngineFetch = (url, init) => {
      asked.push(new URL(url).host);
      kept.push(init.keepalive);
      return Promise.reject(Object.assign(new TypeError('reset'), { code: 'ECONNRESET' }));
    };
    const site = testSite(urls, { fetch });
    assert.deepEqual(await failureOf(site.ask()), ['backend_error', 'The connection to the engine failed.']);
    assert.deepEqual(asked, ['engine-0', 'engine-1', 'engine-2', 'engine-3']);
    assert.deepEqual(kept, [undefined, false, false, false], 'the other agents’ kept connections may be as old');
    assert.deepEqual(
      site.agents.map(({ record }) => record.failures),
      [1, 1, 1, 1, 0, 0],
      'free for the request, not for the agent',
    );
    assert.deepEqual(slots(site), [0, 0, 0, 0, 0, 0]);
  });

  it('asks no agent again whose connection failed, when there are others', async () => {
    const connections = [0, 0];
    const engines = await Promise.all(
      [0, 1].map((which) =>
        startRawEngine((socket, index) => {
          connections[which] = index + 1;
          socket.end();
        }),
      ),
    );
    await failureOf(testSite(engines.map((engine) => engine.url)).ask());
    assert.deepEqual(connections, [1, 1]);
  });

  it('goes there again on its own slot while the others are full', async () => {
    const engine = await startRawEngine((socket, index) => {
      if (index === 0) socket.end();
      else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
    });
    const site = testSite([engine.url, 'http://b'], { capacity: 1, queueDepth: 1 });
    site.agents[1]?.take();
    assert.equal(await responseOf(await site.ask()).text(), '{}');
    assert.deepEqual(slots(site), [0, 1]);
  });

  it('keeps an agent whose connection broke: only probes may judge that', async () => {
    const engine = await startRawEngine((socket) => socket.end());
    const site = testSite([engine.url]);
    await failureOf(site.ask());
    assert.equal(site.agents[0]?.state, 'healthy');
  });

  it('takes a name that does not resolve for a refusal, and names no address', async () => {
    const site = testSite(['http://engine.invalid:8000']);
    const message = `No agent of the model "${MODEL}" is available.`;
    assert.deepEqual(await failureOf(site.ask()), ['no_agents_available', message]);
    assert.equal(site.agents[0]?.status.reason, 'cannot connect: ENOTFOUND');
  });
});

describe('dispatch() without an agent to try', () => {
  it('is no_capacity when all are full', async () => {
    const site = testSite(['http://a', 'http://b'], { capacity: 1 });
    for (const agent of site.agents) agent.take();
    assert.deepEqual(await failureOf(site.ask()), ['no_capacity', 'All agents of the model "m" are busy.']);
    assert.equal(site.timers.pending, 0);
  });

  it('is no_capacity when one refuses the connection and the others are full', async () => {
    const site = testSite([await deadUrl(), 'http://b'], { capacity: 1 });
    site.agents[1]?.take();
    assert.equal((await failureOf(site.ask()))[0], 'no_capacity');
  });

  it('is no_agents_available when none is healthy, and when all refuse the connection', async () => {
    const dead = await deadUrl();
    const site = testSite([dead, dead]);
    const expected = ['no_agents_available', `No agent of the model "${MODEL}" is available.`];
    assert.deepEqual(await failureOf(site.ask()), expected);
    assert.deepEqual(await failureOf(site.ask()), expected);
  });

  it('is the failure of the tries when one failed and the others are full', async () => {
    const engine = await startEngine(json(500, { error: 'x' }));
    const site = testSite([engine.url, 'http://b'], { capacity: 1 });
    site.agents[1]?.take();
    assert.deepEqual(await failureOf(site.ask()), ['backend_error', 'x']);
  });
});
