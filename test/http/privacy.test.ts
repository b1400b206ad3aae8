// What must not be written down or passed on: tokens, keys and bodies, in any log, metric, answer or engine request.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashKey } from '../../src/auth/api-key.ts';
import { RouterError } from '../../src/errors.ts';
import { KEYS } from '../support/test-keys.ts';
import { SECRETS } from '../support/test-redirect.ts';
import { ADMIN_KEY, bearer, createTestRouter, FIXTURE_MAP, type TestRouter } from '../support/test-router.ts';
import { CHAT, CHAT_BODY, follow, present, readWhole, siteA, siteB, tokenForB } from './redirect-fixture.ts';

const CANARY = 'canary-7d1f';

/** Every metric and everything written by a site, as one text. */
async function everySink(site: TestRouter): Promise<string> {
  return site.written.join('') + (await site.ports.metrics.expose());
}

describe('the access log', () => {
  const targets: readonly (readonly [string, string])[] = [
    [`${CHAT}?rt=${CANARY}`, `${CHAT}?rt=REDACTED`],
    [`${CHAT}?%72t=${CANARY}`, `${CHAT}?rt=REDACTED`],
    [`${CHAT}?a=1&rt=${CANARY}&rt=${CANARY}&b=2`, `${CHAT}?a=1&rt=REDACTED&rt=REDACTED&b=2`],
    [`/v1/messages?beta=true&rt=${CANARY}`, '/v1/messages?beta=true&rt=REDACTED'],
    [`/v1/models?rt=${CANARY}`, '/v1/models?rt=REDACTED'],
    [`/nowhere?rt=${CANARY}`, '/nowhere?rt=REDACTED'],
    [`/admin/sibling-map?rt=${CANARY}`, '/admin/sibling-map?rt=REDACTED'],
    [`/health?rt=${CANARY}&x=%20`, '/health?rt=REDACTED&x=%20'],
  ];
  for (const [target, logged] of targets) {
    it(`shows ${logged} whatever the method, the status and the feature (R-205, R-206, D-01)`, async () => {
      for (const site of [siteA(), createTestRouter()]) {
        for (const method of ['GET', 'POST', 'HEAD', 'OPTIONS', 'DELETE']) {
          const response = await site.send(target, { method, ...(method === 'POST' ? { body: CHAT_BODY } : {}) });
          assert.equal(site.accessLines.at(-1)?.['path'], logged);
          assert.ok(!(await response.text()).includes(CANARY));
        }
        assert.ok(!(await everySink(site)).includes(CANARY));
      }
    });
  }

  it('keeps other parameters as they were sent (R-206, S140)', async () => {
    const site = siteA();
    await site.send('/v1/models?beta=true&x=%0d%0a&rt=1&&y=a+b%zz');
    const path = String(site.accessLines.at(-1)?.['path']);
    for (const part of ['beta=true', 'x=%0d%0a', 'y=a+b%zz']) assert.ok(path.includes(part), path);
  });

  it('has one line a request, whatever became of it (R-205, api.md 16.3)', async () => {
    const site = siteA({ agents: [{ models: ['local'] }] });
    const requests = [
      () => site.send('/health'),
      () => site.send('/nowhere'),
      () => site.send(CHAT, { method: 'OPTIONS' }),
      () => site.ask(CHAT, CHAT_BODY),
      () => site.ask(CHAT, CHAT_BODY, bearer('key-1')),
      () => site.ask(CHAT, { model: 'local' }, bearer('key-1')),
      () => site.admin('GET', '/admin/api-keys'),
    ];
    for (const [index, request] of requests.entries()) {
      await (await request()).text();
      assert.equal(site.accessLines.length, index + 1);
    }
    const statuses = site.accessLines.map((line) => line['status_code']);
    assert.deepEqual(statuses, [200, 404, 204, 401, 307, 200, 200]);
  });

  it('of a 307 names key, model, target, hop and the token’s request ID, and no error (R-208)', async () => {
    const site = siteA();
    const response = await site.ask(CHAT, CHAT_BODY, bearer('key-1'));
    const line = site.accessLines.at(-1) ?? {};
    assert.equal(line['request_id'], response.headers.get('x-request-id'));
    assert.equal('error_code' in line, false);
    const { status_code, key_id, model, redirect_site, origin_site, hop } = line;
    assert.deepEqual(
      { status_code, key_id, model, redirect_site, origin_site, hop },
      { status_code: 307, key_id: 'key-1', model: 'm', redirect_site: 'site-fr-2', origin_site: 'site-fr-1', hop: 1 },
    );
  });

  it('names the key of every request that authenticated, also of one that failed later (api.md 16.2)', async () => {
    const failing: readonly (readonly [number, TestRouter, string, Record<string, string>])[] = [
      [400, siteA(), '{', bearer('key-1')],
      [400, siteA(), CHAT_BODY, { ...bearer('key-1'), 'x-hivenet-scope': 'eu' }],
      [403, siteA(), CHAT_BODY, bearer('key-2')],
      [404, siteA(), '{"model":"x"}', bearer('key-1')],
      [413, siteA({ maxRequestBytes: 5 }), CHAT_BODY, bearer('key-1')],
      [415, siteA(), CHAT_BODY, { ...bearer('key-1'), 'content-encoding': 'rot13' }],
    ];
    for (const [status, site, body, headers] of failing) {
      await site.ask(CHAT, body, headers);
      const line = site.accessLines.at(-1) ?? {};
      assert.equal(line['status_code'], status);
      assert.equal(
        line['key_id'],
        headers['authorization'] === bearer('key-2')['authorization'] ? 'key-2' : 'key-1',
        `${status}`,
      );
    }
  });

  it('shows the peer’s address, an IPv4 one without its mapping (api.md 16.4)', async () => {
    for (const [remoteAddress, shown] of [
      ['::ffff:192.0.2.7', '192.0.2.7'],
      ['2001:db8::1', '2001:db8::1'],
    ] as const) {
      const site = createTestRouter({ remoteAddress });
      await site.send('/health');
      assert.equal(site.accessLines.at(-1)?.['source_ip'], shown);
    }
  });

  it('holds no key and no body (R-221, R-207)', async () => {
    const site = siteB();
    const body = `{"model":"m","messages":"${CANARY}"}`;
    const asked: readonly Record<string, string>[] = [
      bearer('key-1'),
      { 'x-api-key': KEYS['key-1'] },
      { authorization: `Bearer ${CANARY}` },
      { cookie: CANARY },
    ];
    for (const headers of asked) await readWhole(await site.ask(CHAT, body, headers));
    await site.ask(CHAT, `${body}x`, bearer('key-1'));
    await site.ask(CHAT, `"${CANARY}`, bearer('key-1'));
    await site.admin('POST', '/admin/api-keys/replace', `{"${CANARY}`);
    await site.admin('POST', '/admin/sibling-map', `{"${CANARY}`);
    const told = await everySink(site);
    for (const secret of [CANARY, ...Object.values(KEYS)]) assert.ok(!told.includes(secret), secret);
  });
});

describe('a GET', () => {
  it('shows no redirect secret, no admin key, no API key and no hash of one (R-153)', async () => {
    const site = siteB();
    await follow(site, tokenForB());
    await follow(site, `${tokenForB()}x`);
    const paths = ['/admin/sibling-map', '/admin/api-keys', '/admin/api-keys/version', '/v1/models', '/health'];
    const secrets = [SECRETS.slice(SECRETS.indexOf(':') + 1), ADMIN_KEY, ...Object.values(KEYS)];
    const told = [await everySink(site)];
    for (const path of paths) {
      const shown = path.startsWith('/v1') ? bearer('key-1') : { authorization: `Bearer ${ADMIN_KEY}` };
      const response = await site.send(path, { headers: shown });
      assert.equal(response.status, 200);
      told.push(JSON.stringify([...response.headers]), await response.text());
    }
    for (const secret of [...secrets, ...Object.values(KEYS).map(hashKey)]) {
      for (const text of told) assert.ok(!text.includes(secret), `${secret} in ${text}`);
    }
  });
});

describe('a real token', () => {
  it('reaches no sink, no answer but its Location, and no engine, on any path of a request (R-207, R-221)', async () => {
    const a = siteA();
    const redirected = await a.ask(CHAT, CHAT_BODY, bearer('key-1'));
    const token = present(new URL(present(redirected.headers.get('location'))).searchParams.get('rt'));
    const b = siteB();
    const shown = [
      await follow(b, token, { body: '{}' }),
      await follow(b, token),
      await follow(b, token),
      await follow(b, token, { headers: bearer('key-1') }),
      await readWhole(await b.ask(`${CHAT}/?rt=${token}`, CHAT_BODY)),
      await readWhole(await b.send(`/v1/models/m?rt=${token}`, { headers: bearer('key-1') })),
      await readWhole(await b.send(`/v1/models?rt=${token}`, { headers: bearer('key-1') })),
      await readWhole(await b.send(`${CHAT}?rt=${token}`, { method: 'PATCH' })),
      await readWhole(await b.ask(`/v1/messages%3Frt=${token}`, CHAT_BODY)),
    ];
    const [, , claims = '', signature = ''] = token.split('.');
    const texts = [await redirected.text(), await everySink(a), await everySink(b)];
    for (const response of shown) texts.push(JSON.stringify([...response.headers]), await response.text());
    for (const { url, headers, body } of b.engineCalls) {
      texts.push(url, JSON.stringify([...headers]), new TextDecoder().decode(body));
    }
    for (const text of texts) assert.ok(!text.includes(claims) && !text.includes(signature), text);
  });

  it('is not told back by an error about a model of that name (R-207)', async () => {
    const token = tokenForB();
    const response = await siteA().ask(CHAT, { model: token }, bearer('key-1'));
    assert.equal(response.status, 404);
    assert.match(await response.text(), /the model \\"REDACTED\\"/);
  });

  it('reaches no engine in a header that a proxy made of the URL (R-207, T7 of clients.md)', async () => {
    const b = siteB();
    const token = tokenForB();
    const url = `https://site-fr-2.example.com${CHAT}?rt=${token}`;
    await follow(b, token, {
      headers: { referer: url, 'x-original-url': url, 'x-forwarded-uri': url, 'x-envoy-original-path': url },
    });
    assert.equal(b.engineCalls.length, 1);
    assert.ok(!JSON.stringify([...present(b.engineCalls[0]).headers]).includes(token));
  });

  it('reaches no log when the handling of its request throws (R-207, T-32)', async () => {
    const site = siteB();
    const token = tokenForB();
    const ports = site.ports as { dispatch: unknown };
    ports.dispatch = () => {
      throw new TypeError(`fetch failed: https://b.example.com${CHAT}?rt=${token}`);
    };
    const response = await follow(site, token);
    assert.equal(response.status, 500);
    const text = await response.text();
    assert.match(text, /"code":"backend_error"/);
    assert.ok(!text.includes('fetch failed'), 'the client learns nothing of an unknown error');
    const told = await everySink(site);
    assert.match(told, /ERROR Request failed .*TypeError: fetch failed/);
    assert.ok(!told.includes(token), told);
    assert.equal(site.accessLines.at(-1)?.['error_code'], 'backend_error');
  });

  it('is not told by an error that is none either (R-207)', async () => {
    const site = siteB();
    (site.ports as { dispatch: unknown }).dispatch = () =>
      Promise.reject(new RouterError('internal_error', 'fixed', new Error(CANARY)));
    const response = await follow(site, tokenForB());
    assert.ok(!(await response.text()).includes(CANARY));
  });
});

describe('a request to an engine', () => {
  it('carries no credential, cookie, scope or query, and the effective request ID, on all five endpoints (R-221, E6)', async () => {
    const agents = (['llm', 'embedding', 'reranker'] as const).map((capability) => ({ models: ['m'], capability }));
    const site = siteB({ agents, map: FIXTURE_MAP });
    const secrets = {
      ...bearer('key-1'),
      'x-api-key': KEYS['key-1'],
      'api-key': CANARY,
      cookie: `session=${CANARY}`,
      'x-hivenet-scope': 'all',
      referer: `https://x/?${CANARY}`,
      'proxy-authorization': CANARY,
      rt: CANARY,
    };
    const paths = [CHAT, '/v1/messages', '/v1/messages/count_tokens', '/v1/embeddings', '/v1/rerank'];
    for (const path of paths) await readWhole(await site.ask(`${path}?beta=${CANARY}`, CHAT_BODY, secrets));
    assert.equal(site.engineCalls.length, paths.length);
    for (const [index, { url, headers, body }] of site.engineCalls.entries()) {
      const sent = `${url}${JSON.stringify([...headers])}`;
      assert.ok(!sent.includes(CANARY) && !sent.includes(KEYS['key-1']), sent);
      assert.ok(!headers.has('x-hivenet-scope'));
      assert.equal(headers.get('x-request-id'), site.accessLines[index]?.['request_id']);
      assert.equal(new TextDecoder().decode(body), CHAT_BODY);
    }
  });
});
