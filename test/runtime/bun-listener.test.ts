// A listener whose certificate is renewed: what becomes of the server before, in every moment in which something else
// happens to it. That no client notices is shown with the binary, in e2e/certificate.test.ts.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { BunListener } from '../../src/runtime/bun-listener.ts';
import { LINUX_HANDOVER, type PortHandover } from '../../src/runtime/port-handover.ts';
import type { Connection, TlsIdentity } from '../../src/runtime/runtime.ts';
import { createAuthority } from '../support/authority.ts';

/** So many connections in a row do not meet the right one of two servers by chance. */
const CONNECTIONS = 20;
/** Far longer than a listener without a running request takes to stop. */
const STOP_MS = 200;

let first: TlsIdentity;
let second: TlsIdentity;

before(async () => {
  const authority = await createAuthority();
  first = await authority.issue('first.localhost');
  second = await authority.issue('second.localhost');
});

/** A listener that answers `/slow` when the test says so, and all else at once. */
function open(handover: Partial<PortHandover> = {}) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: slowArrived, resolve: arrived } = Promise.withResolvers<void>();
  const fetch = async (request: Request): Promise<Response> => {
    if (!request.url.endsWith('/slow')) return new Response('quick');
    arrived();
    await released;
    return new Response('slow');
  };
  const settings = { address: '127.0.0.1:0', tls: first, fetch };
  return { listener: new BunListener(settings, { ...LINUX_HANDOVER, ...handover }), release, slowArrived };
}

function get(listener: BunListener, path: string): Promise<string> {
  const url = `https://127.0.0.1:${listener.port}${path}`;
  return fetch(url, { tls: { rejectUnauthorized: false } }).then((response) => response.text());
}

/** Common name of the certificate that a new connection is shown. */
function shown(listener: BunListener): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: listener.port, rejectUnauthorized: false }, () => {
      const { CN } = socket.getPeerCertificate().subject;
      socket.destroy();
      resolve(String(CN));
    });
    socket.on('error', reject);
  });
}

async function shownTo(count: number, listener: BunListener): Promise<ReadonlySet<string>> {
  return new Set(await Promise.all(Array.from({ length: count }, () => shown(listener))));
}

/** Whether it is settled within `ms`. */
function isSettled(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<boolean>((resolve) => setTimeout(() => resolve(false), ms))]);
}

describe('BunListener.renew()', () => {
  it('leads every new connection to the new server from then on, while the one before is still there (E11)', async () => {
    const { listener } = open();
    assert.deepEqual(await shownTo(CONNECTIONS, listener), new Set(['first.localhost']));
    const renewed = listener.renew(second);
    assert.deepEqual(await shownTo(CONNECTIONS, listener), new Set(['second.localhost']));
    listener.abort();
    await renewed;
  });

  it('steers to the socket of the new server, and to no other', async () => {
    const steered: string[] = [];
    const { listener } = open({
      steerToLast: (socket) => {
        steered.push(socket.inode);
        LINUX_HANDOVER.steerToLast(socket);
      },
    });
    const old = LINUX_HANDOVER.listeningSockets(listener.port).map(({ inode }) => inode);
    const renewed = listener.renew(second);
    const fresh = LINUX_HANDOVER.listeningSockets(listener.port).filter(({ inode }) => !old.includes(inode));
    assert.deepEqual(
      steered,
      fresh.map(({ inode }) => inode),
    );
    assert.equal(fresh.length, 1);
    listener.abort();
    await renewed;
  });

  it('leaves nothing behind when it fails: one socket, and the certificate before', async () => {
    const failing = (): never => {
      throw new Error('no steering today');
    };
    const { listener } = open({ steerToLast: failing });
    await assert.rejects(listener.renew(second), /no steering today/);
    assert.equal(LINUX_HANDOVER.listeningSockets(listener.port).length, 1);
    assert.deepEqual(await shownTo(CONNECTIONS, listener), new Set(['first.localhost']));
    await listener.stop();
  });

  it('is refused where the system does not tell its sockets, and the listener serves on', async () => {
    const { listener } = open({ listeningSockets: () => [] });
    await assert.rejects(listener.renew(second), /cannot hand a port over/);
    assert.equal(await get(listener, '/'), 'quick');
    await listener.stop();
  });

  it('forgets the server before once it is out of use', async () => {
    const { serve } = Bun;
    const stops: number[] = [];
    // What no answer shows: how often each server is told to stop.
    Bun.serve = ((options: Parameters<typeof serve>[0]) => {
      const server = serve(options);
      const [index, stop] = [stops.push(0) - 1, server.stop.bind(server)];
      server.stop = (isNow) => {
        stops[index] = (stops[index] ?? 0) + 1;
        return stop(isNow);
      };
      return server;
    }) as typeof serve;
    try {
      const { listener } = open();
      await listener.renew(second);
      await listener.renew(first);
      await new Promise((resolve) => setImmediate(resolve));
      const before = [...stops];
      listener.abort();
      assert.deepEqual(
        stops.map((count, index) => count - (before[index] ?? 0)),
        [...before.slice(1).map(() => 0), 1],
      );
    } finally {
      Bun.serve = serve;
    }
  });
});

describe('BunListener, the moment after a renewal', () => {
  it('stops when the last answer of the server before has been sent as well (E13)', async () => {
    const { listener, release, slowArrived } = open();
    const answer = get(listener, '/slow');
    await slowArrived;
    const renewed = listener.renew(second);
    const stopped = listener.stop();
    assert.equal(await isSettled(stopped, STOP_MS), false, 'an answer was still under way');
    release();
    assert.equal(await answer, 'slow');
    await stopped;
    await renewed;
  });

  it('aborts the answers of the server before as well', async () => {
    const { listener, release, slowArrived } = open();
    const answer = get(listener, '/slow');
    await slowArrived;
    const renewed = listener.renew(second);
    listener.abort();
    await assert.rejects(answer);
    release();
    await renewed;
  });
});

describe('BunListener, beside another process', () => {
  it('refuses a port that somebody else shares by the time it can be shared, and leaves it (R-223)', async () => {
    const twice = (port: number) => {
      const own = LINUX_HANDOVER.listeningSockets(port);
      return [...own, ...own];
    };
    let port = 0;
    const listeningSockets = (asked: number) => {
      port = asked;
      return twice(asked);
    };
    assert.throws(() => open({ listeningSockets }), { code: 'EADDRINUSE' });
    assert.deepEqual(LINUX_HANDOVER.listeningSockets(port), []);
  });

  it('opens a port that others use at another address', async () => {
    const elsewhere = { inode: '1', address: '0100007F:0001' };
    const { listener } = open({
      listeningSockets: (port) => [...LINUX_HANDOVER.listeningSockets(port), elsewhere],
    });
    assert.equal(await get(listener, '/'), 'quick');
    await listener.stop();
  });
});

describe('BunListener, the connection of a request', () => {
  /** The idle timeouts, in seconds, that are set for a request whose handler does this with its connection. */
  async function timeoutsSet(handle: (connection: Connection) => void): Promise<readonly number[]> {
    const { serve } = Bun;
    const set: number[] = [];
    Bun.serve = ((options: Parameters<typeof serve>[0]) => {
      const server = serve(options);
      server.timeout = (_request, seconds) => void set.push(seconds);
      return server;
    }) as typeof serve;
    try {
      const answer = async (_request: Request, connection: Connection) => {
        handle(connection);
        return new Response('');
      };
      const listener = new BunListener({ address: '127.0.0.1:0', fetch: answer }, LINUX_HANDOVER);
      await fetch(`http://127.0.0.1:${listener.port}/`);
      await listener.stop();
    } finally {
      Bun.serve = serve;
    }
    return set;
  }

  it('holds the idle timeout off, and arms it again once', async () => {
    const timeouts = await timeoutsSet((connection) => {
      connection.allowSilence();
      connection.endSilence();
      connection.endSilence();
      connection.allowSilence();
      connection.endSilence();
    });
    assert.deepEqual(timeouts, [0, 120, 0, 120]);
  });

  it('leaves the idle timeout alone for a silence of 60 s, which it lets pass, and for one millisecond more does not', async () => {
    const during = (ms: number) => (connection: Connection) => {
      connection.allowSilence(ms);
      connection.endSilence();
    };
    assert.deepEqual(await timeoutsSet(during(60_000)), []);
    assert.deepEqual(await timeoutsSet(during(60_001)), [0, 120]);
  });

  it('arms nothing that nobody held off, and closes soon when told', async () => {
    assert.deepEqual(await timeoutsSet((connection) => connection.endSilence()), []);
    assert.deepEqual(await timeoutsSet((connection) => connection.closeSoon()), [1]);
  });
});
