// What leaves a token usable: every refusal, and whatever else is no request that passes all eight checks.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RedirectClaims } from '../../src/redirect/claims.ts';
import { REFUSAL_REASONS, type RefusalReason } from '../../src/redirect/verify.ts';
import { NOW_MS, type TestRouter } from '../support/test-router.ts';
import {
  CHAT,
  CHAT_BODY,
  claimsForB,
  counted,
  follow,
  keyring,
  outcomeOf,
  rejections,
  scope,
  sendStream,
  siteB,
  siteId,
  tokenForB,
} from './redirect-fixture.ts';

type Refused = (site: TestRouter, claims: RedirectClaims, token: string) => Promise<unknown>;

/** The same token ID every time: the very token where that can be refused, else another with its ID. */
const REFUSED = {
  malformed: (site, _claims, token) => follow(site, `${token}=`),
  signature: (site, claims) => follow(site, tokenForB(claims, keyring('k1:another-secret-another-secret-0000'))),
  expired: (site, claims, token) => at(site, NOW_MS + claims.lifetimeMs + 5_001, token),
  clock: (site, _claims, token) => at(site, NOW_MS - 5_001, token),
  site: (site, claims) => follow(site, tokenForB({ ...claims, target: siteId('site-de-1') })),
  path: (site, _claims, token) => follow(site, token, { path: '/v1/messages' }),
  scope: (site, claims) => follow(site, tokenForB({ ...claims, scope: scope('country:DE') })),
  key: (site, _claims, token) => follow(site, token, { headers: { authorization: 'Bearer sk-unknown' } }),
  body: (site, _claims, token) => follow(site, token, { body: `${CHAT_BODY} ` }),
  // A full ledger refuses as replay what was never used; it is full until the token that fills it has ended.
  replay: async (site, _claims, token) => {
    await follow(site, tokenForB({ lifetimeMs: 1 }));
    await follow(site, token);
    site.nowMs += 67_000;
  },
} satisfies Record<RefusalReason, Refused>;

/** Shows the token while the clock stands there, and sets it back. */
async function at(site: TestRouter, nowMs: number, token: string): Promise<void> {
  site.nowMs = nowMs;
  await follow(site, token);
  site.nowMs = NOW_MS;
}

describe('a token that is not used up', () => {
  for (const reason of REFUSAL_REASONS) {
    it(`by a refusal as ${reason}: the right request is accepted afterwards (R-114, T-03)`, async () => {
      const site = siteB({ ledgerMax: 1 });
      // Long enough to outlive the entry that fills the ledger below.
      const claims = claimsForB({ lifetimeMs: 3_600_000 });
      const token = tokenForB(claims);
      await REFUSED[reason](site, claims, token);
      assert.deepEqual(await rejections(site), counted({ [reason]: 1 }));
      assert.equal((await follow(site, token)).status, 200);
    });
  }

  it('by a body that is not the right one, be it sent ten times (R-114, T-03)', async () => {
    const site = siteB();
    const token = tokenForB();
    for (let count = 0; count < 10; count += 1) assert.equal((await follow(site, token, { body: '{}' })).status, 401);
    assert.equal((await follow(site, token)).status, 200);
  });

  it('by any refusal of a request around it: path, key, another rt, an upload that breaks off (R-114)', async () => {
    const site = siteB();
    const token = tokenForB();
    assert.equal((await follow(site, token, { path: '/v1/messages' })).status, 401);
    assert.equal((await follow(site, token, { headers: { authorization: 'Bearer sk-unknown' } })).status, 401);
    assert.equal((await follow(site, `${token}&rt=x`)).status, 401);
    const broken = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error('gone')) });
    assert.equal(await outcomeOf(sendStream(site, `${CHAT}?rt=${token}`, broken)), '400 request_invalid');
    assert.equal((await follow(site, token)).status, 200);
  });

  it('by a body over the limit: 413, nothing counted (R-114, D-37)', async () => {
    const body = `{"model":"m","x":"${'x'.repeat(100)}"}`;
    const site = siteB({ maxRequestBytes: CHAT_BODY.length });
    const token = tokenForB();
    assert.equal(await outcomeOf(follow(site, token, { body })), '413 request_invalid');
    assert.deepEqual(await rejections(site), counted());
    assert.equal((await follow(site, token)).status, 200);
  });

  it('by a preflight, a GET or a HEAD (E3, D-26)', async () => {
    const site = siteB();
    const token = tokenForB();
    for (const method of ['OPTIONS', 'GET', 'HEAD']) await site.send(`${CHAT}?rt=${token}`, { method });
    assert.equal((await follow(site, token)).status, 200);
  });

  it('by a key that may not use the model here: 403, and it works once that is fixed (R-131, D-39)', async () => {
    const site = siteB();
    const entry = { id: 'key-1', key_hash: 'a'.repeat(64), owner: 'o', name: 'n', enabled: true };
    const push = (version: string, models: readonly string[]) =>
      site.admin('POST', '/admin/api-keys/replace', { version, keys: [{ ...entry, allowed_models: models }] });
    await push('2', ['other']);
    const token = tokenForB();
    assert.equal(await outcomeOf(follow(site, token)), '403 model_forbidden');
    assert.equal(await outcomeOf(follow(site, token, { body: '{}' })), '401 unauthorized');
    await push('3', ['m']);
    assert.equal((await follow(site, token)).status, 200);
    assert.deepEqual(await rejections(site), counted({ body: 1 }));
  });

  it('by a clock that ran ahead: it works once, when the clock is right again (S61)', async () => {
    const site = siteB();
    const token = tokenForB();
    site.nowMs += 600_000;
    assert.equal((await follow(site, token)).status, 401);
    site.nowMs -= 600_000;
    assert.equal((await follow(site, token)).status, 200);
    assert.equal((await follow(site, token)).status, 401);
    assert.deepEqual(await rejections(site), counted({ expired: 1, replay: 1 }));
  });
});
