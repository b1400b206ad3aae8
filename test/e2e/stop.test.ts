// How the router ends (E13): what runs comes to its end, what takes too long is told so, and a second signal waits for
// nobody.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { createAuthority } from '../support/authority.ts';
import { eventually } from '../support/eventually.ts';
import { postText, RawConnection } from '../support/raw-connection.ts';
import {
  ADMIN_KEY,
  type EngineProcess,
  engineFlags,
  manyAgents,
  metricOf,
  type RouterProcess,
  startEngine,
  startRouter,
  untilHealthy,
  untilServing,
} from '../support/router-process.ts';

/** 60 tokens at 100 a second: long enough to be stopped in between. */
const SHORT = 60;
/** Longer than any test. */
const ENDLESS = 5000;
/** Of tests whose waits add up on a busy machine. */
const PATIENT = { timeout: 20_000 };
const PATHS = ['/v1/chat/completions', '/v1/messages'] as const;

let engine: EngineProcess;
let router: RouterProcess;

before(async () => {
  engine = await startEngine({ name: 'steady', models: ['chat'], args: ['--tokens-per-second', '100'] });
});

afterEach(() => router.kill());

after(() => engine.kill());

async function startWith(...flags: readonly string[]): Promise<void> {
  router = await startRouter([...flags, ...engineFlags([engine])]);
  await untilServing(router, ['chat']);
}

interface OpenStream {
  readonly path: string;
  /** Everything up to the end. */
  readonly text: Promise<string>;
}

/** A stream of each dialect, both past their first chunk. */
function openStreams(tokens: number): Promise<readonly OpenStream[]> {
  return Promise.all(
    PATHS.map(async (path) => {
      const messages = [{ role: 'user', content: 'Hello' }];
      const length = { min_tokens: tokens, max_tokens: tokens };
      const body = JSON.stringify({ model: 'chat', messages, stream: true, ...length });
      const answer = await fetch(router.url + path, { method: 'POST', body });
      assert.equal(answer.status, 200);
      return { path, text: answer.text() };
    }),
  );
}

/** Sends the signal and waits until the router says that it got it. */
async function signal(name: NodeJS.Signals): Promise<void> {
  router.signal(name);
  await router.line((line) => line.includes(`Stopping signal="${name}"`), 'stderr');
}

/** The exit code, or `undefined` while it runs on after `withinMs`. */
function codeWithin(withinMs: number): Promise<number | null | undefined> {
  return Promise.race([router.ended, new Promise<undefined>((resolve) => setTimeout(resolve, withinMs, undefined))]);
}

describe('SIGTERM and SIGINT', () => {
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    it(`${name} ends an idle router at once with exit code 0, also with a kept connection`, async () => {
      await startWith();
      await signal(name);
      assert.equal(await codeWithin(2000), 0);
    });
  }

  it('let running streams come to their own end, and then exit code is 0', async () => {
    await startWith();
    const streams = await openStreams(SHORT);
    await signal('SIGTERM');
    for (const { path, text } of streams) {
      const whole = await text;
      assert.ok(
        whole.trimEnd().endsWith(path === PATHS[0] ? 'data: [DONE]' : '"type":"message_stop"}'),
        whole.slice(-200),
      );
      assert.doesNotMatch(whole, /error/);
      assert.equal(whole.match(/"content":" |"text":" /g)?.length, SHORT - 1);
    }
    assert.equal(await codeWithin(1000), 0);
  });

  it('let two hundred running streams come to their own end', PATIENT, async () => {
    const count = 200;
    const agents = manyAgents(engine, count / 10);
    router = await startRouter(engineFlags(agents));
    await untilHealthy(router, 'chat', agents.length);
    const connections = await Promise.all(Array.from({ length: count }, () => RawConnection.open(router.url)));
    const messages = [{ role: 'user', content: 'Hello' }];
    const body = { model: 'chat', messages, stream: true, min_tokens: 2 * SHORT, max_tokens: 2 * SHORT };
    for (const connection of connections) connection.send(postText(router.url, PATHS[0], body));
    await Promise.all(connections.map((connection) => connection.until((text) => text.includes('data: '))));
    await signal('SIGTERM');
    const texts = await Promise.all(connections.map((connection) => connection.closed()));
    const isWhole = (text: string) =>
      text.split('"content":" ').length === 2 * SHORT && text.includes('data: [DONE]') && !text.includes('"error"');
    assert.equal(texts.filter(isWhole).length, count);
    assert.equal(await codeWithin(2000), 0);
  });

  it('take no new connection while what runs comes to its end', async () => {
    await startWith();
    const streams = await openStreams(SHORT);
    await signal('SIGTERM');
    await eventually(
      'the port is closed',
      async () => {
        const answer = await fetch(`${router.url}/health`, { keepalive: false }).catch(() => undefined);
        return answer === undefined || undefined;
      },
      300,
    );
    const texts = await Promise.all(streams.map(({ text }) => text));
    assert.equal(texts.length, PATHS.length);
  });
});

describe('--shutdown-delay', () => {
  it('reports not ready and says "Connection: close", while requests are still served', async () => {
    await startWith('--shutdown-delay', '600ms', '--shutdown-grace', '1s');
    assert.equal((await fetch(`${router.url}/health/ready`)).status, 200);
    await signal('SIGTERM');
    const ready = await fetch(`${router.url}/health/ready`);
    assert.equal(ready.status, 503);
    assert.equal(ready.headers.get('connection'), 'close');
    assert.equal((await fetch(`${router.url}/health`)).status, 200);
    const body = JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 3 });
    const chat = await fetch(router.url + PATHS[0], { method: 'POST', body });
    assert.equal(chat.status, 200);
    assert.equal(chat.headers.get('connection'), 'close');
    assert.equal(await codeWithin(3000), 0);
  });
});

describe('--shutdown-grace', () => {
  it('ends what takes longer with the error event of its dialect, and exit code is 0', async () => {
    await startWith('--shutdown-grace', '200ms');
    const streams = await openStreams(ENDLESS);
    await signal('SIGTERM');
    for (const { path, text } of streams) {
      const whole = await text;
      const last = whole.trimEnd().split('\n\n').at(-1) ?? '';
      const error = 'data: {"type":"error","error":{"type":"overloaded_error","message":"The router is shutting down."';
      assert.ok(last.startsWith(path === PATHS[0] ? error : `event: error\n${error}`), last);
      assert.doesNotMatch(whole, /\[DONE\]|message_stop/);
    }
    assert.equal(await codeWithin(2000), 0);
  });
});

describe('A second signal', () => {
  it('ends at once, whatever runs', async () => {
    await startWith();
    const streams = await openStreams(ENDLESS);
    const ends = Promise.allSettled(streams.map(({ text }) => text));
    await signal('SIGTERM');
    router.signal('SIGTERM');
    assert.notEqual(await codeWithin(1000), undefined);
    await ends;
  });

  it('ends a --shutdown-delay, too', async () => {
    await startWith('--shutdown-delay', '1h');
    await signal('SIGTERM');
    router.signal('SIGINT');
    assert.notEqual(await codeWithin(1000), undefined);
  });
});

describe('A stop', () => {
  it('does not wait for connections that are kept without a request, over TLS either', PATIENT, async () => {
    const authority = await createAuthority();
    const identity = await authority.issue('localhost');
    const folder = mkdtempSync(join(tmpdir(), 'hivenet-router-stop-'));
    const [certFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
    writeFileSync(certFile, identity.cert);
    writeFileSync(keyFile, identity.key, { mode: 0o600 });
    router = await startRouter(['--tls-cert-file', certFile, '--tls-key-file', keyFile]);
    const url = router.url.replace('127.0.0.1', 'localhost');
    const kept = await RawConnection.open(url, authority.cert);
    kept.send('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await kept.until((text) => text.includes('"ok"'));
    const half = await RawConnection.open(url, authority.cert);
    half.send('GET /health HTTP/1.1\r\nHo');
    await signal('SIGTERM');
    assert.equal(await codeWithin(4000), 0);
    rmSync(folder, { recursive: true });
  });

  it('lets a client that reads slowly have its whole answer', PATIENT, async () => {
    router = await startRouter(['--auth-mode', 'dynamic']);
    const authorization = `Bearer ${ADMIN_KEY}`;
    const key = (id: number) => ({
      id: `key-${id}`,
      key_hash: id.toString(16).padStart(64, '0'),
      owner: 'o'.repeat(250),
      name: 'n'.repeat(250),
      enabled: true,
    });
    // More than the buffers of a loopback connection hold.
    const body = JSON.stringify({ version: '1', keys: Array.from({ length: 24_000 }, (_, id) => key(id)) });
    const target = `${router.url}/admin/api-keys/replace`;
    assert.equal((await fetch(target, { method: 'POST', headers: { authorization }, body })).status, 200);
    const socket = connect(Number(new URL(router.url).port), '127.0.0.1');
    socket.pause();
    socket.write(`GET /admin/api-keys HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`);
    await eventually('the answer under way', async () =>
      (await metricOf(router, 'http_server_active_requests')) === 1 ? true : undefined,
    );
    await signal('SIGTERM');
    assert.equal(await codeWithin(1500), undefined, 'the answer is still on its way');
    const received: Buffer[] = [];
    for await (const chunk of socket) received.push(chunk as Buffer);
    assert.match(Buffer.concat(received).subarray(-30).toString(), /"count":24000\}\r\n0\r\n\r\n$/);
    assert.equal(await codeWithin(2000), 0);
  });

  for (const [what, disturb] of [
    ['a reader of its log that has stopped reading', () => router.stopReading()],
    ['a reader of its log that has gone', () => router.hangUp()],
  ] as const) {
    it(`is clean with ${what}, and requests never noticed`, PATIENT, async () => {
      await startWith();
      disturb();
      const target = `${router.url}/health?${'x'.repeat(8000)}`;
      for (let sent = 0; sent < 300; sent += 1) assert.equal((await fetch(target)).status, 200);
      await signal('SIGTERM');
      assert.equal(await codeWithin(4000), 0);
      assert.doesNotMatch(router.stderr.join('\n'), / at |EPIPE/);
    });
  }
});

describe('SIGHUP', () => {
  it('ends nothing', async () => {
    await startWith();
    const streams = await openStreams(SHORT);
    router.signal('SIGHUP');
    for (const { text } of streams) assert.doesNotMatch(await text, /error/);
    assert.equal((await fetch(`${router.url}/health`)).status, 200);
  });
});
