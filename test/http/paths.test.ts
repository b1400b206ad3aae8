// Paths and methods: what is known, what is not, and what only looks like it (E10, A10).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, createTestRouter, FIXTURE_MAP } from '../support/test-router.ts';
import { CHAT, CHAT_BODY, errorOf, outcomeOf, siteA } from './redirect-fixture.ts';

const ORIGIN = 'https://site-fr-1.example.com';

describe('odd paths', () => {
  const odd = [
    `${CHAT}/`,
    `/${CHAT}`,
    '/v1//chat/completions',
    `${CHAT};x`,
    `${CHAT};x=1`,
    '/v1%2Fchat/completions',
    '/v1/chat%2Fcompletions',
    '/v1/chat%2fcompletions',
    `${CHAT}%20`,
    `${CHAT}%00`,
    `${CHAT}%3Fa=1`,
    `${CHAT}%23`,
    `${CHAT}.`,
    `${CHAT}/x`,
    '/V1/chat/completions',
    '/v1/Chat/completions',
    '/v1/chat',
    '/v1/',
    '/v1/models/',
    '/health/',
    '/health/ready/',
    '/',
    '//',
    '/v1/messages/count_tokens/',
    '/v1/messages/count-tokens',
  ];
  for (const path of odd) {
    it(`${path} is a JSON 404 for every method, without a redirect of any kind (A10, D-46, T-26)`, async () => {
      const site = siteA();
      for (const method of ['GET', 'POST', 'PUT']) {
        const body = method === 'GET' ? {} : { body: CHAT_BODY };
        const response = await site.send(ORIGIN + path, { method, headers: bearer('key-1'), ...body });
        assert.equal(response.status, 404, method);
        assert.equal(response.headers.get('location'), null);
        assert.match(String(response.headers.get('content-type')), /^application\/json/);
        assert.match(String(response.headers.get('x-request-id')), /^[0-9a-f-]{36}$/);
        const error = await errorOf(response);
        assert.deepEqual([error['code'], error['type']], ['request_invalid', 'not_found_error']);
      }
    });
  }

  it('that the URL standard collapses before anyone sees them count as collapsed, for the admin’s door too (A10)', async () => {
    const site = siteA();
    assert.equal(
      await outcomeOf(site.ask('/x/../v1/chat/./completions', CHAT_BODY, bearer('key-1'))),
      '307 model_redirected',
    );
    for (const path of [
      '/health/../admin/sibling-map',
      '/v1/%2e%2e/admin/sibling-map',
      '/\\admin/sibling-map',
      '/%61dmin/sibling-map',
    ]) {
      const { status } = await site.send(ORIGIN + path, { headers: bearer('key-1') });
      assert.ok(status === 401 || status === 404, `${path}: ${status}`);
    }
  });

  it('do not open the admin’s door from beside it (A10, R-160)', async () => {
    const site = siteA();
    for (const path of [
      '//admin/sibling-map',
      '/Admin/sibling-map',
      '/admin%2Fsibling-map',
      '/admin;x/sibling-map',
      '/adminx',
    ]) {
      const response = await site.send(ORIGIN + path);
      assert.equal(response.status, 404, path);
    }
  });

  it('are repeated in the message only so far, and never as markup of their own (E10)', async () => {
    const response = await siteA().send(`/${'x'.repeat(5_000)}`);
    assert.ok((await response.text()).length < 400);
  });
});

describe('methods', () => {
  const table: readonly (readonly [path: string, allow: string, wrong: readonly string[]])[] = [
    [CHAT, 'POST', ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'PURGE']],
    ['/v1/messages', 'POST', ['GET', 'HEAD', 'DELETE']],
    ['/v1/messages/count_tokens', 'POST', ['GET']],
    ['/v1/embeddings', 'POST', ['GET']],
    ['/v1/rerank', 'POST', ['GET', 'PUT']],
    ['/v1/models', 'GET, HEAD', ['POST', 'DELETE', 'PURGE']],
    ['/v1/models/org/m', 'GET, HEAD', ['POST', 'DELETE']],
    ['/health', 'GET, HEAD', ['POST', 'PUT']],
    ['/health/ready', 'GET, HEAD', ['POST']],
  ];
  for (const [path, allow, wrong] of table) {
    it(`${path} takes ${allow}; others are 405 with Allow, before any authentication (E10)`, async () => {
      for (const site of [siteA(), createTestRouter()]) {
        for (const method of wrong) {
          const response = await site.send(path, { method });
          assert.equal(response.status, 405, method);
          assert.equal(response.headers.get('allow'), allow);
          if (method === 'HEAD') continue;
          const error = await errorOf(response);
          assert.deepEqual([error['code'], error['type']], ['request_invalid', 'not_found_error']);
          assert.match(String(error['message']), new RegExp(`^${method} .*${allow}`));
        }
      }
    });
  }

  for (const [path, allow] of [
    ['/admin/api-keys', 'GET, HEAD'],
    ['/admin/api-keys/replace', 'GET, HEAD, POST, PUT, DELETE'],
    ['/admin/api-keys/version', 'GET, HEAD, PUT, DELETE'],
    ['/admin/api-keys/key-1', 'GET, HEAD, PUT, DELETE'],
    ['/admin/sibling-map', 'GET, HEAD, POST'],
  ] as const) {
    it(`${path} tells an administrator what it takes: ${allow}, and takes it (E10)`, async () => {
      const site = siteA();
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) {
        const { status, headers } = await site.admin(method, path, method === 'GET' ? undefined : '{');
        const isTaken = allow.split(', ').includes(method);
        assert.equal(status === 405, !isTaken, method);
        assert.equal(headers.get('allow'), isTaken ? null : allow);
      }
    });
  }

  for (const path of ['/health', '/health/ready', '/v1/models', '/v1/models/m']) {
    it(`HEAD ${path} is GET without its body (E10)`, async () => {
      const site = siteA();
      const [head, get] = await Promise.all(
        ['HEAD', 'GET'].map((method) => site.send(path, { method, headers: bearer('key-1') })),
      );
      assert.equal(head?.status, 200);
      assert.equal(await head?.text(), '');
      const names = (response: Response | undefined) =>
        [...(response?.headers.keys() ?? [])].filter((name) => name !== 'content-length');
      assert.deepEqual(names(head), names(get));
    });
  }

  it('HEAD is judged as GET is: 401 and 404 too (E10)', async () => {
    const site = siteA();
    assert.equal((await site.send('/v1/models', { method: 'HEAD' })).status, 401);
    assert.equal((await site.send('/v1/models/none', { method: 'HEAD', headers: bearer('key-1') })).status, 404);
    assert.equal((await site.send('/nowhere', { method: 'HEAD' })).status, 404);
  });
});

describe('health', () => {
  it('is alive and ready without credentials (E10)', async () => {
    const site = createTestRouter();
    for (const [path, body] of [
      ['/health', '{"status":"ok"}'],
      ['/health/ready', '{"status":"ready"}'],
    ] as const) {
      const response = await site.send(path);
      assert.equal(`${response.status} ${await response.text()}`, `200 ${body}`);
    }
  });

  it('is not ready before the first push of keys, whatever else is pushed, and says so in the log', async () => {
    const site = createTestRouter({ siteId: 'site-fr-1', isWithoutKeys: true });
    const ready = async () => {
      const response = await site.send('/health/ready');
      return `${response.status} ${await response.text()}`;
    };
    const waiting = '503 {"status":"waiting for api keys"}';
    const push = (document: object) => site.admin('POST', '/admin/api-keys/replace', document);
    const turns = () => site.written.filter((line) => line.includes('Ready: ')).length;
    assert.equal(await ready(), waiting);
    assert.equal((await site.send('/health')).status, 200);
    assert.equal((await site.admin('POST', '/admin/sibling-map', FIXTURE_MAP)).status, 200);
    assert.equal((await push({ version: '' })).status, 400);
    assert.equal(await ready(), waiting);
    assert.equal(turns(), 0);
    for (const version of ['1', '2']) {
      assert.equal((await push({ version, keys: [] })).status, 200);
      assert.equal(await ready(), '200 {"status":"ready"}');
      assert.equal(turns(), 1);
    }
    site.stopping = true;
    assert.equal(await ready(), '503 {"status":"stopping"}');
  });

  it('needs no keys where everyone may ask', async () => {
    assert.equal((await createTestRouter({ authMode: 'none' }).send('/health/ready')).status, 200);
  });

  it('stays alive but is not ready once the router stops, while it serves on and closes connections (E13)', async () => {
    const site = createTestRouter({ agents: [{ models: ['m'] }] });
    site.stopping = true;
    assert.equal((await site.send('/health')).status, 200);
    assert.equal((await site.send('/health/ready')).status, 503);
    const served = await site.ask(CHAT, CHAT_BODY, bearer('key-1'));
    assert.equal(served.status, 200);
    assert.equal(served.headers.get('connection'), 'close');
    site.stopping = false;
    assert.equal((await site.send('/health')).headers.get('connection'), null);
  });
});
