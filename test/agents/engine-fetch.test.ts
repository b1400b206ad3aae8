import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { connectionFault, createEngineFetch } from '../../src/agents/engine-fetch.ts';

describe('createEngineFetch()', () => {
  it('adds the runtime’s options and follows no redirect', async () => {
    const seen: (RequestInit & { decompress?: boolean })[] = [];
    const fetch = createEngineFetch(
      async (_url, init) => {
        seen.push(init);
        return new Response('');
      },
      { decompress: false } as RequestInit,
    );
    await fetch('http://h', { method: 'POST' });
    await fetch('http://h', { method: 'GET', redirect: 'follow' });
    assert.deepEqual(seen, [
      { decompress: false, redirect: 'manual', method: 'POST' },
      { decompress: false, redirect: 'manual', method: 'GET' },
    ]);
  });
});

describe('connectionFault()', () => {
  it('tells a refused connection from a broken one by the runtime’s own errors', async () => {
    assert.equal(await faultOf('nobody listens'), 'refused');
    assert.equal(await faultOf('closes after the request'), 'reset');
  });

  it('reads the text of Deno’s cause', () => {
    const cause = new Error('client error (Connect): tcp connect error: Connection refused (os error 111)');
    assert.equal(connectionFault(new TypeError('fetch failed', { cause })), 'refused');
    assert.equal(connectionFault(new TypeError('fetch failed', { cause: new Error('tls handshake eof') })), 'other');
  });

  it('takes a name that nobody knows and an address without a route for refused: nothing was sent', () => {
    for (const code of ['ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH']) {
      assert.equal(connectionFault(Object.assign(new TypeError(code), { code })), 'refused', code);
    }
    for (const told of [
      'dns error: failed to lookup address information',
      'tcp connect error: No route to host (os error 113)',
      'tcp connect error: Network is unreachable (os error 101)',
    ]) {
      const cause = new Error(`client error (Connect): ${told}`);
      assert.equal(connectionFault(new TypeError('fetch failed', { cause })), 'refused', told);
    }
  });

  for (const error of [undefined, 'ECONNREFUSED', { code: 'ECONNREFUSED' }, new Error('ECONNREFUSED')]) {
    it(`makes nothing of ${String(error)}`, () => assert.equal(connectionFault(error), 'other'));
  }
});

async function faultOf(engine: 'nobody listens' | 'closes after the request') {
  const server = createServer((socket) => socket.once('data', () => socket.end()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  if (engine === 'nobody listens') await new Promise((resolve) => server.close(resolve));
  try {
    return await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: 'x' });
  } catch (error) {
    return connectionFault(error);
  } finally {
    server.close();
  }
}
