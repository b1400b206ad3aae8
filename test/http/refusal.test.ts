// What follows a refused token: the one 401 that tells nothing, or the request's own key as a new request.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REFUSAL_REASONS, type RefusalReason } from '../../src/redirect/verify.ts';
import { bearer, FIXTURE_MAP, NOW_MS, placement, type TestRouter } from '../support/test-router.ts';
import {
  CHAT,
  CHAT_BODY,
  claimsForB,
  claimsOf,
  counted,
  follow,
  keyring,
  outcomeOf,
  rejections,
  scope,
  siteB,
  siteId,
  TOKEN_REQUEST_ID,
  tokenForB,
} from './redirect-fixture.ts';

interface Case {
  /** The token to show. */
  readonly token: (site: TestRouter) => string;
  readonly body?: string;
  /** Whether its MAC verifies, and hops and origin are believed (D-33). */
  readonly isAuthentic: boolean;
}

const OTHER_BODY = '{"model":"m","messages":[]}';

const CASES = {
  malformed: { token: () => `${tokenForB()}=`, isAuthentic: false },
  signature: { token: () => tokenForB({}, keyring('k1:another-secret-another-secret-0000')), isAuthentic: false },
  expired: { token: () => tokenForB({ issuedMs: NOW_MS - 65_001 }), isAuthentic: true },
  clock: { token: () => tokenForB({ issuedMs: NOW_MS + 5_001 }), isAuthentic: true },
  site: { token: () => tokenForB({ target: siteId('site-us-1') }), isAuthentic: true },
  path: { token: () => tokenForB({ endpoint: '/v1/messages' }), isAuthentic: true },
  scope: { token: () => tokenForB({ scope: scope('country:DE') }), isAuthentic: true },
  key: { token: () => tokenForB({ keyId: 'key-dis' }), isAuthentic: true },
  body: { token: () => tokenForB(), body: OTHER_BODY, isAuthentic: true },
  replay: {
    token: (site) => {
      const claims = claimsForB();
      site.ports.redirect?.ledger.markUsed(claims, NOW_MS);
      return tokenForB(claims);
    },
    isAuthentic: true,
  },
} as const satisfies Record<RefusalReason, Case>;

function show(reason: RefusalReason, site: TestRouter, headers: Record<string, string> = {}): Promise<Response> {
  const { token, body }: Case = CASES[reason];
  return follow(site, token(site), { headers, ...(body === undefined ? {} : { body }) });
}

/** Everything of an answer but its request ID. */
async function withoutId(response: Response): Promise<unknown> {
  const headers = [...response.headers].filter(([name]) => name !== 'x-request-id');
  return { status: response.status, headers, body: await response.text() };
}

describe('a refused token without a key of its own', () => {
  it('gets one and the same answer for all ten reasons (R-119, R-126, E2)', async () => {
    const [first, ...others] = await Promise.all(
      REFUSAL_REASONS.map(async (reason) => withoutId(await show(reason, siteB()))),
    );
    for (const other of others) assert.deepEqual(other, first);
  });

  it('gets the 401 of any invalid credential, and the hint to start again at the original URL (R-119, E2)', async () => {
    const refused = await show('replay', siteB());
    const unknown = await siteB().ask(CHAT, CHAT_BODY);
    assert.equal(refused.headers.get('x-should-retry'), 'true');
    assert.equal(unknown.headers.get('x-should-retry'), null);
    for (const response of [refused, unknown]) {
      assert.equal(response.status, 401);
      assert.equal(response.headers.get('www-authenticate'), 'Bearer realm="hivenet-router"');
    }
    const { error } = (await refused.json()) as { error: Record<string, unknown> };
    const { error: plain } = (await unknown.json()) as { error: Record<string, unknown> };
    assert.match(String(error['message']), /repeat the request at the original URL/i);
    assert.deepEqual({ ...error, message: '' }, { ...plain, message: '' });
  });

  it('says neither reason nor claim, in no header and no byte of the body (R-126, T-33)', async () => {
    for (const reason of REFUSAL_REASONS) {
      const response = await show(reason, siteB(), { 'x-request-id': '018f6b1e-7c1a-7000-8000-0123456789ab' });
      const told = `${JSON.stringify([...response.headers])}${await response.text()}`;
      for (const secret of [
        'key-1',
        'key-dis',
        'site-',
        'country:',
        TOKEN_REQUEST_ID,
        'v2.',
        'expired',
        'signature',
        'replay',
      ]) {
        assert.ok(!told.includes(secret), `${reason} tells ${secret}: ${told}`);
      }
    }
  });

  it('is logged with its reason, and under nobody’s key: a token that was refused vouches for none (E2)', async () => {
    for (const reason of REFUSAL_REASONS) {
      const site = siteB();
      await show(reason, site);
      const { refusal_reason, key_id, status_code } = site.accessLines.at(-1) ?? {};
      assert.deepEqual(
        { refusal_reason, key_id, status_code },
        { refusal_reason: reason, key_id: undefined, status_code: 401 },
      );
    }
  });

  it('is refused also with a key that authenticates nobody (R-119, D-29)', async () => {
    for (const headers of [
      { authorization: 'Bearer sk-unknown' },
      bearer('key-dis'),
      { authorization: '' },
      { 'x-api-key': '' },
    ]) {
      for (const reason of REFUSAL_REASONS) {
        assert.equal(
          await outcomeOf(show(reason, siteB(), headers as Record<string, string>)),
          '401 unauthorized',
          reason,
        );
      }
    }
  });
});

describe('a refused token with a key that authenticates', () => {
  for (const reason of REFUSAL_REASONS) {
    it(`${reason}: is served on that key, as a new request, with exactly the bytes sent (R-120, R-122, R-125)`, async () => {
      const site = siteB();
      const response = await show(reason, site, bearer('key-1'));
      assert.equal(response.status, 200);
      assert.notEqual(response.headers.get('x-request-id'), TOKEN_REQUEST_ID);
      assert.equal(response.headers.get('x-should-retry'), null);
      assert.deepEqual(await rejections(site), counted({ [reason]: 1 }));
      const sent = new TextDecoder().decode(site.engineCalls[0]?.body);
      assert.equal(sent, 'body' in CASES[reason] ? OTHER_BODY : CHAT_BODY);
      const { key_id, refusal_reason, status_code, origin_site, hop } = site.accessLines.at(-1) ?? {};
      assert.deepEqual(
        { key_id, refusal_reason, status_code },
        { key_id: 'key-1', refusal_reason: reason, status_code: 200 },
      );
      assert.deepEqual([origin_site, hop], [undefined, undefined]);
    });

    it(`${reason}: still answers 400 to a bad scope, counted once (R-124, R-125)`, async () => {
      const site = siteB();
      const response = show(reason, site, { ...bearer('key-1'), 'x-hivenet-scope': 'eu' });
      assert.equal(await outcomeOf(response), '400 request_invalid');
      assert.deepEqual(await rejections(site), counted({ [reason]: 1 }));
    });

    const inherits = CASES[reason].isAuthentic ? 'inherits hop and origin' : 'is not redirected again';
    it(`${reason}: ${inherits} (R-123, D-33)`, async () => {
      const placements = ['site-fr-1', 'site-de-1'].map((name) => placement('m', 'chat', name));
      const site = siteB({ map: { ...FIXTURE_MAP, placements }, agents: [] });
      const headers = { ...bearer('key-1'), 'x-hivenet-scope': 'all' };
      const response = await show(reason, site, headers);
      if (!CASES[reason].isAuthentic) {
        assert.equal(response.status, 404);
        return;
      }
      const { hop, origin, target, keyId, requestId, scope: carried } = claimsOf(response);
      // site-fr-1, where the request first arrived, is placed too and never the target.
      assert.deepEqual({ hop, origin, target }, { hop: 2, origin: 'site-fr-1', target: 'site-de-1' });
      assert.deepEqual({ keyId, carried }, { keyId: 'key-1', carried: { kind: 'all' } });
      assert.equal(response.headers.get('x-request-id'), requestId);
      assert.notEqual(requestId, TOKEN_REQUEST_ID);
    });
  }

  it('is never redirected a third time: a refused hop-2 token counts as two hops (R-123)', async () => {
    const map = { ...FIXTURE_MAP, placements: [placement('m', 'chat', 'site-de-1')] };
    const site = siteB({ map, agents: [] });
    const token = tokenForB({ hop: 2, issuedMs: NOW_MS - 65_001 });
    const response = follow(site, token, { headers: { ...bearer('key-1'), 'x-hivenet-scope': 'all' } });
    assert.equal(await outcomeOf(response), '404 model_not_found');
  });

  it('of another valid key is refused as key, served on the other, and leaves the token usable (R-105, R-121, D-29)', async () => {
    const site = siteB({ extraKeys: [{ id: 'key-3', secret: 'sk-three' }] });
    const token = tokenForB();
    assert.equal((await follow(site, token, { headers: { authorization: 'Bearer sk-three' } })).status, 200);
    assert.equal(site.accessLines.at(-1)?.['key_id'], 'key-3');
    assert.equal((await follow(site, token)).status, 200);
    assert.equal(site.accessLines.at(-1)?.['key_id'], 'key-1');
    assert.deepEqual(await rejections(site), counted({ key: 1 }));
  });

  it('is held to what that key may use (R-120, R-019)', async () => {
    const site = siteB();
    assert.equal(await outcomeOf(show('replay', site, bearer('key-2'))), '403 model_forbidden');
  });

  it('takes its scope from the header, not from the token (R-120)', async () => {
    const placements = ['site-de-1', 'site-us-1'].map((name) => placement('m', 'chat', name));
    const site = siteB({ map: { ...FIXTURE_MAP, placements }, agents: [] });
    const token = tokenForB({ scope: scope('EU'), issuedMs: NOW_MS - 65_001 });
    const withHeader = (value: string) =>
      follow(site, token, { headers: { ...bearer('key-1'), 'x-hivenet-scope': value } });
    assert.equal(claimsOf(await withHeader('country:US')).target, 'site-us-1');
    assert.equal(await outcomeOf(follow(site, token, { headers: bearer('key-1') })), '404 model_not_found');
  });

  it('keeps the client’s own ID, as any new request does (R-120, D-40)', async () => {
    const own = '018f6b1e-7c1a-7000-8000-0123456789ab';
    const token = tokenForB({ clientRequestId: 'ffffffff-ffff-4fff-8fff-ffffffffffff', issuedMs: 0 });
    const response = await follow(siteB(), token, { headers: { ...bearer('key-1'), 'x-request-id': own } });
    assert.equal(response.headers.get('x-client-request-id'), own);
  });
});
