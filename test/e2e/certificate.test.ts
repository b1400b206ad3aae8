// A certificate that is renewed while clients connect and stream (E11): nobody's connection is lost, and no second
// router gets onto the port that this one shares with itself.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { type Authority, createAuthority } from '../support/authority.ts';
import { BARE_ENV, BINARY, run } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw-connection.ts';
import {
  ADMIN_KEY,
  type EngineProcess,
  engineFlags,
  type RouterProcess,
  startEngine,
  startRouter,
} from '../support/router-process.ts';

const PATIENT = { timeout: 30_000 };
/** Clients that open one connection after another, and how often the certificate changes under them. */
const CLIENTS = 8;
const RENEWALS = 3;
/** Longer than a replaced listener goes on. */
const LEAVING_MS = 1_200;

let folder: string;
let authority: Authority;
let engine: EngineProcess;
let router: RouterProcess;
let files: { readonly cert: string; readonly key: string };

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  authority = await createAuthority();
  await issue('first.localhost');
  engine = await startEngine({ name: 'steady', models: ['chat'], args: ['--tokens-per-second', '50'] });
  router = await startRouter([...engineFlags([engine]), '--tls-cert-file', files.cert, '--tls-key-file', files.key]);
  await eventually(
    'an agent that serves',
    async () => (await post('/v1/chat/completions', 1)).includes('"usage"') || undefined,
  );
});

after(async () => {
  await Promise.all([router.kill(), engine.kill()]);
  rmSync(folder, { recursive: true });
});

async function issue(host: string): Promise<void> {
  const { cert, key } = await authority.issue(host);
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
}

interface Exchange {
  /** Common name of the certificate that was shown. */
  readonly shown: string;
  readonly answer: string;
}

/** One request on a connection of its own; rejects when the connection is refused or reset. */
function exchange(request: string): Promise<Exchange> {
  const { promise, resolve, reject } = Promise.withResolvers<Exchange>();
  let shown = '';
  let answer = '';
  // Whose certificate it is, is what the test asks: no name is expected beforehand.
  const where = { host: '127.0.0.1', port: Number(new URL(router.url).port), ca: authority.cert };
  const socket = connect({ ...where, checkServerIdentity: () => undefined }, () => {
    const { CN } = socket.getPeerCertificate().subject;
    shown = typeof CN === 'string' ? CN : '';
    socket.write(request);
  });
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  socket.on('error', reject).on('close', () => resolve({ shown, answer }));
  return promise;
}

function healthOnce(): Promise<Exchange> {
  return exchange('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
}

async function post(path: string, tokens: number, more: object = {}): Promise<string> {
  const messages = [{ role: 'user', content: 'Hello' }];
  const body = JSON.stringify({ model: 'chat', messages, min_tokens: tokens, max_tokens: tokens, ...more });
  const head = [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', `Content-Length: ${body.length}`];
  return (await exchange(`${head.join('\r\n')}\r\n\r\n${body}`)).answer;
}

/** Sends SIGHUP and resolves with the line that says what came of it. */
async function reload(): Promise<string> {
  const seen = router.stderr.length;
  router.signal('SIGHUP');
  return eventually('a line about the certificate', () =>
    router.stderr.slice(seen).find((line) => line.includes('TLS certificate')),
  );
}

describe('SIGHUP with TLS', () => {
  it('shows the new certificate and loses no connection and no stream under load', PATIENT, async () => {
    const stream = post('/v1/chat/completions', 150, { stream: true });
    let isOver = false;
    const exchanges: Exchange[] = [];
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!isOver) exchanges.push(await healthOnce());
    });
    for (let turn = 1; turn <= RENEWALS; turn += 1) {
      await issue(`turn-${turn}.localhost`);
      assert.match(await reload(), /INFO Reloaded TLS certificate valid_until=/);
      assert.equal((await healthOnce()).shown, `turn-${turn}.localhost`);
    }
    isOver = true;
    await Promise.all(clients);
    for (const { answer } of exchanges) assert.match(answer, /^HTTP\/1\.1 200 /);
    assert.ok(exchanges.length > CLIENTS * RENEWALS, String(exchanges.length));
    assert.match(await stream, /data: \[DONE\]/);
  });

  it('asks a client that keeps its connection to open another', PATIENT, async () => {
    const { shown } = await healthOnce();
    const kept = await RawConnection.open(router.url.replace('127.0.0.1', shown), authority.cert);
    const ask = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';
    kept.send(ask);
    assert.doesNotMatch(await kept.until((text) => text.endsWith('}')), /connection: close/i);
    await issue('kept.localhost');
    router.signal('SIGHUP');
    await eventually('the new certificate', async () => (await healthOnce()).shown === 'kept.localhost' || undefined);
    kept.send(ask);
    assert.match(await kept.closed(), /connection: close/i);
  });

  it('loses no connection that waits to be taken when the old listener closes', PATIENT, async () => {
    await issue('queued.localhost');
    router.signal('SIGHUP');
    await eventually('the new certificate', async () => (await healthOnce()).shown === 'queued.localhost' || undefined);
    // The system goes on to complete connections for a process that stands still. As it wakes, the old listener's time
    // is over, and it closes before it looks at its queue.
    router.signal('SIGSTOP');
    const queued = Array.from({ length: CLIENTS }, healthOnce);
    const stoodMs = performance.now();
    await eventually('the end of the old listener', () => performance.now() - stoodMs > LEAVING_MS || undefined);
    router.signal('SIGCONT');
    for (const { answer } of await Promise.all(queued)) assert.match(answer, /^HTTP\/1\.1 200 /);
  });

  it('keeps the certificate when the new pair does not fit, and says why', PATIENT, async () => {
    const { shown } = await healthOnce();
    writeFileSync(files.key, (await authority.issue('other.localhost')).key);
    const line = await reload();
    assert.match(line, /ERROR Cannot reload TLS certificate, nothing changed reason=/);
    assert.match(line, /--tls-key-file.*not the key of the certificate/);
    assert.equal((await healthOnce()).shown, shown);
  });
});

describe('a port that may be handed over', () => {
  it('is refused to a second router, before and after a renewal (R-223)', PATIENT, async () => {
    await issue('again.localhost');
    const second = ['--http-port', `127.0.0.1:${new URL(router.url).port}`, '--metrics-port', '127.0.0.1:0'];
    const start = () =>
      run([BINARY, 'serve', ...second, '--tls-cert-file', files.cert, '--tls-key-file', files.key], {
        ...BARE_ENV,
        HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY,
      });
    for (const renew of [async () => undefined, reload]) {
      await renew();
      const { code, stderr } = await start();
      assert.equal(code, 1);
      assert.match(stderr.join('\n'), /--http-port.*the port is in use/);
    }
  });

  it('is closed at the end, the moment after a renewal too (E13)', PATIENT, async () => {
    await reload();
    assert.equal(await router.stop(), 0);
    await assert.rejects(healthOnce, { code: 'ECONNREFUSED' });
  });
});
