// No chain of redirects is longer than two, and none leads back, whatever maps, secrets, URLs and clients do.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, FIXTURE_MAP, placement } from '../support/test-router.ts';
import { Fleet, SITE_IDS, type SiteWorld } from './fleet.ts';
import {
  CHAT,
  CHAT_BODY,
  claimsOf,
  errorOf,
  follow,
  outcomeOf,
  siteA,
  siteB,
  siteId,
  tokenForB,
} from './redirect-fixture.ts';

const OTHER_SECRETS = 'k1:another-secret-another-secret-0000';

function world(view: string, hasAgent = false, more: Partial<SiteWorld> = {}): SiteWorld {
  return { view: [...view].map((letter) => `site-${letter}`), hasAgent, ...more };
}

describe('the loop guard', () => {
  it('reads the hop count from the token alone (R-137)', async () => {
    const headers = { 'x-hop': '2', hop: '2', 'x-hivenet-hop': '2', ...bearer('key-1') };
    assert.equal(claimsOf(await siteA().ask(`${CHAT}?hop=2&hops=2`, CHAT_BODY, headers)).hop, 1);
    const map = { ...FIXTURE_MAP, placements: [placement('m', 'chat', 'site-de-1')] };
    const token = tokenForB({ hop: 2, scope: { kind: 'eu' } });
    const again = follow(siteB({ map, agents: [] }), `${token}&hop=0`, { headers: { hop: '0' } });
    assert.equal(await outcomeOf(again), '404 model_not_found');
  });

  it('never names the origin in a second redirect, and ends here when only the origin is left (R-038, R-139)', async () => {
    const placements = ['site-fr-1', 'site-de-1'].map((name) => placement('m', 'chat', name));
    const all = { scope: { kind: 'all' } } as const;
    const both = siteB({ map: { ...FIXTURE_MAP, placements }, agents: [] });
    for (let count = 0; count < 16; count += 1) {
      const response = await follow(both, tokenForB(all), { headers: { 'x-session-id': `s-${count}` } });
      assert.equal(claimsOf(response).target, 'site-de-1');
    }
    const back = siteB({ map: { ...FIXTURE_MAP, placements: placements.slice(0, 1) }, agents: [] });
    assert.equal(await outcomeOf(follow(back, tokenForB(all))), '404 model_not_found');
  });

  it('serves what arrives with two hops if it can, and else fails as usual (R-140, R-025)', async () => {
    const map = { ...FIXTURE_MAP, placements: [placement('m', 'chat', 'site-de-1')] };
    const hop2 = () => tokenForB({ hop: 2, origin: siteId('site-us-1'), scope: { kind: 'all' } });
    assert.equal(await outcomeOf(follow(siteB({ map }), hop2())), '200');
    assert.equal(await outcomeOf(follow(siteB({ map, agents: [] }), hop2())), '404 model_not_found');
    const down = siteB({ map, agents: [{ models: ['m'], down: true }] });
    assert.equal(await outcomeOf(follow(down, hop2())), '503 no_agents_available');
  });
});

describe('the 404 of a request that nobody here serves', () => {
  const map = { ...FIXTURE_MAP, placements: [placement('m', 'chat', 'site-de-1')] };
  const scope = { kind: 'all' } as const;
  const where = async (answer: Promise<Response>): Promise<string> => {
    const { message } = await errorOf(await answer);
    return String(message).replace(`No agent serves the model "m" at ${CHAT}, `, '');
  };
  const BARRED = 'here, and this request may not be redirected any further.';

  it('says so when the request was redirected twice, and when its token did not verify, in the same words', async () => {
    const site = siteB({ map, agents: [] });
    assert.equal(await where(follow(site, tokenForB({ hop: 2, origin: siteId('site-us-1'), scope }))), BARRED);
    const headers = { ...bearer('key-1'), 'x-hivenet-scope': 'all' };
    for (const token of ['', 'garbage', tokenForB({ scope }).slice(0, -1)]) {
      assert.equal(await where(follow(site, token, { headers })), BARRED, token);
    }
  });

  it('says so when its query leaves no room for a token', async () => {
    const answer = siteA().ask(`${CHAT}?x=${'x'.repeat(4_096)}`, CHAT_BODY, bearer('key-1'));
    assert.equal(await where(answer), 'here, and key ID or query are too long for a redirect.');
  });

  it('says that nobody within reach serves it when a redirect was allowed, or there are none', async () => {
    const nobody = { map: { ...map, placements: [] } };
    for (const settings of [nobody, { siteId: '' }]) {
      const answer = siteA(settings).ask(CHAT, CHAT_BODY, bearer('key-1'));
      assert.equal(await where(answer), 'here or at a site within reach.');
    }
  });
});

describe('a chain over three sites', () => {
  it('serves within one redirect when the maps agree (R-008)', async () => {
    const fleet = new Fleet({ 'site-a': world('b'), 'site-b': world('b', true), 'site-c': world('b') });
    for (const start of ['site-a', 'site-c']) {
      const { status, asked } = await fleet.ask(start, { keepsKey: false });
      assert.deepEqual({ status, asked }, { status: 200, asked: [start, 'site-b'] });
    }
  });

  it('serves within two redirects when one map is stale (R-138, R-199)', async () => {
    const fleet = new Fleet({ 'site-a': world('b'), 'site-b': world('c'), 'site-c': world('c', true) });
    const { status, asked, response } = await fleet.ask('site-a', { keepsKey: false });
    assert.deepEqual({ status, asked }, { status: 200, asked: ['site-a', 'site-b', 'site-c'] });
    await response.arrayBuffer();
    const ids = [...fleet.routers.values()].map((router) => router.accessLines.at(-1)?.['request_id']);
    assert.equal(new Set(ids).size, 1, 'one request ID in all three access logs (R-209)');
    const hops = await Promise.all(
      [...fleet.routers.values()].map((router) => router.family('hivenet_redirects_total')),
    );
    assert.deepEqual(hops, [
      ['hivenet_redirects_total{model="m",site="site-b",hop="1"} 1'],
      ['hivenet_redirects_total{model="m",site="site-c",hop="2"} 1'],
      [],
    ]);
  });

  it('ends in 404 after two redirects when every map points further on (R-138)', async () => {
    const fleet = new Fleet({ 'site-a': world('bc'), 'site-b': world('ac'), 'site-c': world('ab') });
    for (const start of SITE_IDS) {
      const { status, asked, named } = await fleet.ask(start, { keepsKey: false });
      assert.equal(status, 404);
      assert.equal(new Set(asked).size, 3, asked.join(' '));
      assert.ok(!named.includes(start));
    }
  });

  it('does not loop between two sites of different secrets whose client keeps its key (R-123, T3 of clients.md)', async () => {
    const fleet = new Fleet({
      'site-a': world('b'),
      'site-b': world('a', false, { secrets: OTHER_SECRETS }),
      'site-c': world(''),
    });
    const { status, asked } = await fleet.ask('site-a', { keepsKey: true });
    assert.deepEqual({ status, asked }, { status: 404, asked: ['site-a', 'site-b'] });
  });

  it('does not loop when the URL of a site leads back (R-138)', async () => {
    const fleet = new Fleet({
      'site-a': world('b'),
      'site-b': world('a', false, { misroutedTo: 'site-a' }),
      'site-c': world(''),
    });
    const kept = await fleet.ask('site-a', { keepsKey: true });
    assert.ok(kept.named.length <= 2, kept.named.join(' '));
    const dropped = await fleet.ask('site-a', { keepsKey: false });
    assert.deepEqual({ status: dropped.status, named: dropped.named }, { status: 401, named: ['site-b'] });
  });
});
