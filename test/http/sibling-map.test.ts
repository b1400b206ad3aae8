// The admin API of the sibling map. What makes a document valid is tested in test/site.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAP_MAX_BYTES } from '../../src/site/sibling-map.ts';
import { FIELD_RULES, nth } from '../site/field-rules.ts';
import { edited, textOf, VALID_MAP } from '../site/map-document.ts';
import { ADMIN_KEY, bearer, createTestRouter, FIXTURE_MAP, placement } from '../support/test-router.ts';
import { untouched } from './body-reading.ts';
import { held, PATH, push } from './map-pushing.ts';
import { CHAT, CHAT_BODY, locationOf, outcomeOf, siteA, siteB, tokenForB } from './redirect-fixture.ts';

const FIXTURE_TEXT = JSON.stringify(FIXTURE_MAP);

describe('/admin/sibling-map', () => {
  it('asks for the admin key before anything else (R-160)', async () => {
    const sites = [siteA(), createTestRouter()];
    const shown: readonly Record<string, string>[] = [
      {},
      bearer('key-1'),
      { authorization: 'Bearer wrong' },
      { authorization: '' },
      { 'x-api-key': ADMIN_KEY },
      { authorization: `Basic ${ADMIN_KEY}` },
    ];
    for (const site of sites) {
      for (const headers of shown) {
        for (const init of [
          { method: 'GET' },
          { method: 'HEAD' },
          { method: 'PUT' },
          { method: 'POST', body: '{"nonsense"' },
        ]) {
          const response = await site.send(`${PATH}?rt=${tokenForB()}`, { ...init, headers });
          assert.equal(response.status, 401, `${init.method} ${JSON.stringify(headers)}`);
        }
      }
    }
  });

  it('answers 501 to the admin when the feature is off, whatever is sent (R-161)', async () => {
    const off = createTestRouter();
    const disabled = '501 {"error":"cross-site redirect is disabled"}';
    for (const body of [FIXTURE_MAP, '', '{', 'x'.repeat(100)]) assert.equal(await push(off, body), disabled);
    const response = await off.admin('GET', PATH);
    assert.equal(`${response.status} ${await response.text()}`, disabled);
  });

  it('is empty before the first push (R-171, D-61)', async () => {
    assert.equal(await held(siteA({ map: undefined })), '{"schema":3,"version":0,"sites":[],"placements":[]}');
  });

  it('takes a valid push and redirects by it at once (R-162)', async () => {
    const site = siteA({ map: undefined });
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '404 model_not_found');
    assert.equal(await push(site, FIXTURE_MAP), '200 {"ok":true,"version":1}');
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '307 model_redirected');
  });

  it('replaces the whole map: nothing of the one before is left (R-162)', async () => {
    const site = siteA();
    const [a, b] = FIXTURE_MAP.sites;
    const smaller = { ...FIXTURE_MAP, version: 2, sites: [a, b], placements: [placement('new', 'chat', 'site-fr-2')] };
    await push(site, smaller);
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '404 model_not_found');
    assert.doesNotMatch(await held(site), /site-de-1|"emb"|"m"/);
  });

  it('keeps map, version and metrics when a push is invalid, and names path and rule (R-164, R-165)', async () => {
    const site = siteA();
    const before = await held(site);
    const broken: readonly (readonly [unknown, string])[] = [
      [FIXTURE_TEXT.replace('"DE"', '"UK"'), 'sites[2].country: not an ISO 3166-1 alpha-2 code'],
      [{ ...FIXTURE_MAP, schema: 2 }, 'schema: '],
      [{ ...FIXTURE_MAP, x: 1 }, 'x: '],
      [FIXTURE_TEXT.replace('https://site-de-1', 'http://site-de-1'), 'sites[2].url: '],
      [FIXTURE_TEXT.replace('site-de-1.example.com', 'site-de-1.evil.com'), 'sites[2].url: '],
      [FIXTURE_TEXT.replace('"kind":"rerank"', '"kind":"reranker"'), 'placements[4].kind: '],
    ];
    for (const [body, message] of broken) {
      const document = JSON.parse((await push(site, body)).slice('400 '.length)) as { error: string };
      assert.equal(document.error.slice(0, message.length), message);
    }
    for (const body of [
      '',
      'x',
      '[]',
      `${FIXTURE_TEXT}x`,
      `\ufeff${FIXTURE_TEXT}`,
      FIXTURE_TEXT.replace('{', '{"schema":3,'),
    ]) {
      assert.match(await push(site, body), /^400 \{"error":"/, body.slice(0, 20));
    }
    assert.equal(await held(site), before);
    assert.equal(await site.metric('hivenet_sibling_map_version'), 1);
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '307 model_redirected');
  });

  it('answers 400 to every bad value of every member, and GET stays as it was (R-164, P-12)', async () => {
    const site = siteA();
    await push(site, textOf({ ...VALID_MAP, version: 1 }));
    const before = await held(site);
    for (const [path, { refused, rule }] of Object.entries(FIELD_RULES)) {
      const at = nth(path, 1);
      for (const value of refused) {
        const pushed = await push(site, textOf(edited(VALID_MAP, at, value)));
        assert.equal(pushed, `400 ${JSON.stringify({ error: `${at}: ${rule}` })}`);
        assert.equal(await held(site), before, pushed);
      }
    }
    assert.equal(await site.metric('hivenet_sibling_map_version'), 1);
  });

  it('refuses a map without this router’s site (R-176)', async () => {
    const site = siteA({ siteId: 'site-xx-9', map: undefined });
    assert.match(await push(site, FIXTURE_MAP), /^400 \{"error":"sites: /);
  });

  it('refuses a lower version with 409, tells the held one and keeps the map (R-166)', async () => {
    const site = siteA();
    await push(site, { ...FIXTURE_MAP, version: 5 });
    const before = await held(site);
    assert.equal(await push(site, { ...FIXTURE_MAP, version: 4 }), '409 {"error":"stale version","current_version":5}');
    assert.equal(await held(site), before);
    assert.equal(await site.metric('hivenet_sibling_map_version'), 5);
  });

  it('checks the document before the version (R-169)', async () => {
    const site = siteA();
    await push(site, { ...FIXTURE_MAP, version: 5 });
    assert.match(await push(site, { ...FIXTURE_MAP, version: 4, region: '' }), /^400 /);
  });

  it('takes an equal version, with other content too, which is applied and logged (R-167, D-59)', async () => {
    const site = siteA();
    const warnings = () => site.written.filter((line) => line.includes(' WARN ')).length;
    assert.equal(await push(site, FIXTURE_MAP), '200 {"ok":true,"version":1}');
    assert.equal(warnings(), 0);
    assert.equal(await push(site, { ...FIXTURE_MAP, placements: [] }), '200 {"ok":true,"version":1}');
    assert.equal(warnings(), 1);
    assert.match(await held(site), /"placements":\[\]/);
    const [, from, to] = / from="([0-9a-f]{16})" to="([0-9a-f]{16})"\n/.exec(site.written.join('')) ?? [];
    assert.notEqual(from, to);
    await push(site, { ...FIXTURE_MAP, version: 2 });
    await push(site, { ...FIXTURE_MAP, version: 2 });
    assert.equal(warnings(), 1, 'a new version and a mere replay are no reason to warn');
  });

  it('takes any version before the first push, 0 too (R-168)', async () => {
    assert.equal(await push(siteA({ map: undefined }), { ...FIXTURE_MAP, version: 0 }), '200 {"ok":true,"version":0}');
  });

  it('keeps every digit of a version, in each answer (R-170, D-58, T-29)', async () => {
    const site = siteA();
    const highest = '18446744073709551615';
    const withVersion = (version: string) => FIXTURE_TEXT.replace('"version":1,', `"version":${version},`);
    assert.equal(await push(site, withVersion('9007199254740993')), '200 {"ok":true,"version":9007199254740993}');
    assert.match(await push(site, withVersion('9007199254740992')), /^409 .*"current_version":9007199254740993\}$/);
    assert.equal(await push(site, withVersion(highest)), `200 {"ok":true,"version":${highest}}`);
    assert.ok((await held(site)).startsWith(`{"schema":3,"version":${highest},`));
    assert.equal(await push(site, FIXTURE_MAP), `409 {"error":"stale version","current_version":${highest}}`);
  });

  it('takes any version again after a restart, which is the cure of a poisoned one (R-168, T-29)', async () => {
    const poison = FIXTURE_TEXT.replace('"version":1,', '"version":18446744073709551615,');
    const site = siteA();
    assert.match(await push(site, poison), /^200 /);
    assert.match(await push(site, FIXTURE_MAP), /^409 /);
    assert.match(await push(site, poison.replace('"rr"', '"corrected"')), /^200 /);
    assert.match(await held(site), /"corrected"/);
    assert.equal(await push(siteA({ map: undefined }), FIXTURE_MAP), '200 {"ok":true,"version":1}');
  });

  it('shows a map that can be pushed again as it is, with normalised URLs (R-170, R-186)', async () => {
    const site = siteA();
    const sites = FIXTURE_MAP.sites.map((entry) => ({
      ...entry,
      url: `HTTPS://${entry.id.toUpperCase()}.example.com:443/`,
    }));
    await push(site, { ...FIXTURE_MAP, sites });
    const shown = await held(site);
    assert.deepEqual(JSON.parse(shown), FIXTURE_MAP);
    assert.equal(await push(site, shown), '200 {"ok":true,"version":1}');
    assert.equal(locationOf(await site.ask(CHAT, CHAT_BODY, bearer('key-1'))).origin, 'https://site-fr-2.example.com');
  });

  it('is taken by the router of every site that it lists (R-172)', async () => {
    for (const { id } of FIXTURE_MAP.sites) {
      assert.equal(await push(siteA({ siteId: id, map: undefined }), FIXTURE_MAP), '200 {"ok":true,"version":1}', id);
    }
  });

  it('takes 16 MiB and not a byte more, which is 400 (R-175, D-60, A14)', async () => {
    const site = siteA();
    const padded = (size: number) => FIXTURE_TEXT + ' '.repeat(size - FIXTURE_TEXT.length);
    assert.match(await push(site, padded(MAP_MAX_BYTES)), /^200 /);
    assert.match(await push(site, padded(MAP_MAX_BYTES + 1)), /^400 \{"error":"/);
    const declared = { authorization: `Bearer ${ADMIN_KEY}`, 'content-length': String(MAP_MAX_BYTES + 1) };
    const response = await site.send(PATH, {
      method: 'POST',
      headers: declared,
      body: untouched(),
      duplex: 'half',
    } as RequestInit);
    assert.equal(response.status, 400);
    assert.match(await response.text(), /larger than 16777216 bytes/);
  });

  it('is not bound by the limit of inference bodies (D-60)', async () => {
    assert.match(await push(siteA({ maxRequestBytes: 10 }), FIXTURE_MAP), /^200 /);
  });

  it('warns of what is odd but valid (D-24, T-30)', async () => {
    const site = siteA();
    const odd = FIXTURE_TEXT.replace('"US","eu":false', '"US","eu":true');
    assert.match(await push(site, odd), /^200 /);
    assert.ok(site.written.some((line) => / WARN .*"site-us-1"/.test(line)));
  });

  it('knows no other method: 405 with Allow (E10)', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const response = await siteA().admin(method, PATH);
      assert.equal(response.status, 405);
      assert.equal(response.headers.get('allow'), 'GET, HEAD, POST');
    }
    assert.equal((await siteA().admin('HEAD', PATH)).status, 200);
  });

  it('tells sites apart that hold different maps by the gauge alone (R-216)', async () => {
    const [old, recent] = [siteA(), siteB()];
    await push(recent, { ...FIXTURE_MAP, version: 9 });
    // Nothing else compares them: a redirect by the one is taken by the other, and nobody is warned.
    const { pathname, search } = locationOf(await old.ask(CHAT, CHAT_BODY, bearer('key-1')));
    assert.equal(await outcomeOf(recent.ask(pathname + search, CHAT_BODY)), '200');
    for (const { written } of [old, recent]) assert.doesNotMatch(written.join(''), / (WARN|ERROR) /);
    assert.equal(await old.metric('hivenet_sibling_map_version'), 1);
    assert.equal(await recent.metric('hivenet_sibling_map_version'), 9);
  });
});
