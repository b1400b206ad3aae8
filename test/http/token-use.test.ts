// When a token is used up: once, by the request that passes every check, whatever comes at the same time, slowly, late
// or with a clock that steps.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, FIXTURE_MAP, NOW_MS, placement, type TestRouter } from '../support/test-router.ts';
import { untouched } from './body-reading.ts';
import {
  CHAT,
  CHAT_BODY,
  claimsForB,
  claimsOf,
  counted,
  follow,
  outcomeOf,
  rejections,
  sendStream,
  siteA,
  siteB,
  slowBody,
  TOKEN_REQUEST_ID,
  tokenForB,
} from './redirect-fixture.ts';

/** A request with `token` at B whose body comes when the test calls `finish`. */
function beginUpload(site: TestRouter, token: string, text?: string) {
  const { stream, finish } = slowBody(text);
  const answer = sendStream(site, `${CHAT}?rt=${token}`, stream);
  return {
    finish: async () => {
      finish();
      return (await answer).status;
    },
  };
}

describe('single use', () => {
  it('serves a token once (R-110, T-02)', async () => {
    const site = siteB();
    const token = tokenForB();
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await follow(site, token)).status);
    assert.deepEqual(statuses, [200, 401, 401]);
    assert.deepEqual(await rejections(site), counted({ replay: 2 }));
    assert.equal(site.engineCalls.length, 1);
    assert.ok(!site.written.some((line) => line.includes('ledger')), 'only a full ledger is worth a warning');
  });

  it('serves exactly one of 100 concurrent requests with one token (R-111, T-07)', async () => {
    const site = siteB({ agents: [{ models: ['m'], capacity: 1_000 }] });
    const token = tokenForB();
    const answers = await Promise.all(Array.from({ length: 100 }, () => follow(site, token)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    assert.equal(answers.filter(({ status }) => status === 401).length, 99);
    assert.deepEqual(await rejections(site), counted({ replay: 99 }));
    assert.equal(site.engineCalls.length, 1);
  });

  it('serves exactly one of 100 whose bodies all arrive slowly and end together (R-111, T-08)', async () => {
    const site = siteB({ agents: [{ models: ['m'], capacity: 1_000 }] });
    const token = tokenForB();
    const uploads = Array.from({ length: 100 }, () => beginUpload(site, token));
    const statuses = await Promise.all(uploads.map((upload) => upload.finish()));
    assert.equal(statuses.filter((status) => status === 200).length, 1);
    assert.deepEqual(await rejections(site), counted({ replay: 99 }));
  });

  it('goes by the token ID alone: two tokens of one request ID and body both work (R-115, T-04)', async () => {
    const site = siteB();
    for (const token of [tokenForB(), tokenForB()]) assert.equal((await follow(site, token)).status, 200);
  });

  it('is no matter of another key, which sends the same request ID and body first (R-115, T-04)', async () => {
    const site = siteB({ extraKeys: [{ id: 'key-3', secret: 'sk-three' }] });
    const token = tokenForB();
    const ids = { 'x-request-id': TOKEN_REQUEST_ID, 'x-client-request-id': TOKEN_REQUEST_ID };
    const asked = await site.ask(CHAT, CHAT_BODY, { ...ids, authorization: 'Bearer sk-three' });
    assert.equal(asked.status, 200);
    assert.equal((await follow(site, tokenForB({ keyId: 'key-3' }))).status, 200);
    assert.equal(site.accessLines.at(-1)?.['request_id'], TOKEN_REQUEST_ID);
    assert.equal((await follow(site, token)).status, 200);
    assert.deepEqual(await rejections(site), counted());
  });

  it('gives a new token to a client that repeats its request at the original URL (R-213)', async () => {
    const [a, b] = [siteA(), siteB()];
    for (let count = 0; count < 3; count += 1) {
      const location = new URL(String((await a.ask(CHAT, CHAT_BODY, bearer('key-1'))).headers.get('location')));
      assert.equal((await b.ask(location.pathname + location.search, CHAT_BODY)).status, 200);
    }
  });

  it('is per router, not per site: another router of B takes the token once too (R-211, T-05)', async () => {
    const token = tokenForB();
    const [one, other] = [siteB(), siteB()];
    for (const status of [200, 401]) {
      assert.equal((await follow(one, token)).status, status);
      assert.equal((await follow(other, token)).status, status);
    }
  });

  it('is forgotten by a restart: refused until the map is pushed, then taken once more while it lives (R-211, T-06)', async () => {
    const token = tokenForB();
    assert.equal((await follow(siteB(), token)).status, 200);
    const restarted = siteB({ map: undefined });
    assert.equal((await follow(restarted, token)).status, 401);
    assert.equal((await restarted.admin('POST', '/admin/sibling-map', FIXTURE_MAP)).status, 200);
    const statuses = [];
    for (let count = 0; count < 2; count += 1) statuses.push((await follow(restarted, token)).status);
    assert.deepEqual(statuses, [200, 401]);
    assert.deepEqual(await rejections(restarted), counted({ scope: 1, replay: 1 }));
  });

  it('needs no key but the URL and the body, as the page warns (R-212)', async () => {
    const response = await follow(siteB(), tokenForB(), { headers: { 'user-agent': 'somebody else' } });
    assert.equal(response.status, 200);
  });
});

describe('a token that stays used', () => {
  it('when the accepted request fails afterwards (R-133)', async () => {
    const cases: readonly (readonly [TestRouter, string])[] = [
      [siteB({ agents: [] }), '404 model_not_found'],
      [siteB({ agents: [{ models: ['m'], down: true }] }), '503 no_agents_available'],
      [siteB({ engine: async () => new Response('busy', { status: 429 }) }), '503 backend_unavailable'],
    ];
    for (const [site, outcome] of cases) {
      const token = tokenForB();
      assert.equal(await outcomeOf(follow(site, token)), outcome);
      assert.equal(await outcomeOf(follow(site, token)), '401 unauthorized');
      assert.deepEqual(await rejections(site), counted({ replay: 1 }));
    }
  });

  it('when it leads to a second redirect (R-136)', async () => {
    const site = siteB({ map: { ...FIXTURE_MAP, placements: [placement('m', 'chat', 'site-de-1')] }, agents: [] });
    const token = tokenForB({ scope: { kind: 'eu' } });
    assert.equal(claimsOf(await follow(site, token)).hop, 2);
    assert.equal((await follow(site, token)).status, 401);
  });

  it('until its last valid millisecond (R-116)', async () => {
    const site = siteB();
    const token = tokenForB();
    await follow(site, token);
    site.nowMs = NOW_MS + 65_000;
    await follow(site, token);
    site.nowMs += 1;
    await follow(site, token);
    assert.deepEqual(await rejections(site), counted({ replay: 1, expired: 1 }));
  });

  it('when the clock jumps ahead and back again (R-116, T-09)', async () => {
    const site = siteB();
    const token = tokenForB();
    await follow(site, token);
    site.nowMs += 600_000;
    await follow(site, tokenForB({ issuedMs: site.nowMs }));
    site.nowMs -= 600_000;
    assert.equal((await follow(site, token)).status, 401);
    assert.equal((await rejections(site)).expired, 1);
  });
});

describe('a body that takes its time', () => {
  it('is judged by the arrival of its head: it may outlive the token (A8, clients.md 7)', async () => {
    const site = siteB();
    site.nowMs = NOW_MS + 65_000;
    const upload = beginUpload(site, tokenForB());
    site.nowMs += 30_000;
    assert.equal(await upload.finish(), 200);
  });

  it('is judged by the first reading of the clock, not by a later one (A8)', async () => {
    const site = siteB();
    let readings = 0;
    Object.defineProperty(site, 'nowMs', { get: () => NOW_MS + 65_000 + readings++ });
    assert.equal((await follow(site, tokenForB())).status, 200);
    assert.ok(readings > 1);
  });

  it('is refused once the ID of its token could have been forgotten (R-117, T-08)', async () => {
    const site = siteB();
    const token = tokenForB();
    const late = beginUpload(site, token);
    assert.equal(await beginUpload(site, token).finish(), 200);
    site.nowMs = NOW_MS + 65_000 + 90_000;
    assert.equal(await late.finish(), 401);
    assert.deepEqual(await rejections(site), counted({ expired: 1 }));
  });

  it('does not outlive its key: disabled or deleted meanwhile is refused as key (R-104, R-226)', async () => {
    const site = siteB();
    const upload = beginUpload(site, tokenForB());
    await site.admin('POST', '/admin/api-keys/replace', { version: '2', keys: [] });
    assert.equal(await upload.finish(), 401);
    assert.deepEqual(await rejections(site), counted({ key: 1 }));
  });

  it('of an ordinary request is served although its key is deleted meanwhile (R-226, T-21)', async () => {
    const site = siteB();
    const { stream, finish } = slowBody();
    const answer = sendStream(site, CHAT, stream, bearer('key-1'));
    await site.admin('POST', '/admin/api-keys/replace', { version: '2', keys: [] });
    finish();
    assert.equal((await answer).status, 200);
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '401 unauthorized');
  });

  it('is not waited for when checks 1 to 6 refuse: no byte of it is read (R-113)', async () => {
    for (const token of ['x', `${tokenForB()}x`, tokenForB({ issuedMs: 0 }), tokenForB({ keyId: 'key-dis' })]) {
      const response = await sendStream(siteB(), `${CHAT}?rt=${token}`, untouched(), { 'content-length': '10485760' });
      assert.equal(await outcomeOf(response), '401 unauthorized');
    }
  });

  it('is not waited for without a key either (R-113)', async () => {
    const { stream } = slowBody();
    assert.equal(await outcomeOf(sendStream(siteA(), CHAT, stream)), '401 unauthorized');
  });
});

describe('a full ledger', () => {
  it('refuses new tokens as replay and forgets none (R-118, D-43, T-10)', async () => {
    const site = siteB({ ledgerMax: 3 });
    const tokens = Array.from({ length: 4 }, () => tokenForB());
    const statuses = [];
    for (const token of tokens) statuses.push((await follow(site, token)).status);
    assert.deepEqual(statuses, [200, 200, 200, 401]);
    assert.equal((await follow(site, tokens[0] ?? '')).status, 401);
    assert.deepEqual(await rejections(site), counted({ replay: 2 }));
  });

  it('is told in the log, once a minute (R-118, D-43)', async () => {
    const site = siteB({ ledgerMax: 1 });
    await follow(site, tokenForB());
    const lines = () => site.written.filter((line) => line.includes('ledger'));
    assert.equal(lines().length, 0);
    for (let count = 0; count < 5; count += 1) await follow(site, tokenForB());
    assert.equal(lines().length, 1);
    site.nowMs += 60_000;
    await follow(site, tokenForB({ issuedMs: site.nowMs }));
    assert.equal(lines().length, 2);
  });

  it('takes tokens again once the old ones have ended (D-42)', async () => {
    const site = siteB({ ledgerMax: 1 });
    await follow(site, tokenForB());
    site.nowMs += 65_000 + 61_000;
    assert.equal((await follow(site, tokenForB({ issuedMs: site.nowMs }))).status, 200);
  });
});

describe('the claims that a test makes', () => {
  it('are those of a request that B serves, or every refusal here would prove nothing (R-092)', async () => {
    assert.equal(claimsForB().target, 'site-fr-2');
    assert.equal((await follow(siteB(), tokenForB())).status, 200);
  });
});
