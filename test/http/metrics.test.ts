// What requests leave behind in the metrics.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, createTestRouter, FIXTURE_MAP, placement, type TestRouter } from '../support/test-router.ts';
import { CHAT, CHAT_BODY, follow, siteA, siteB, tokenForB } from './redirect-fixture.ts';

const DURATION = 'http_server_request_duration_seconds_count';

/** method, route and status of every request so far, with its count. */
async function observed(site: TestRouter): Promise<readonly string[]> {
  const form = /method="([^"]*)",route="([^"]*)",status_code="([^"]*)"\} (\d+)$/;
  return (await site.family(DURATION)).map((line) => (form.exec(line) ?? []).slice(1).join(' '));
}

describe('hivenet_redirects_total', () => {
  it('counts each 307 by model, target site and the hop of its token (R-199)', async () => {
    const a = siteA();
    for (let count = 0; count < 3; count += 1) await a.ask(CHAT, CHAT_BODY, bearer('key-1'));
    await a.ask('/v1/embeddings', { model: 'emb' }, bearer('key-1'));
    assert.deepEqual(await a.family('hivenet_redirects_total'), [
      'hivenet_redirects_total{model="m",site="site-fr-2",hop="1"} 3',
      'hivenet_redirects_total{model="emb",site="site-fr-2",hop="1"} 1',
    ]);
    const b = siteB({ map: { ...FIXTURE_MAP, placements: [placement('m', 'chat', 'site-de-1')] }, agents: [] });
    await follow(b, tokenForB({ scope: { kind: 'eu' } }));
    assert.deepEqual(await b.family('hivenet_redirects_total'), [
      'hivenet_redirects_total{model="m",site="site-de-1",hop="2"} 1',
    ]);
  });

  it('gets no series from what clients make up (R-200, T-35)', async () => {
    const site = siteA();
    const before = (await site.ports.metrics.expose()).split('\n').length;
    for (let index = 0; index < 1_000; index += 1) {
      await site.ask(`${CHAT}?x=${index}`, { model: `made-up-${index}` }, bearer('key-1'));
      await site.send(`/v1/models/made-up-${index}`, { headers: bearer('key-1') });
      await site.send(`/made-up-${index}`, { method: ['PROPFIND', 'PURGE', 'LINK'][index % 3] ?? '' });
    }
    const after = await site.ports.metrics.expose();
    assert.doesNotMatch(after, /made-up|PROPFIND|PURGE|LINK/);
    // Three routes, each with the fifteen lines of one histogram and its sum and count at most.
    assert.ok(after.split('\n').length - before <= 3 * 18, 'a series per request');
  });
});

describe('hivenet_routing_requests_routed_total and _failed_total', () => {
  const ROUTED = 'hivenet_routing_requests_routed_total';
  const FAILED = 'hivenet_routing_requests_failed_total';

  it('name region and engine of the agent, the model, and the key’s owner (routing.md §24)', async () => {
    let status = 200;
    const agents = [{ models: ['m'], region: 'eu-west' }, { models: ['n'] }, { models: ['d'], down: true }];
    const site = createTestRouter({ agents, engine: async () => Response.json({}, { status }) });
    const ask = async (model: string) => (await site.ask(CHAT, { model }, bearer('key-1'))).text();
    await ask('m');
    status = 500;
    for (const model of ['n', 'd', 'nowhere']) await ask(model);
    assert.deepEqual(await site.family(ROUTED), [
      `${ROUTED}{region="eu-west",engine="vllm",model="m",tenant_id="owner-1"} 1`,
    ]);
    assert.deepEqual(await site.family(FAILED), [
      `${FAILED}{region="Unknown",engine="vllm",model="n",tenant_id="owner-1"} 1`,
      `${FAILED}{region="",engine="",model="d",tenant_id="owner-1"} 1`,
    ]);
  });

  it('count nothing of a model that no agent here lists, be it the router that fails', async () => {
    const site = siteA({ agents: [] });
    const { random } = site.ports;
    let calls = 0;
    const failing = (size: number) => {
      calls += 1;
      if (calls > 1) throw new Error('no entropy');
      return random(size);
    };
    Object.assign(site.ports, { random: failing });
    assert.equal((await site.ask(CHAT, CHAT_BODY, bearer('key-1'))).status, 500);
    assert.deepEqual([await site.family(ROUTED), await site.family(FAILED)], [[], []]);
  });

  it('count no request that is redirected', async () => {
    const site = siteA({ agents: [{ models: ['m'], down: true }] });
    assert.equal((await site.ask(CHAT, CHAT_BODY, bearer('key-1'))).status, 307);
    assert.deepEqual([await site.family(ROUTED), await site.family(FAILED)], [[], []]);
  });
});

describe('hivenet_redirect_rejections_total', () => {
  it('shows exactly ten reasons, all as 0 from the start (R-201)', async () => {
    const reasons = 'malformed signature expired clock site path scope key body replay'.split(' ');
    assert.deepEqual(
      await siteA().family('hivenet_redirect_rejections_total'),
      reasons.map((reason) => `hivenet_redirect_rejections_total{reason="${reason}"} 0`),
    );
  });

  it('carries no label but the reason (R-201)', async () => {
    const site = siteB();
    await follow(site, 'x');
    for (const line of await site.family('hivenet_redirect_rejections_total')) {
      assert.match(line, /^hivenet_redirect_rejections_total\{reason="[a-z]+"\} [01]$/);
    }
  });
});

describe('the gauges of the sibling map', () => {
  it('hold the version after a push, a refused push and a rejected one (R-202)', async () => {
    const site = siteA({ map: undefined });
    const version = () => site.metric('hivenet_sibling_map_version');
    assert.equal(await version(), 0);
    await site.admin('POST', '/admin/sibling-map', { ...FIXTURE_MAP, version: 7 });
    assert.equal(await version(), 7);
    await site.admin('POST', '/admin/sibling-map', { ...FIXTURE_MAP, version: 8, region: '' });
    assert.equal(await version(), 7);
    await site.admin('POST', '/admin/sibling-map', { ...FIXTURE_MAP, version: 6 });
    assert.equal(await version(), 7);
  });

  it('see hints expire between two scrapes (R-203, D-15)', async () => {
    const hinted = FIXTURE_MAP.placements.map((entry) => ({ ...entry, hint: {} }));
    const site = siteA({ map: { ...FIXTURE_MAP, placements: hinted, hints_expire_at: '2026-11-03T12:01:00Z' } });
    const expired = () => site.metric('hivenet_sibling_map_hints_expired');
    assert.equal(await expired(), 0);
    site.nowMs += 59_999;
    assert.equal(await expired(), 0);
    site.nowMs += 1;
    assert.equal(await expired(), 1);
  });

  it('say expired without a map, without hints, and with an expiry but no hint (R-203, D-69)', async () => {
    for (const map of [undefined, FIXTURE_MAP, { ...FIXTURE_MAP, hints_expire_at: '2026-11-03T12:01:00Z' }]) {
      assert.equal(await siteA({ map }).metric('hivenet_sibling_map_hints_expired'), 1);
    }
  });
});

describe('the request metrics', () => {
  it('observe each request once, by method, route template and status (api.md 1)', async () => {
    const site = siteA({ agents: [{ models: ['org/model'] }] });
    const [method, headers] = ['POST', bearer('key-1')];
    await site.ask(CHAT, CHAT_BODY, headers);
    await site.ask(CHAT, CHAT_BODY);
    await (await site.ask(CHAT, { model: 'org/model' }, headers)).text();
    await site.send('/v1/models', { headers });
    await site.send('/v1/models/org/model', { headers });
    await site.send('/v1/models/other', { headers });
    await site.send('/health');
    await site.send('/health/ready', { method: 'HEAD' });
    await site.send('/nowhere', { method });
    for (const path of ['/admin/nowhere', '/health/nowhere']) await site.admin('GET', path);
    await site.send(CHAT, { method: 'OPTIONS' });
    assert.deepEqual([...(await observed(site))].sort(), [
      'GET /health 200 1',
      'GET /v1/models 200 1',
      'GET /v1/models/{id} 200 1',
      'GET /v1/models/{id} 404 1',
      'GET unmatched 404 2',
      'HEAD /health/ready 200 1',
      `OPTIONS ${CHAT} 204 1`,
      `POST ${CHAT} 200 1`,
      `POST ${CHAT} 307 1`,
      `POST ${CHAT} 401 1`,
      'POST unmatched 404 1',
    ]);
    assert.equal(await site.metric('http_server_active_requests'), 0);
  });

  it('name the route of every known path, admin routes and wrong methods too (api.md 1)', async () => {
    const site = siteA();
    await site.admin('POST', '/admin/sibling-map', FIXTURE_MAP);
    await site.admin('GET', '/admin/sibling-map');
    await site.admin('GET', '/admin/api-keys');
    await site.admin('GET', '/admin/api-keys/version');
    await site.admin('POST', '/admin/api-keys/replace', { version: '2' });
    await site.send('/admin/sibling-map');
    await site.send(CHAT);
    assert.deepEqual([...(await observed(site))].sort(), [
      'GET /admin/api-keys 200 1',
      'GET /admin/api-keys/version 200 1',
      'GET /admin/sibling-map 200 1',
      'GET /admin/sibling-map 401 1',
      `GET ${CHAT} 405 1`,
      'POST /admin/api-keys/replace 200 1',
      'POST /admin/sibling-map 200 1',
    ]);
  });

  it('count a request as running until its answer is there (api.md 1)', async () => {
    let answer: (response: Response) => void = () => undefined;
    const engine = () => new Promise<Response>((resolve) => (answer = resolve));
    const site = createTestRouter({ agents: [{ models: ['m'] }], engine });
    const asked = site.ask(CHAT, CHAT_BODY, bearer('key-1'));
    while (site.engineCalls.length === 0) await Promise.resolve();
    assert.equal(await site.metric('http_server_active_requests'), 1);
    answer(Response.json({}));
    await (await asked).text();
    assert.equal(await site.metric('http_server_active_requests'), 0);
  });

  it('measure by the monotonic clock, whatever the wall clock does (R-224)', async () => {
    const site = createTestRouter({
      agents: [{ models: ['m'] }],
      engine: async () => {
        site.nowMs -= 600_000;
        site.monotonicMs = (site.monotonicMs ?? 0) + 250;
        return Response.json({});
      },
    });
    site.monotonicMs = 1_000;
    await (await site.ask(CHAT, CHAT_BODY, bearer('key-1'))).text();
    assert.equal(site.accessLines.at(-1)?.['latency_ms'], 250);
    const [sum] = await site.family('http_server_request_duration_seconds_sum');
    assert.match(String(sum), / 0\.25$/);
  });
});
