// Engines that do what real ones do: answer in gzip, and close an idle connection just as the next request leaves.

import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startCustomEngine } from '../support/custom-engine.ts';
import { askAroundClose, startIdleClosingEngine } from '../support/idle-closing-engine.ts';
import { type RouterProcess, startRouter, untilServing } from '../support/router-process.ts';

const MODEL = 'quirky';
const PATH = '/v1/chat/completions';
const LISTING = JSON.stringify({ object: 'list', data: [{ id: MODEL, object: 'model' }] });
const ANSWER = JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'light '.repeat(5000) } }] });
const PACKED = gzipSync(ANSWER);

/** Serves a listing on GET, and gzip on POST, whatever the client accepts. */
function gzipEngine(): Server {
  return createHttpServer((request, response) => {
    if (request.method === 'GET') return response.end(LISTING);
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    return response.end(PACKED);
  });
}

/**
 * Answers the first request of a connection, and destroys the connection when the next one arrives: what a client sees
 * when an engine's keep-alive timeout and its request cross on the wire.
 */
function forgetfulEngine(seen: { answered: number; dropped: number }): Server {
  return createServer((socket: Socket) => {
    let received = '';
    let hasAnswered = false;
    socket.on('error', () => socket.destroy());
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
      if (!isWhole(received)) return;
      const isPost = received.startsWith('POST');
      received = '';
      if (hasAnswered && isPost) {
        seen.dropped += 1;
        socket.resetAndDestroy();
        return;
      }
      hasAnswered = true;
      if (isPost) seen.answered += 1;
      const body = isPost ? ANSWER : LISTING;
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
  });
}

function isWhole(request: string): boolean {
  const end = request.indexOf('\r\n\r\n');
  const length = Number(/^content-length: (\d+)/im.exec(request)?.[1] ?? 0);
  return end !== -1 && request.length >= end + 4 + length;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `custom=http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function routerBefore(engine: Server): Promise<RouterProcess> {
  const router = await startRouter(['--engine', await listen(engine)]);
  await untilServing(router, [MODEL]);
  return router;
}

const ASK = { method: 'POST', body: JSON.stringify({ model: MODEL, messages: [] }) };

describe('An engine that answers in gzip', () => {
  const engine = gzipEngine();
  let router: RouterProcess;

  before(async () => {
    router = await routerBefore(engine);
  });

  after(async () => {
    await router.kill();
    engine.close();
  });

  it('reaches the client byte for byte, with its Content-Encoding (bun.md, fact 8)', async () => {
    const answer = await fetch(router.url + PATH, { ...ASK, decompress: false });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-encoding'), 'gzip');
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), PACKED);
  });

  it('is read by a client that knows gzip', async () => {
    const answer = await fetch(router.url + PATH, ASK);
    assert.equal(await answer.text(), ANSWER);
  });
});

describe('An engine that closes a kept connection as a request arrives', () => {
  const seen = { answered: 0, dropped: 0 };
  const engine = forgetfulEngine(seen);
  let router: RouterProcess;

  before(async () => {
    router = await routerBefore(engine);
  });

  after(async () => {
    await router.kill();
    engine.close();
  });

  it('is asked once more, and no client sees it (bun.md, fact 6)', async () => {
    const count = 40;
    for (let index = 0; index < count; index += 1) {
      const answer = await fetch(router.url + PATH, ASK);
      assert.equal(answer.status, 200, `request ${index}`);
      assert.equal(await answer.text(), ANSWER);
    }
    assert.equal(seen.answered, count);
    assert.ok(seen.dropped > 0, 'the engine never had a connection to close');
  });
});

describe('An engine that closes idle connections, under load', () => {
  const IDLE_MS = 5;

  it('loses no request, however close and request cross', async () => {
    const engine = await startIdleClosingEngine(IDLE_MS);
    const router = await startRouter(['--engine', engine.setting]);
    await untilServing(router, ['idle']);
    const { asked, bad } = await askAroundClose(router.url, { idleMs: IDLE_MS, durationMs: 1000, clients: 8 });
    await router.kill();
    engine.close();
    assert.deepEqual(bad, []);
    assert.ok(asked > 100 && engine.crossings() > 0, `${asked} requests, ${engine.crossings()} crossed a close`);
  });
});

describe('An engine behind the router', () => {
  it('is sent a number beyond 2^53 as the client wrote it (E6)', async () => {
    const bodies: string[] = [];
    const engine = await startCustomEngine('exact', (response, body) => {
      bodies.push(body.toString());
      response.end('{}');
    });
    const router = await startRouter(['--engine', engine.setting]);
    await untilServing(router, ['exact']);
    const body = '{ "model":"exact","messages":[], "seed" : 9007199254740993 }';
    assert.equal((await fetch(router.url + PATH, { method: 'POST', body })).status, 200);
    assert.deepEqual(bodies, [body]);
    await router.kill();
    engine.close();
  });
});
