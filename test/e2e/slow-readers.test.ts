// Clients that ask for a long listing and read nothing of it, over plain sockets.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { accessLines } from '../support/access-log.ts';
import { BIG_MAP_SITE, bigMapBytes } from '../support/big-map.ts';
import { eventually } from '../support/eventually.ts';
import { ADMIN_KEY, metricOf, type RouterProcess, startRouter } from '../support/router-process.ts';

const CLIENTS = 20;
/** Bun looks after its connections every four seconds. */
const SOON_MS = 15_000;
const AUTHORIZATION = `Bearer ${ADMIN_KEY}`;

let router: RouterProcess;

before(async () => {
  const flags = ['--site-id', BIG_MAP_SITE, '--redirect-allowed-domains', '.example.com'];
  router = await startRouter([...flags, '--stream-idle-timeout', '300ms'], {
    HIVENET_ROUTER_REDIRECT_SECRETS: `k1:${'s'.repeat(32)}`,
  });
  const [body, headers] = [bigMapBytes(1, 'a'), { authorization: AUTHORIZATION }];
  const pushed = await fetch(`${router.url}/admin/sibling-map`, { method: 'POST', headers, body });
  assert.equal(pushed.status, 200);
});

after(() => router.kill());

/** A client that asks and then reads nothing. */
function deafClient(): Socket {
  const socket = connect(Number(new URL(router.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`GET /admin/sibling-map HTTP/1.1\r\nHost: a\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`);
  return socket;
}

/** Everything that still comes, once the router has closed. */
function readToEnd(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let length = 0;
    socket.on('data', (bytes) => {
      length += bytes.length;
    });
    socket.on('close', () => resolve(length));
  });
}

/** What the router has open (Linux). */
function descriptors(): number {
  return readdirSync(`/proc/${router.pid}/fd`).length;
}

describe('Clients that take nothing of a listing', () => {
  it('are cut after --stream-idle-timeout, and their connections closed', { timeout: 30_000 }, async () => {
    const before = descriptors();
    const sockets = Array.from({ length: CLIENTS }, deafClient);
    const cut = () => accessLines(router).filter((line) => line.status_code === 499).length;
    await eventually('the end of all of them', () => (cut() === CLIENTS ? true : undefined));
    await eventually('their sockets', () => (descriptors() < before + CLIENTS / 2 ? true : undefined), SOON_MS);
    assert.equal(await metricOf(router, 'http_server_active_requests'), 0);
    const lengths = await Promise.all(sockets.map(readToEnd));
    assert.ok(
      lengths.every((length) => length < 16_000_000),
      'a whole map was sent',
    );
  });
});
