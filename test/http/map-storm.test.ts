// Pushes of sibling maps beside other requests, and beside each other: long work in turns, one map for one request.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAP_MAX_BYTES } from '../../src/site/sibling-map.ts';
import { bearer, FIXTURE_MAP, pauseAtEachStep, placement } from '../support/test-router.ts';
import { held, PATH, push } from './map-pushing.ts';
import { CHAT, CHAT_BODY, claimsOf, locationOf, scope, siteA } from './redirect-fixture.ts';

describe('/admin/sibling-map, beside other requests', () => {
  it('gives each of many requests under way one whole map (R-163)', async () => {
    const maps = [1, 2].map((number) => ({
      ...FIXTURE_MAP,
      version: 2,
      sites: FIXTURE_MAP.sites.map((entry) => ({ ...entry, url: `https://map-${number}-${entry.id}.example.com` })),
      placements: [placement('m', 'chat', number === 1 ? 'site-fr-2' : 'site-de-1')],
    }));
    const site = siteA();
    const headers = { ...bearer('key-1'), 'x-hivenet-scope': 'EU' };
    await push(site, maps[0]);
    const asked = Array.from({ length: 60 }, async (_, index) => {
      if (index % 3 === 0) await push(site, maps[index % 2]);
      return locationOf(await site.ask(CHAT, CHAT_BODY, headers)).hostname;
    });
    const seen = new Set(await Promise.all(asked));
    assert.deepEqual([...seen].sort(), ['map-1-site-fr-2.example.com', 'map-2-site-de-1.example.com']);
  });

  it('redirects each request by one whole map, under a storm of pushes of two maps without a common site (R-163)', async () => {
    const site = siteA();
    pauseAtEachStep(site);
    const storm = [1, 2].map((number) => ({
      ...FIXTURE_MAP,
      // The number shows in the target's ID, in its URL and, as the own site's country, in the token's scope.
      sites: ['site-fr-1', `site-${number}`].map((id) => ({
        id,
        url: `https://map-${number}-${id}.example.com`,
        country: number === 1 ? 'FR' : 'DE',
        eu: true,
      })),
      placements: [
        placement('m', 'chat', `site-${number}`),
        ...Array.from({ length: 1_200 }, (_, index) => placement(`other-${index}`, 'chat', `site-${number}`)),
      ],
    }));
    await push(site, storm[0]);
    const seen = new Map<string, number>();
    let isOver = false;
    const pushing = async () => {
      for (let count = 0; count < 40; count += 1) {
        assert.equal(await push(site, storm[count % 2]), '200 {"ok":true,"version":1}');
      }
      isOver = true;
    };
    const asking = async () => {
      while (!isOver) {
        const response = await site.ask(CHAT, CHAT_BODY, bearer('key-1'));
        const { target, scope } = claimsOf(response);
        const what = `${locationOf(response).hostname} ${target} ${JSON.stringify(scope)}`;
        seen.set(what, (seen.get(what) ?? 0) + 1);
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
    };
    await Promise.all([pushing(), asking(), asking(), asking(), asking()]);
    assert.deepEqual([...seen.keys()].sort(), [
      `map-1-site-1.example.com site-1 ${JSON.stringify(scope('country:FR'))}`,
      `map-2-site-2.example.com site-2 ${JSON.stringify(scope('country:DE'))}`,
    ]);
    for (const [what, count] of seen) assert.ok(count >= 20, `${what}: ${count}`);
  });

  it('decides pushes in the order in which they came, also when a later one is read faster (R-163, R-166)', async () => {
    const site = siteA();
    pauseAtEachStep(site);
    const many = Array.from({ length: 3_000 }, (_, index) => placement(`m-${index}`, 'chat', 'site-fr-2'));
    const answers = await Promise.all([
      push(site, { ...FIXTURE_MAP, version: 7, placements: many }),
      push(site, { ...FIXTURE_MAP, version: 6 }),
      push(site, { ...FIXTURE_MAP, version: 8, region: '' }),
      push(site, { ...FIXTURE_MAP, version: 8 }),
    ]);
    assert.deepEqual(
      answers.map((answer) => answer.slice(0, 3)),
      ['200', '409', '400', '200'],
    );
    assert.match(await held(site), /"version":8,/);
  });

  it('refuses a push with 503 when four of the largest are under way, and keeps the map (D-60)', async () => {
    const site = siteA();
    pauseAtEachStep(site);
    const before = await held(site);
    const nonsense = new Uint8Array(MAP_MAX_BYTES).fill(0x78);
    const answers = await Promise.all(Array.from({ length: 5 }, () => site.admin('POST', PATH, nonsense)));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [400, 400, 400, 400, 503]);
    const refused = answers.find(({ status }) => status === 503);
    assert.equal(refused?.headers.get('retry-after'), '1');
    assert.equal(await refused?.text(), '{"error":"too many sibling maps are being pushed at once"}');
    assert.equal(await held(site), before);
    assert.match(await push(site, FIXTURE_MAP), /^200 /);
  });

  it('shows a long map piece by piece, and ends its record with the last one', async () => {
    const site = siteA();
    const many = Array.from({ length: 3_000 }, (_, index) => placement(`m-${index}`, 'chat', 'site-fr-2'));
    await push(site, { ...FIXTURE_MAP, placements: many });
    assert.deepEqual(JSON.parse(await held(site)), { ...FIXTURE_MAP, placements: many });
    assert.equal(site.accessLines.at(-1)?.['status_code'], 200);
    assert.equal((await site.admin('HEAD', PATH)).status, 200);
    assert.equal(site.ports.active.count, 0);
    const left = await site.admin('GET', PATH);
    assert.equal(site.ports.active.count, 1);
    await left.body?.cancel();
    assert.equal(site.ports.active.count, 0);
    assert.equal(site.accessLines.at(-1)?.['status_code'], 499);
    assert.equal(site.accessLines.at(-1)?.['error_code'], 'client_gone');
  });
});
