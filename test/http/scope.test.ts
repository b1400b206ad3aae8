// The scope on the wire: asked for by header, carried by the token, never widened.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatScope } from '../../src/site/scope.ts';
import { bearer, FIXTURE_MAP, placement, type TestRouter } from '../support/test-router.ts';
import {
  CHAT,
  CHAT_BODY,
  claimsOf,
  errorOf,
  follow,
  locationOf,
  outcomeOf,
  scope,
  siteA,
  siteB,
  tokenForB,
} from './redirect-fixture.ts';

const SCOPE = 'x-hivenet-scope';

/** The hosts that 40 sessions of one key, asked for with `header`, are sent to. */
async function targets(site: TestRouter, header?: string): Promise<readonly string[]> {
  const hosts = new Set<string>();
  for (let session = 0; session < 40; session += 1) {
    const headers = {
      ...bearer('key-1'),
      'x-session-id': `s-${session}`,
      ...(header === undefined ? {} : { [SCOPE]: header }),
    };
    hosts.add(locationOf(await site.ask(CHAT, CHAT_BODY, headers)).hostname.split('.')[0] ?? '');
  }
  return [...hosts].sort();
}

describe('X-Hivenet-Scope', () => {
  it('country:XX reaches the sites of exactly that country (R-060)', async () => {
    assert.deepEqual(await targets(siteA(), 'country:DE'), ['site-de-1']);
    assert.deepEqual(await targets(siteA(), 'country:US'), ['site-us-1']);
    assert.deepEqual(await targets(siteA(), 'country:FR'), ['site-fr-2']);
  });

  it('EU reaches the sites that the map says are in the EU (R-061)', async () => {
    assert.deepEqual(await targets(siteA(), 'EU'), ['site-de-1', 'site-fr-2']);
  });

  it('all reaches every site in the map (R-062, R-072)', async () => {
    const foreign = ['site-de-1', 'site-us-1'].map((site) => placement('m', 'chat', site));
    assert.deepEqual(await targets(siteA({ map: { ...FIXTURE_MAP, placements: foreign } }), 'all'), [
      'site-de-1',
      'site-us-1',
    ]);
  });

  it('is the country of this site when absent, even if only foreign sites have the model (R-063, R-064)', async () => {
    assert.deepEqual(await targets(siteA()), ['site-fr-2']);
    const site = siteA({ map: { ...FIXTURE_MAP, placements: [placement('m', 'chat', 'site-de-1')] } });
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '404 model_not_found');
  });

  it('is no bound on serving here (D-06)', async () => {
    const site = siteA({ agents: [{ models: ['m'] }] });
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, { ...bearer('key-1'), [SCOPE]: 'country:DE' })), '200');
  });

  const refused = [
    'eu',
    'Eu',
    'ALL',
    'All',
    '',
    'country:',
    'country:fr',
    'country:FRA',
    'country:UK',
    'country:XK',
    'country:EU',
    'country:ZZ',
    'COUNTRY:FR',
    'country: FR',
    'FR',
    'EU,all',
    'EU, all',
    'EU;x',
    'country:FR,',
    '*',
    'null',
    '\u0432\u0441\u0435',
  ];
  for (const value of refused) {
    it(`refuses ${JSON.stringify(value)} with 400, with and without an agent or a map (R-065, R-066)`, async () => {
      // A header is bytes: what a client sends in UTF-8 arrives as Latin-1 characters.
      const header = Buffer.from(value, 'utf8').toString('latin1');
      const sites = [siteA(), siteA({ agents: [{ models: ['m'] }] }), siteA({ map: undefined })];
      for (const site of sites) {
        const response = await site.ask(CHAT, CHAT_BODY, { ...bearer('key-1'), [SCOPE]: header });
        assert.equal(response.status, 400);
        const error = await errorOf(response);
        assert.equal(error['code'], 'request_invalid');
        assert.match(String(error['message']), /^X-Hivenet-Scope must be/);
        assert.deepEqual(site.engineCalls, []);
      }
    });
  }

  it('refuses two header lines (R-065, D-20)', async () => {
    const headers = new Headers(bearer('key-1'));
    headers.append(SCOPE, 'EU');
    headers.append(SCOPE, 'EU');
    const response = await siteA().send(CHAT, { method: 'POST', headers, body: CHAT_BODY });
    assert.equal(response.status, 400);
  });

  it('is read after the key: 401 for a caller that nobody knows (R-067)', async () => {
    assert.equal(await outcomeOf(siteA().ask(CHAT, CHAT_BODY, { [SCOPE]: 'eu' })), '401 unauthorized');
  });

  it('redirects nothing without a scope while this site is in no map, and says 404 (R-068, R-007)', async () => {
    const site = siteA({ map: undefined });
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '404 model_not_found');
  });

  it('stands in the token (R-069)', async () => {
    const site = siteA();
    for (const header of ['EU', 'all', 'country:DE']) {
      const response = await site.ask(CHAT, CHAT_BODY, { ...bearer('key-1'), [SCOPE]: header });
      assert.equal(formatScope(claimsOf(response).scope), header);
    }
    assert.equal(formatScope(claimsOf(await site.ask(CHAT, CHAT_BODY, bearer('key-1'))).scope), 'country:FR');
  });

  it('of the token alone counts for a second redirect, which keeps it (R-071, R-134)', async () => {
    const sites = [
      ...FIXTURE_MAP.sites,
      { id: 'site-fr-3', url: 'https://site-fr-3.example.com', country: 'FR', eu: true },
    ];
    const placements = [placement('m', 'chat', 'site-de-1'), placement('m', 'chat', 'site-fr-3')];
    const map = { ...FIXTURE_MAP, sites, placements };
    for (const header of ['all', 'country:DE', 'eu', '']) {
      const b = siteB({ map, agents: [] });
      const response = await follow(b, tokenForB(), { headers: { [SCOPE]: header } });
      assert.equal(locationOf(response).hostname, 'site-fr-3.example.com', header);
      assert.deepEqual(claimsOf(response).scope, scope('country:FR'));
    }
    const wide = await follow(siteB({ map, agents: [] }), tokenForB({ scope: scope('EU') }), {
      headers: { [SCOPE]: 'country:DE' },
    });
    assert.deepEqual(claimsOf(wide).scope, scope('EU'));
  });

  it('is ignored on an accepted request, even when invalid (R-134, D-22)', async () => {
    assert.equal(await outcomeOf(follow(siteB(), tokenForB(), { headers: { [SCOPE]: 'eu' } })), '200');
  });

  it('is ignored on every other route (R-073, D-21)', async () => {
    const site = siteA();
    for (const path of ['/v1/models', '/v1/models/m', '/health', '/health/ready']) {
      assert.equal((await site.send(path, { headers: { ...bearer('key-1'), [SCOPE]: 'eu' } })).status, 200, path);
    }
  });
});
