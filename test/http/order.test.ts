// The order of handling: who asks, then what they may, then where it goes.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reading } from '../agents/readings.ts';
import { eventually } from '../support/eventually.ts';
import type { KEYS } from '../support/test-keys.ts';
import { bearer, FIXTURE_MAP, placement, type TestRouterSettings } from '../support/test-router.ts';
import { untouched } from './body-reading.ts';
import {
  CHAT,
  CHAT_BODY,
  claimsOf,
  counted,
  errorOf,
  outcomeOf,
  rejections,
  sendStream,
  siteA,
  siteB,
  slowBody,
  tokenForB,
} from './redirect-fixture.ts';

const REDIRECTED = '307 model_redirected';
const UNAUTHORIZED = '401 unauthorized';
const INVALID = '400 request_invalid';

/** The outcome of one request at A, with what must hold of every request that is not redirected. */
async function outcomeAtA(
  body: unknown,
  headers: Record<string, string> = bearer('key-1'),
  settings: TestRouterSettings = {},
): Promise<string> {
  const site = siteA(settings);
  const outcome = await outcomeOf(site.ask(CHAT, body, headers));
  if (outcome !== REDIRECTED) assert.deepEqual(await site.family('hivenet_redirects_total'), []);
  return outcome;
}

describe('the order of handling', () => {
  for (const keyId of ['key-dis', 'key-exp'] satisfies (keyof typeof KEYS)[]) {
    it(`answers 401 to ${keyId}, and no redirect (R-017)`, async () => {
      assert.equal(await outcomeAtA(CHAT_BODY, bearer(keyId)), UNAUTHORIZED);
    });
  }

  it('answers 401 without a key or with an unknown one, and no redirect (R-017)', async () => {
    for (const headers of [{}, { authorization: 'Bearer sk-unknown' }, { authorization: '' }, { 'x-api-key': 'no' }]) {
      assert.equal(await outcomeAtA(CHAT_BODY, headers as Record<string, string>), UNAUTHORIZED);
    }
  });

  it('stops taking a key at the very millisecond of its expiry (R-017)', async () => {
    const site = siteA();
    site.nowMs -= 1_001;
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-exp'))), REDIRECTED);
    site.nowMs += 1;
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-exp'))), UNAUTHORIZED);
  });

  it('answers 403 to a key that may not use the model, and no redirect (R-019, T-34)', async () => {
    assert.equal(await outcomeAtA(CHAT_BODY, bearer('key-2')), '403 model_forbidden');
    assert.equal(await outcomeAtA({ model: 'unknown' }, bearer('key-2')), '403 model_forbidden');
    const agents = [{ models: ['m'] }];
    assert.equal(await outcomeAtA(CHAT_BODY, bearer('key-2'), { agents }), '403 model_forbidden');
  });

  it('redirects a restricted key to what it may use (R-019)', async () => {
    const map = { ...FIXTURE_MAP, placements: [placement('other', 'chat', 'site-fr-2')] };
    assert.equal(await outcomeAtA({ model: 'other' }, bearer('key-2'), { map }), REDIRECTED);
  });

  it('serves with a healthy local agent although every sibling is warm (R-021)', async () => {
    const hinted = FIXTURE_MAP.placements.map((entry) => ({ ...entry, hint: { warm: true, load: 'ok' } }));
    const map = { ...FIXTURE_MAP, placements: hinted, hints_expire_at: '2026-11-03T12:01:00Z' };
    assert.equal(await outcomeAtA(CHAT_BODY, bearer('key-1'), { map, agents: [{ models: ['m'] }] }), '200');
  });

  it('answers 503 and does not redirect while the local agent is full (R-022)', async () => {
    const site = siteA({ agents: [{ models: ['m'], capacity: 1 }] });
    const release = site.ports.agents.all()[0]?.take();
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '503 no_capacity');
    release?.();
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '200');
  });

  it('answers 503 and does not redirect while others wait for the local agent, as many as may (R-022)', async () => {
    const site = siteA({ agents: [{ models: ['m'], capacity: 1 }], queueDepth: 1 });
    const release = site.ports.agents.all()[0]?.take();
    const waiting = outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1')));
    await eventually('one waits', async () => (await site.metric('hivenet_queue_depth{model="m"}')) === 1 || undefined);
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '503 no_capacity');
    release?.();
    assert.equal(await waiting, '200');
  });

  it('answers 503 and does not redirect while exclude_if holds the only agent back (R-023)', async () => {
    const site = siteA({ agents: [{ models: ['m'] }] });
    const policy = 'routing_policy: {exclude_if: {waiting_requests: {gt: 5}}}';
    assert.equal((await site.admin('PUT', '/admin/policy', policy)).status, 200);
    const tell = (waitingRequests: number) =>
      site.ports.agents.all()[0]?.reportMetrics(reading({ waitingRequests }), site.ports.monotonicMs());
    tell(6);
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '503 no_agents_available');
    assert.equal(await site.metric('hivenet_policy_exhausted_total{model="m"}'), 1);
    tell(5);
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '200');
  });

  it('answers 503 and does not redirect where match leaves no agent (R-023)', async () => {
    const site = siteA({ agents: [{ models: ['m'], region: 'south' }] });
    await site.admin('PUT', '/admin/policy/models/of-m', 'models: [m]\nrouting_policy: {match: {region: north}}');
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '503 no_agents_available');
    await site.admin('DELETE', '/admin/policy/models/of-m');
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '200');
  });

  it('redirects when every local agent of the model is unhealthy (R-024)', async () => {
    const agents = [{ models: ['m'], down: true }];
    assert.equal(await outcomeAtA(CHAT_BODY, bearer('key-1'), { agents }), REDIRECTED);
  });

  it('ends here with 404, or with 503 if agents are down, when no site is eligible (R-029)', async () => {
    const map = { ...FIXTURE_MAP, placements: [] };
    assert.equal(await outcomeAtA(CHAT_BODY, bearer('key-1'), { map }), '404 model_not_found');
    const agents = [{ models: ['m'], down: true }];
    assert.equal(await outcomeAtA(CHAT_BODY, bearer('key-1'), { map, agents }), '503 no_agents_available');
  });

  it('answers 404 at once where the map places the model here without scale from zero (R-031)', async () => {
    const map = { ...FIXTURE_MAP, placements: [placement('m', 'chat', 'site-fr-1')] };
    assert.equal(await outcomeAtA(CHAT_BODY, bearer('key-1'), { map }), '404 model_not_found');
  });

  const malformed: readonly (readonly [string, string])[] = [
    ['no JSON', '{"model":'],
    ['no object', '["m"]'],
    ['no model', '{"messages":[]}'],
    ['an empty model', '{"model":""}'],
    ['257 bytes of model', `{"model":"${'m'.repeat(257)}"}`],
    ['an empty body', ''],
    ['a duplicate model (A11)', '{"model":"m","model":"m"}'],
    ['trailing data (A11)', `${CHAT_BODY}x`],
    ['a byte order mark (A11)', `\ufeff${CHAT_BODY}`],
  ];
  for (const [what, body] of malformed) {
    it(`answers 400 to ${what}, before any thought of a redirect (R-034)`, async () => {
      assert.equal(await outcomeAtA(body), INVALID);
    });
  }

  it('answers 400 to invalid UTF-8 (A11)', async () => {
    const body = new Uint8Array([...new TextEncoder().encode('{"model":"m","x":"'), 0xff, 0x22, 0x7d]);
    assert.equal(await outcomeAtA(body), INVALID);
  });

  it('lets 401 beat 403, 400 and 413 (D-02, R-067)', async () => {
    const settings = { maxRequestBytes: 10 };
    for (const body of ['{', '{"model":"secret"}', '{"model":"much too long for this router"}']) {
      assert.equal(await outcomeAtA(body, { 'x-hivenet-scope': 'eu' }, settings), UNAUTHORIZED);
    }
  });

  it('lets a bad scope beat 413, 415, a bad body and 403 (D-02)', async () => {
    const headers = { ...bearer('key-1'), 'x-hivenet-scope': 'eu' };
    const site = siteA({ maxRequestBytes: 10 });
    const response = await sendStream(site, CHAT, untouched(), { ...headers, 'content-encoding': 'gzip' });
    assert.match(String((await errorOf(response))['message']), /X-Hivenet-Scope/);
    for (const body of ['{', CHAT_BODY]) {
      const answer = await site.ask(CHAT, body, { ...bearer('key-2'), 'x-hivenet-scope': 'eu' });
      assert.match(String((await errorOf(answer))['message']), /X-Hivenet-Scope/);
    }
  });

  it('lets 400 for the body beat 403 for the model, and 403 beat 404 (D-02)', async () => {
    assert.equal(await outcomeAtA('{"model":"m"', bearer('key-2')), INVALID);
    assert.equal(await outcomeAtA({ model: 'nowhere' }, bearer('key-2')), '403 model_forbidden');
    assert.equal(await outcomeAtA({ model: 'nowhere' }, bearer('key-1')), '404 model_not_found');
  });

  it('redirects by the map of the moment at which the request head arrived (R-163)', async () => {
    const site = siteA();
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const answer = sendStream(site, CHAT, body.readable, bearer('key-1'));
    const moved = FIXTURE_MAP.sites.map((entry) => ({ ...entry, url: `https://new-${entry.id}.example.com` }));
    assert.equal(
      (await site.admin('POST', '/admin/sibling-map', { ...FIXTURE_MAP, version: 2, sites: moved })).status,
      200,
    );
    const writer = body.writable.getWriter();
    await writer.write(new TextEncoder().encode(CHAT_BODY));
    await writer.close();
    const response = await answer;
    assert.match(String(response.headers.get('location')), /^https:\/\/site-fr-2\./);
    assert.match(
      String((await site.ask(CHAT, CHAT_BODY, bearer('key-1'))).headers.get('location')),
      /^https:\/\/new-site-fr-2\./,
    );
  });

  it('takes the default scope of a request whose token fails late from that same map (R-163, R-120)', async () => {
    const site = siteB({ agents: [] });
    const body = slowBody('{"model":"m"}');
    const answer = sendStream(site, `${CHAT}?rt=${tokenForB()}`, body.stream, bearer('key-1'));
    const moved = FIXTURE_MAP.sites.map((entry) => ({ ...entry, country: 'DE' }));
    assert.equal(
      (await site.admin('POST', '/admin/sibling-map', { ...FIXTURE_MAP, version: 2, sites: moved })).status,
      200,
    );
    body.finish();
    assert.equal(await outcomeOf(answer), '404 model_not_found');
    assert.deepEqual(await rejections(site), counted({ body: 1 }));
  });

  it('names no model of a sibling to a client that may not have it (T-34)', async () => {
    const site = siteA();
    const known = await (await site.ask(CHAT, CHAT_BODY, bearer('key-2'))).text();
    const unknown = await (await site.ask(CHAT, '{"model":"x","messages":[]}', bearer('key-2'))).text();
    assert.equal(known.replace('\\"m\\"', ''), unknown.replace('\\"x\\"', ''));
  });

  it('reaches an agent in one hop: A redirects, B serves (R-008)', async () => {
    const atA = await siteA().ask(CHAT, CHAT_BODY, bearer('key-1'));
    const b = siteB();
    const location = new URL(String(atA.headers.get('location')));
    const atB = await b.ask(location.pathname + location.search, CHAT_BODY);
    assert.equal(atB.status, 200);
    assert.equal(b.engineCalls.length, 1);
    assert.equal(claimsOf(atA).requestId, atB.headers.get('x-request-id'));
  });
});
