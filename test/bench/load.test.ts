import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { encodeBody, type Job, rateOf } from '../../src/bench/job.ts';
import { runJob } from '../../src/bench/load.ts';

const BODY = encodeBody(new TextEncoder().encode('{"model":"m"}'));

/** What the server does with the next requests. */
let answer: (request: IncomingMessage, response: ServerResponse, body: string) => void;
let server: Server;
let port = 0;

before(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});

after(() => {
  server.closeAllConnections();
  server.close();
});

function job(change: Partial<Job> = {}): Job {
  const what = { port, path: '/v1/x', body: BODY, headers: ['X-Test: yes'], status: 200 };
  return { ...what, connections: 4, durationMs: 100, ...change };
}

describe('runJob()', () => {
  it('asks with the body and the headers, on as many connections as it is told', async () => {
    const sockets = new Set<unknown>();
    const seen = new Set<string>();
    answer = (request, response, body) => {
      sockets.add(request.socket);
      seen.add(`${request.method} ${request.url} ${request.headers['x-test']} ${body}`);
      response.end('answer');
    };
    const found = await runJob(job(), []);
    assert.deepEqual([...seen], ['POST /v1/x yes {"model":"m"}']);
    assert.equal(sockets.size, 4);
    assert.equal(found.failed, 0);
    assert.ok(found.answered > 4 && rateOf(found) > 0);
    assert.ok(found.latencies.p50Ms > 0 && found.latencies.p50Ms <= found.latencies.maxMs);
  });

  it('reads answers in chunks to their end, wherever they are cut', async () => {
    answer = (_, response) => {
      response.write('data: a\n\n');
      setImmediate(() => {
        response.write('data: b\n\n');
        setImmediate(() => response.end());
      });
    };
    const found = await runJob(job(), []);
    assert.equal(found.failed, 0);
    assert.ok(found.answered > 0);
  });

  it('counts answers of another status and says what the first was', async () => {
    let count = 0;
    answer = (_, response) => {
      count += 1;
      response.writeHead(count % 2 === 0 ? 200 : 503).end('x');
    };
    const found = await runJob(job({ connections: 1 }), []);
    assert.ok(found.failed > 0 && found.answered > 0);
    assert.equal(found.failure, 'status 503');
  });

  it('counts a connection that breaks', async () => {
    answer = (request) => void request.socket.destroy();
    const found = await runJob(job({ connections: 1, durationMs: 20 }), []);
    assert.ok(found.failed > 0 && found.answered === 0);
  });

  it('keeps to a rate, and counts the wait of requests that a stall held up (no coordinated omission)', async () => {
    let isStalled = false;
    answer = (_, response) => {
      if (isStalled) return void response.end('x');
      isStalled = true;
      setTimeout(() => response.end('x'), 100);
    };
    const found = await runJob(job({ connections: 1, durationMs: 200, perSecond: 100 }), []);
    assert.equal(found.answered, 20);
    // Ten were due while the first was not answered, so that the second of them waited for 90 ms.
    assert.ok(found.latencies.p90Ms >= 60, `p90 ${found.latencies.p90Ms} ms`);
  });

  it('keeps the tokens of redirects and uses each of them once', async () => {
    let number = 0;
    answer = (_, response) => {
      number += 1;
      response.writeHead(307, { location: `https://b.example/v1/x?rt=v2.k1.${number}.sig` }).end('{}');
    };
    const tokens: string[] = [];
    const kept = await runJob(job({ status: 307, tokens: 'keep', durationMs: 30 }), tokens);
    assert.equal(tokens.length, kept.answered);
    const used: string[] = [];
    answer = (request, response) => {
      used.push(request.url ?? '');
      response.end('x');
    };
    const found = await runJob(job({ tokens: 'use', durationMs: 10_000 }), tokens);
    assert.equal(found.answered, kept.answered);
    assert.deepEqual([new Set(used).size, found.tokens], [kept.answered, 0]);
    assert.match(used[0] ?? '', /^\/v1\/x\?rt=v2\.k1\.\d+\.sig$/);
  });
});
