// HEAD over a socket, where the runtime has its own idea of a length: each answer says GET's, or none (RFC 9110 §8.6).

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { BIG_MAP_SITE, bigMapBytes } from '../support/big-map.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { ADMIN_KEY, type RouterProcess, startRouter } from '../support/router-process.ts';

const AUTHORIZATION = { authorization: `Bearer ${ADMIN_KEY}` };
const SHORT = [
  '/v1/models',
  '/v1/models/none',
  '/health',
  '/health/ready',
  '/none',
  '/admin/sibling-map',
  '/admin/api-keys',
  '/admin/api-keys/version',
  '/admin/agents',
  '/admin/agents/none',
  '/admin/health',
  '/admin/routing-table',
  '/admin/models',
  '/admin/models/none',
  '/admin/model-aliases',
];

let router: RouterProcess;

before(async () => {
  const flags = ['--site-id', BIG_MAP_SITE, '--redirect-allowed-domains', '.example.com'];
  router = await startRouter(flags, { HIVENET_ROUTER_REDIRECT_SECRETS: `k1:${'s'.repeat(32)}` });
});

after(() => router.kill());

/** Status line and length of the answer to HEAD, after which a second request is answered on the same connection. */
async function head(path: string): Promise<{ readonly status: number; readonly length: string | undefined }> {
  const connection = await RawConnection.open(router.url);
  const request = (method: string, target: string) =>
    `${method} ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${ADMIN_KEY}\r\n\r\n`;
  connection.send(request('HEAD', path));
  const answer = await connection.until((text) => text.includes('\r\n\r\n'));
  connection.send(request('GET', '/health'));
  const both = await connection.until((text) => text.endsWith('{"status":"ok"}'));
  connection.leave();
  assert.ok(both.slice(answer.length).startsWith('HTTP/1.1 200 '), 'HEAD has a body');
  return { status: Number(answer.slice(9, 12)), length: /\r\ncontent-length: (\d+)\r\n/i.exec(answer)?.[1] };
}

describe('HEAD', () => {
  for (const path of SHORT) {
    it(`${path} has the status and the length of GET`, async () => {
      const get = await fetch(router.url + path, { headers: AUTHORIZATION });
      const { byteLength } = await get.arrayBuffer();
      assert.deepEqual(await head(path), { status: get.status, length: String(byteLength) });
    });
  }

  it('has no length where GET streams', async () => {
    const map = bigMapBytes(1, 'a');
    const pushed = await fetch(`${router.url}/admin/sibling-map`, {
      method: 'POST',
      headers: AUTHORIZATION,
      body: map,
    });
    assert.equal(pushed.status, 200);
    for (const path of ['/admin/sibling-map', '/v1/models', '/admin/registration-stream']) {
      assert.deepEqual(await head(path), { status: 200, length: undefined }, path);
    }
  });
});
