// An accepted token: whose request it is, under which IDs, for which model, and what happens to it next.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, FIXTURE_MAP, placement } from '../support/test-router.ts';
import {
  CHAT,
  CHAT_BODY,
  claimsOf,
  counted,
  follow,
  outcomeOf,
  rejections,
  sha256Hex,
  siteA,
  siteB,
  siteId,
  TOKEN_REQUEST_ID,
  tokenForB,
} from './redirect-fixture.ts';

const CLIENT_ID = '018F6B1E-7C1A-7000-8000-0123456789AB';
const OTHER_ID = 'ffffffff-ffff-4fff-8fff-ffffffffffff';

describe('an accepted token', () => {
  it('is served on its own key (R-127)', async () => {
    const site = siteB();
    await follow(site, tokenForB());
    const { key_id, model, agent_id, origin_site, hop } = site.accessLines.at(-1) ?? {};
    assert.deepEqual({ key_id, model, agent_id }, { key_id: 'key-1', model: 'm', agent_id: 'agent-1' });
    assert.deepEqual({ origin_site, hop }, { origin_site: 'site-fr-1', hop: 1 });
    assert.deepEqual(await rejections(site), counted());
  });

  it('keeps the first router’s request ID, whatever the headers say (R-128)', async () => {
    const site = siteB();
    const headers = { 'x-request-id': OTHER_ID, 'x-client-request-id': OTHER_ID };
    const response = await follow(site, tokenForB(), { headers });
    assert.equal(response.headers.get('x-request-id'), TOKEN_REQUEST_ID);
    assert.equal(site.accessLines.at(-1)?.['request_id'], TOKEN_REQUEST_ID);
    assert.equal(site.engineCalls[0]?.headers.get('x-request-id'), TOKEN_REQUEST_ID);
  });

  it('brings the client’s own ID along verbatim, or none (R-129)', async () => {
    const site = siteB();
    const headers = { 'x-request-id': OTHER_ID, 'x-client-request-id': OTHER_ID };
    const withId = await follow(site, tokenForB({ clientRequestId: CLIENT_ID }), { headers });
    assert.equal(withId.headers.get('x-client-request-id'), CLIENT_ID);
    assert.equal(site.accessLines.at(-1)?.['client_request_id'], CLIENT_ID);
    const without = await follow(site, tokenForB(), { headers });
    assert.equal(without.headers.get('x-client-request-id'), null);
    assert.equal(site.accessLines.at(-1)?.['client_request_id'], undefined);
  });

  it('is routed on its own model, and the engine is sent that one, all other bytes as they came (R-130, D-38)', async () => {
    const body = '{ "seed":12345678901234567890,\n"model" : "auto" ,"x":1.0e2}';
    const site = siteB({ agents: [{ models: ['auto'] }, { models: ['llama-3-70b'] }] });
    const token = tokenForB({ model: 'llama-3-70b', bodyHash: sha256Hex(body) });
    assert.equal((await follow(site, token, { body })).status, 200);
    const [call] = site.engineCalls;
    assert.equal(call?.url, `http://10.0.0.2:8000${CHAT}`);
    assert.equal(new TextDecoder().decode(call?.body), body.replace('"auto"', '"llama-3-70b"'));
    assert.equal(site.accessLines.at(-1)?.['model'], 'llama-3-70b');
  });

  it('is redirected on its own model too (R-089, R-130)', async () => {
    const body = '{"model":"auto"}';
    const map = {
      ...FIXTURE_MAP,
      placements: [placement('llama', 'chat', 'site-de-1'), placement('auto', 'chat', 'site-fr-1')],
    };
    const site = siteB({ map, agents: [] });
    const token = tokenForB({ model: 'llama', bodyHash: sha256Hex(body), scope: { kind: 'eu' } });
    const claims = claimsOf(await follow(site, token, { body }));
    assert.equal(claims.model, 'llama');
    assert.equal(claims.bodyHash, sha256Hex(body));
  });

  it('sends the engine the very bytes that were hashed when the model is the one sent (R-219)', async () => {
    const body = '{"model":"m" , "é":"\\u00e9", "n":1e400}';
    const site = siteB();
    await follow(site, tokenForB({ bodyHash: sha256Hex(body) }), { body });
    assert.equal(sha256Hex(site.engineCalls[0]?.body ?? ''), sha256Hex(body));
  });

  it('holds its key to the models that it may use here (R-131)', async () => {
    const site = siteB();
    const token = tokenForB({ keyId: 'key-2' });
    assert.equal(await outcomeOf(follow(site, token)), '403 model_forbidden');
    assert.deepEqual(site.engineCalls, []);
    assert.deepEqual(await rejections(site), counted());
  });

  it('names a body that is no request: 400, after the token has passed (R-133)', async () => {
    const site = siteB();
    const token = tokenForB({ bodyHash: sha256Hex('{}') });
    assert.equal(await outcomeOf(follow(site, token, { body: '{}' })), '400 request_invalid');
    assert.equal(await outcomeOf(follow(site, token, { body: '{}' })), '401 unauthorized');
  });

  it('forbids caches to keep the answer, unless the engine said something of it (D-51)', async () => {
    assert.equal((await follow(siteB(), tokenForB())).headers.get('cache-control'), 'no-store');
    const engine = async () => Response.json({}, { headers: { 'cache-control': 'private' } });
    assert.equal((await follow(siteB({ engine }), tokenForB())).headers.get('cache-control'), 'private');
    const local = await siteB().ask(CHAT, CHAT_BODY, bearer('key-1'));
    assert.equal(local.headers.get('cache-control'), null);
  });

  it('goes through the steps of any request: served, redirected once more, or at its end (R-136, R-025)', async () => {
    const map = { ...FIXTURE_MAP, placements: [placement('m', 'chat', 'site-de-1')] };
    const eu = { scope: { kind: 'eu' } } as const;
    assert.equal(await outcomeOf(follow(siteB({ map }), tokenForB(eu))), '200');
    const second = await follow(siteB({ map, agents: [] }), tokenForB(eu));
    assert.deepEqual([claimsOf(second).hop, claimsOf(second).target], [2, 'site-de-1']);
    const third = follow(siteB({ map, agents: [] }), tokenForB({ ...eu, hop: 2, origin: siteId('site-us-1') }));
    assert.equal(await outcomeOf(third), '404 model_not_found');
  });

  it('may bring its own key along as either header, and nothing of it reaches the engine (R-106, R-221)', async () => {
    const site = siteB();
    for (const headers of [bearer('key-1'), { 'x-api-key': 'sk-one' }, { ...bearer('key-1'), 'x-api-key': 'sk-one' }]) {
      assert.equal((await follow(site, tokenForB(), { headers: headers as Record<string, string> })).status, 200);
    }
    for (const { headers } of site.engineCalls) assert.ok(!JSON.stringify([...headers]).includes('sk-one'));
  });

  it('leaves A free of everything: nothing but the 307 happens there (R-027, R-132)', async () => {
    const site = siteA({ agents: [{ models: ['here'], capacity: 1 }] });
    for (let count = 0; count < 20; count += 1) {
      assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '307 model_redirected');
    }
    const [agent] = site.ports.agents.all();
    assert.deepEqual([agent?.active, agent?.isLeaving], [0, false]);
    assert.deepEqual(site.engineCalls, []);
    assert.equal(site.ports.redirect?.ledger.size, 0);
    assert.equal(await site.metric('http_server_active_requests'), 0);
    // The one slot is free: what is served here is admitted as if nothing had been.
    assert.equal(await outcomeOf(site.ask(CHAT, { model: 'here' }, bearer('key-1'))), '200');
    assert.equal(site.engineCalls.length, 1);
  });
});
