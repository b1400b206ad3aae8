// What browsers need in order to follow a redirect across origins (E3, clients.md 5).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, createTestRouter } from '../support/test-router.ts';
import { CHAT, CHAT_BODY, counted, follow, rejections, siteA, siteB, tokenForB } from './redirect-fixture.ts';

const EXPOSED =
  'X-Request-ID, X-Client-Request-ID, Retry-After, X-RateLimit-Remaining-Requests, X-RateLimit-Remaining-Tokens, ' +
  'x-should-retry, WWW-Authenticate, Server-Timing';

function corsOf(response: Response): Record<string, string> {
  return Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('access-control-')));
}

describe('CORS', () => {
  it('opens every answer of /v1/* to any origin: 307, 200 and each error, feature on or off (E3)', async () => {
    const agents = [{ models: ['local'] }];
    const [on, off] = [siteA({ agents, maxRequestBytes: 200 }), createTestRouter({ agents, maxRequestBytes: 200 })];
    const statuses = new Set<number>();
    for (const site of [on, off]) {
      const answers = [
        await site.ask(CHAT, CHAT_BODY, bearer('key-1')),
        await site.ask(CHAT, { model: 'local' }, bearer('key-1')),
        await site.ask(CHAT, CHAT_BODY),
        await site.ask(`${CHAT}?rt=x`, CHAT_BODY),
        await site.ask(CHAT, '{', bearer('key-1')),
        await site.ask(CHAT, { model: 'local' }, bearer('key-2')),
        await site.ask(CHAT, 'x'.repeat(201), bearer('key-1')),
        await site.ask(CHAT, CHAT_BODY, { ...bearer('key-1'), 'content-encoding': 'rot13' }),
        await site.send(CHAT),
        await site.send('/v1/models', { headers: bearer('key-1') }),
        await site.send('/v1/models', { method: 'HEAD', headers: bearer('key-1') }),
        await site.send('/v1/models/none', { headers: bearer('key-1') }),
        await site.send('/v1/nowhere', { method: 'POST' }),
        await site.send('/v1'),
        await site.send('/v1?rt=x'),
        await site.send('/%761/models', { headers: bearer('key-1') }),
        await site.send('/v%31/nowhere'),
      ];
      for (const response of answers) {
        statuses.add(response.status);
        assert.deepEqual(
          corsOf(response),
          { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED },
          String(response.status),
        );
      }
    }
    assert.deepEqual([...statuses].sort(), [200, 307, 400, 401, 403, 404, 405, 413, 415]);
  });

  it('opens an answer whose engine has other ideas, and an error of the router itself (E3)', async () => {
    const headers = { 'access-control-allow-origin': 'https://a', 'access-control-allow-credentials': 'true' };
    const site = siteB({ engine: async () => Response.json({}, { headers }) });
    const expected = { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };
    assert.deepEqual(corsOf(await follow(site, tokenForB())), expected);
    (site.ports as { dispatch: unknown }).dispatch = () => {
      throw new Error('a bug');
    };
    const broken = await follow(site, tokenForB());
    assert.equal(broken.status, 500);
    assert.deepEqual(corsOf(broken), expected);
  });

  it('decides nothing by Origin, not even by null (E3, clients.md 5)', async () => {
    for (const origin of ['null', 'https://evil.com', 'https://site-fr-1.example.com']) {
      const site = siteB();
      const response = await follow(site, tokenForB(), { headers: { origin } });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('access-control-allow-origin'), '*');
      assert.equal(response.headers.get('access-control-allow-credentials'), null);
    }
  });

  it('leaves health and admin answers closed, and those of paths that only begin as /v1 does (E3)', async () => {
    const site = siteA();
    for (const response of [
      await site.send('/health'),
      await site.admin('GET', '/admin/api-keys'),
      await site.send('/'),
      await site.send('/v1x'),
      await site.send('/%762/v1/'),
      await site.send('/%/v1/'),
      await site.send('/v10/models'),
    ]) {
      assert.deepEqual(corsOf(response), {});
    }
  });
});

describe('a preflight', () => {
  const asked = 'authorization,content-type,x-stainless-lang,x-hivenet-scope,x-session-id';

  for (const path of [CHAT, '/v1/models', '/v1/nowhere', '/nowhere', '/admin/sibling-map', '/health']) {
    it(`of ${path} is 204 without authentication and echoes the headers asked for (E3)`, async () => {
      for (const site of [siteA(), createTestRouter()]) {
        const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
        const response = await site.send(path, {
          method: 'OPTIONS',
          headers: { ...headers, 'access-control-request-headers': asked },
        });
        assert.equal(response.status, 204);
        assert.equal(response.body, null);
        assert.equal(response.headers.get('access-control-allow-methods'), 'POST, GET, OPTIONS');
        assert.equal(response.headers.get('access-control-allow-headers'), asked);
        const origin = path.startsWith('/v1/') ? '*' : null;
        assert.equal(response.headers.get('access-control-allow-origin'), origin);
      }
    });
  }

  it('tells caches that it depends on the headers asked for', async () => {
    const response = await siteA().send(CHAT, { method: 'OPTIONS' });
    assert.equal(response.headers.get('vary'), 'Access-Control-Request-Headers');
  });

  it('allows no header when none is asked for (E3)', async () => {
    const response = await siteA().send(CHAT, { method: 'OPTIONS' });
    assert.equal(response.headers.get('access-control-allow-headers'), null);
  });

  it('of a redirected URL never uses the token up, never counts it, and is logged without it (E3, clients.md 5)', async () => {
    const site = siteB();
    const token = tokenForB();
    for (let count = 0; count < 3; count += 1) {
      const response = await site.send(`${CHAT}?rt=${token}`, { method: 'OPTIONS', headers: { origin: 'null' } });
      assert.equal(response.status, 204);
      assert.equal(site.accessLines.at(-1)?.['path'], `${CHAT}?rt=REDACTED`);
    }
    assert.equal((await site.send(`${CHAT}?rt=forged`, { method: 'OPTIONS' })).status, 204);
    assert.equal((await follow(site, token)).status, 200);
    assert.deepEqual(await rejections(site), counted());
  });
});
