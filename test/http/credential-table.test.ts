// Who comes in where: every route, in every auth mode, with every kind of credential (api.md 8 and 11, E1).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isUuid } from '../../src/lib/uuid.ts';
import { ENDPOINT_PATHS } from '../../src/redirect/claims.ts';
import { KEYS } from '../support/test-keys.ts';
import { ADMIN_KEY, createTestRouter, type TestRouter, type TestRouterSettings } from '../support/test-router.ts';
import { ASK, limitedSite } from './limits-fixture.ts';
import { CHAT_BODY } from './redirect-fixture.ts';

type Mode = NonNullable<TestRouterSettings['authMode']>;

const MODES = ['none', 'api-key', 'dynamic'] as const satisfies readonly Mode[];

/** What a client can show, and who it then is where keys are asked for: somebody, or nobody. */
const CREDENTIALS = {
  none: [{}, 'nobody'],
  'empty Authorization': [{ authorization: '' }, 'nobody'],
  'wrong key': [{ authorization: 'Bearer sk-wrong' }, 'nobody'],
  'wrong x-api-key': [{ 'x-api-key': 'sk-wrong' }, 'nobody'],
  'right key': [{ authorization: `Bearer ${KEYS['key-1']}` }, 'somebody'],
  'right key without its scheme': [{ authorization: KEYS['key-1'] }, 'somebody'],
  'right key behind another scheme': [{ authorization: `Basic ${KEYS['key-1']}` }, 'nobody'],
  'right x-api-key': [{ 'x-api-key': KEYS['key-1'] }, 'somebody'],
  'both, the same': [{ authorization: `Bearer ${KEYS['key-1']}`, 'x-api-key': KEYS['key-1'] }, 'somebody'],
  'both, the first right': [{ authorization: `Bearer ${KEYS['key-1']}`, 'x-api-key': 'sk-wrong' }, 'somebody'],
  'both, the first wrong': [{ authorization: 'Bearer sk-wrong', 'x-api-key': KEYS['key-1'] }, 'nobody'],
  'both, the first empty': [{ authorization: '', 'x-api-key': KEYS['key-1'] }, 'nobody'],
  expired: [{ authorization: `Bearer ${KEYS['key-exp']}` }, 'nobody'],
  disabled: [{ authorization: `Bearer ${KEYS['key-dis']}` }, 'nobody'],
  'admin key': [{ authorization: `Bearer ${ADMIN_KEY}` }, 'nobody'],
} as const satisfies Record<string, readonly [Record<string, string>, 'somebody' | 'nobody']>;

const CLIENT_ROUTES = [
  ...ENDPOINT_PATHS.map((path) => ['POST', path] as const),
  ['GET', '/v1/models'] as const,
  ['GET', '/v1/models/m'] as const,
];

/** Every admin route. */
const ADMIN_ROUTES = [
  ['GET', '/admin/api-keys'],
  ['GET', '/admin/api-keys/version'],
  ['GET', '/admin/api-keys/key-1'],
  ['PUT', '/admin/api-keys/key-1'],
  ['DELETE', '/admin/api-keys/key-1'],
  ['POST', '/admin/api-keys/replace'],
  ['GET', '/admin/agents'],
  ['GET', '/admin/agents/agent-1'],
  ['PUT', '/admin/agents/other'],
  ['DELETE', '/admin/agents/other'],
  ['POST', '/admin/agents/other/drain'],
  ['DELETE', '/admin/agents/other/drain'],
  ['GET', '/admin/health'],
  ['GET', '/admin/routing-table'],
  ['GET', '/admin/registration-stream'],
  ['GET', '/admin/models'],
  ['GET', '/admin/models/m'],
  ['GET', '/admin/model-aliases'],
  ['PUT', '/admin/model-aliases'],
  ['GET', '/admin/policy'],
  ['PUT', '/admin/policy'],
  ['GET', '/admin/policy/models'],
  ['GET', '/admin/policy/models/x'],
  ['PUT', '/admin/policy/models/x'],
  ['DELETE', '/admin/policy/models/x'],
  ['GET', '/admin/sibling-map'],
  ['POST', '/admin/sibling-map'],
] as const;

const AGENTS = (['llm', 'embedding', 'reranker'] as const).map((capability) => ({ models: ['m'], capability }));

/** A router in that mode whose keys are the same in both modes that have any; `key-dis` is unknown to the auth file. */
const routerIn = (authMode: Mode) => createTestRouter({ authMode, agents: AGENTS });

async function told(site: TestRouter, [method, path]: readonly [string, string], headers: Record<string, string>) {
  const body = method === 'POST' ? CHAT_BODY : undefined;
  const response = await site.send(path, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  const code = response.ok ? undefined : (JSON.parse(text) as { error: { code: string } }).error.code;
  return { status: response.status, code, headers: headersOf(response) };
}

/** All of them: a header that should not be there is as wrong as a missing one. */
function headersOf({ headers }: Response): Record<string, string> {
  const { 'x-request-id': requestId = '', 'content-length': _length, ...rest } = Object.fromEntries(headers);
  assert.ok(isUuid(requestId), requestId);
  return { ...rest, 'content-type': String(rest['content-type']).replace('; ', ';') };
}

const JSON_BODY = { 'content-type': 'application/json;charset=utf-8' };
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Request-ID, X-Client-Request-ID, Retry-After, X-RateLimit-Remaining-Requests, X-RateLimit-Remaining-Tokens, x-should-retry, WWW-Authenticate, Server-Timing',
};
const CHALLENGE = { 'www-authenticate': 'Bearer realm="hivenet-router"' };

const SERVED = { status: 200, code: undefined, headers: { ...JSON_BODY, ...CORS } };
const REFUSED = { status: 401, code: 'unauthorized', headers: { ...JSON_BODY, ...CORS, ...CHALLENGE } };
const REFUSED_BY_ADMIN = { status: 401, code: 'unauthorized', headers: { ...JSON_BODY, ...CHALLENGE } };

describe('the routes of clients', () => {
  for (const mode of MODES) {
    for (const [shown, [headers, whoever]] of Object.entries(CREDENTIALS)) {
      const isServed = mode === 'none' || whoever === 'somebody';
      it(`${isServed ? 'serve' : 'answer 401 to'} "${shown}" in mode ${mode}`, async () => {
        const site = routerIn(mode);
        for (const route of CLIENT_ROUTES) {
          assert.deepEqual(await told(site, route, headers), isServed ? SERVED : REFUSED, route.join(' '));
        }
      });
    }
  }

  it('are open to nobody through an admin key, nor those of admins through a client key', async () => {
    const site = routerIn('dynamic');
    for (const route of ADMIN_ROUTES) {
      const headers = { authorization: `Bearer ${KEYS['key-1']}` };
      assert.deepEqual(await told(site, route, headers), REFUSED_BY_ADMIN, route.join(' '));
    }
  });

  it('tell what a key has left to that key alone: nothing to one that is disabled, expired or wrong', async () => {
    const quota = { requests_per_minute: 60, tokens_per_day: 100_000 };
    const limits = { 'x-ratelimit-remaining-requests': '59', 'x-ratelimit-remaining-tokens': '99985' };
    for (const [entry, shown, expected] of [
      [{}, ASK, { ...SERVED, headers: { ...SERVED.headers, ...limits } }],
      [{}, { authorization: 'Bearer sk-wrong' }, REFUSED],
      [{ enabled: false }, ASK, REFUSED],
      [{ expires_at: '2026-11-03T12:00:00Z' }, ASK, REFUSED],
    ] as const) {
      const site = limitedSite(quota, {}, entry);
      assert.deepEqual(await told(site, ['POST', '/v1/chat/completions'], shown), expected);
    }
  });
});

describe('the routes of admins', () => {
  for (const mode of MODES) {
    it(`open in mode ${mode} for the admin key in Authorization alone`, async () => {
      const site = routerIn(mode);
      for (const [shown, [headers]] of Object.entries(CREDENTIALS)) {
        if (shown === 'admin key') continue;
        for (const route of ADMIN_ROUTES) {
          assert.deepEqual(await told(site, route, headers), REFUSED_BY_ADMIN, `${shown} ${route.join(' ')}`);
        }
      }
      for (const route of ADMIN_ROUTES) {
        assert.deepEqual(await told(site, route, { 'x-api-key': ADMIN_KEY }), REFUSED_BY_ADMIN, route.join(' '));
      }
      for (const [method, path] of ADMIN_ROUTES) {
        const response = await site.send(path, { method, headers: { authorization: `Bearer ${ADMIN_KEY}` } });
        assert.notEqual(response.status, 401, path);
        await response.body?.cancel();
        const isOfPushedKeys = path.startsWith('/admin/api-keys');
        if (isOfPushedKeys) assert.equal(response.status === 501, mode !== 'dynamic', path);
      }
    });
  }

  it('open for everyone where the operator says so, and change nothing for clients (api.md 11)', async () => {
    const site = createTestRouter({ authMode: 'dynamic', agents: AGENTS, isAdminInsecure: true });
    assert.equal((await site.send('/admin/api-keys')).status, 200);
    assert.equal((await site.send('/v1/models')).status, 401);
  });
});

describe('routes without a key', () => {
  for (const mode of MODES) {
    it(`are open in mode ${mode}, whatever is shown`, async () => {
      const site = routerIn(mode);
      for (const [headers] of Object.values(CREDENTIALS)) {
        assert.equal((await site.send('/health', { headers })).status, 200);
        assert.equal((await site.send('/health/ready', { headers })).status, 200);
        assert.equal((await site.send('/v1/models', { method: 'OPTIONS', headers })).status, 204);
        assert.equal((await site.send('/nowhere', { headers })).status, 404);
      }
    });
  }
});

describe('a caller', () => {
  for (const [mode, keyId] of [
    ['none', ''],
    ['api-key', ''],
    ['dynamic', 'key-1'],
  ] as const) {
    it(`in mode ${mode} has the key ID "${keyId}" in the log, and ${keyId || 'anonymous'} in metrics (api.md 8.1)`, async () => {
      const site = routerIn(mode);
      await site.ask('/v1/chat/completions', CHAT_BODY, { authorization: `Bearer ${KEYS['key-1']}` });
      assert.equal(site.accessLines[0]?.['key_id'], keyId);
      const owner = mode === 'none' ? 'default' : 'owner-1';
      const labels = `tenant_id="${owner}",key_id="${keyId || 'anonymous'}",deployment_id="",model="m"`;
      assert.equal(await site.metric(`hivenet_tenant_requests_success_total{${labels}}`), 1);
    });
  }
});
