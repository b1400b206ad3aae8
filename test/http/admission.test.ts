// The gates of admission, from the HTTP side (docs/admission.md). What each gate computes is tested in test/admission.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineFetch } from '../../src/agents/engine-fetch.ts';
import { ENDPOINT_PATHS } from '../../src/redirect/claims.ts';
import { FakeTimers } from '../agents/fake-timers.ts';
import { reading } from '../agents/readings.ts';
import { eventually } from '../support/eventually.ts';
import { bearer, createTestRouter, type TestRouter, type TestRouterSettings } from '../support/test-router.ts';
import { ASK, answering, events, limitedSite, refusing, streamingEngine, toldOf } from './limits-fixture.ts';
import { CHAT, CHAT_BODY, outcomeOf, readWhole } from './redirect-fixture.ts';

/** 64 bytes: 20 tokens. */
const PROMPT = 'x'.repeat(64);
const body = (more: object = {}) => ({ model: 'm', messages: [{ content: PROMPT }], ...more });

async function policed(limits: string, site: TestRouter): Promise<TestRouter> {
  const policy = `${limits}\nrouting_policy: {strategy: least-loaded}`;
  const answer = await site.admin('PUT', '/admin/policy', policy);
  assert.equal(answer.status, 200, await answer.text());
  return site;
}

const open = (limits: string, settings: TestRouterSettings = {}) =>
  policed(
    limits,
    createTestRouter({ agents: [{ models: ['m'] }], engine: answering(), authMode: 'none', ...settings }),
  );

const serverless = (limits: string, quota: object, entry: object = {}, settings: TestRouterSettings = {}) =>
  policed(`mode: serverless\n${limits}`, limitedSite(quota, settings, entry));

const rejections = (site: TestRouter, reason: string) =>
  site.metric(`hivenet_admission_rejections_total{reason="${reason}",model="m"}`);

const FULL = { status: 429, code: 'concurrency_limit_exceeded', retryAfter: '1' };

/** A stream under way; `end` ends it. */
async function running(site: TestRouter, engine: ReturnType<typeof streamingEngine>, more: object, headers = {}) {
  const asking = site.ask(CHAT, body({ stream: true, ...more }), headers);
  setTimeout(() => engine.write(events('a')), 0);
  const response = await asking;
  assert.equal(response.status, 200);
  return {
    response,
    end: async () => {
      engine.close();
      await readWhole(response);
    },
  };
}

describe('gate b1', () => {
  it('refuses a prompt of more tokens or images than the policy allows, with 400 (api.md 14)', async () => {
    const site = await open('max_input_tokens: 20\nimages_max: 1', { engine: answering({}) });
    assert.deepEqual(await toldOf(site.ask(CHAT, body())), { status: 200 });
    const longer = { model: 'm', messages: [{ content: `${PROMPT}xx` }] };
    assert.deepEqual(await toldOf(site.ask(CHAT, longer)), { status: 400, code: 'input_too_long' });
    const image = { type: 'image_url', image_url: { url: 'data:' } };
    const images = (count: number) => ({ model: 'm', messages: [{ content: Array(count).fill(image) }] });
    assert.equal(await outcomeOf(site.ask(CHAT, images(1))), '200');
    assert.equal(await outcomeOf(site.ask('/v1/messages', images(2))), '400 input_too_long');
    assert.equal(await rejections(site, 'b1'), 2);
    assert.equal(site.engineCalls.length, 2);
  });

  it('does not look at counting, embedding and reranking, nor does any other gate', async () => {
    const capabilities = ['llm', 'embedding', 'reranker'] as const;
    const agents = capabilities.map((capability) => ({ models: ['m'], capability }));
    const site = await open('max_input_tokens: 1\nadmit_budget_tokens: 1\nshed_if: {waiting_requests: {gte: 0}}', {
      agents,
    });
    site.ports.agents.all()[0]?.reportMetrics(reading({ waitingRequests: 1 }), site.nowMs);
    for (const path of ENDPOINT_PATHS) {
      const isExempt = path !== CHAT && path !== '/v1/messages';
      assert.equal(await outcomeOf(site.ask(path, body())), isExempt ? '200' : '400 input_too_long');
    }
  });

  it('gives the request back (docs/keys.md)', async () => {
    const site = await policed('max_input_tokens: 1', limitedSite({ requests_per_minute: 1 }));
    for (let count = 0; count < 3; count += 1) {
      assert.deepEqual(await toldOf(site.ask(CHAT, body(), ASK)), { status: 400, code: 'input_too_long' });
    }
  });
});

describe('gate b3', () => {
  it('sheds while the mean of the healthy agents breaks a rule, and as long as they tell it (api.md 14)', async () => {
    const agents = [{ models: ['m'] }, { models: ['m'] }];
    const site = await open('shed_if: {kv_cache_utilization: {gt: 0.9}}', { agents });
    const tell = (index: number, kvCacheUse: number) =>
      site.ports.agents.all()[index]?.reportMetrics(reading({ kvCacheUse }), site.nowMs);
    assert.equal(await outcomeOf(site.ask(CHAT, body())), '200');
    tell(0, 0.95);
    assert.deepEqual(await toldOf(site.ask(CHAT, body())), FULL);
    tell(1, 0.85);
    assert.equal(await outcomeOf(site.ask(CHAT, body())), '200');
    tell(1, 0.86);
    assert.equal(await outcomeOf(site.ask(CHAT, body())), '429 concurrency_limit_exceeded');
    site.nowMs += 10_001;
    assert.equal(await outcomeOf(site.ask(CHAT, body())), '200');
    assert.equal(await rejections(site, 'b3'), 2);
  });
});

describe('gate b2', () => {
  it('lets in what fits, shows it, and has room again when a request ends', async () => {
    const engine = streamingEngine();
    const site = await open('admit_budget_tokens: 100\nmax_inflight: 2', { engine: engine.fetch });
    const first = await running(site, engine, { max_tokens: 60 });
    const gauge = (name: string) => site.metric(`hivenet_admission_${name}{model="m"}`);
    const gauges = ['occupancy_tokens', 'budget_tokens', 'inflight_requests', 'max_inflight'];
    assert.deepEqual(await Promise.all(gauges.map(gauge)), [80, 100, 1, 2]);
    assert.deepEqual(await toldOf(site.ask(CHAT, body({ max_tokens: 1 }))), FULL);
    await first.end();
    assert.deepEqual(await Promise.all(gauges.map(gauge)), [undefined, undefined, undefined, undefined]);
    await (await running(site, engine, { max_tokens: 60 })).end();
    assert.equal(await rejections(site, 'b2'), 1);
  });

  it('weighs the output of each of n answers', async () => {
    const site = await open('admit_budget_tokens: 1000');
    assert.equal(await outcomeOf(site.ask(CHAT, body({ max_tokens: 98, n: 10 }))), '200');
    assert.equal(await outcomeOf(site.ask(CHAT, body({ max_tokens: 99, n: 10 }))), '429 concurrency_limit_exceeded');
  });

  it('grows with the output of a request that declares none', async () => {
    const engine = streamingEngine();
    const site = await open('admit_budget_tokens: 1000', { engine: engine.fetch });
    const { response } = await running(site, engine, {});
    const reader = response.body?.getReader();
    await reader?.read();
    engine.write(events('x'.repeat(400)));
    await reader?.read();
    assert.equal(await site.metric('hivenet_admission_occupancy_tokens{model="m"}'), 20 + 101);
    await reader?.cancel();
    assert.equal(await site.metric('hivenet_admission_occupancy_tokens{model="m"}'), undefined);
  });

  it('gives its room back on every way out', async () => {
    const failing: readonly EngineFetch[] = [
      answering(),
      answering({ detail: 'no' }, 400),
      answering({ detail: 'no' }, 500),
      async () => new Response('no', { status: 400 }),
      refusing,
    ];
    for (const engine of failing) {
      const site = await open('admit_budget_tokens: 1000\nmax_inflight: 1', { engine });
      await readWhole(await site.ask(CHAT, body()));
      assert.deepEqual(site.ports.gates.occupancy.held(), []);
    }
    const site = await policed('max_inflight: 1', limitedSite({ tokens_per_day: 1 }));
    assert.equal(await outcomeOf(site.ask(CHAT, body(), ASK)), '429 token_limit_exceeded');
    assert.deepEqual(site.ports.gates.occupancy.held(), []);
  });

  it('parks a request until there is room, and refuses it when the time is over', async () => {
    const parkTimers = new FakeTimers();
    const engine = streamingEngine();
    const site = await open('max_inflight: 1', { engine: engine.fetch, parkMs: 250, parkTimers });
    const first = await running(site, engine, {});
    const late = toldOf(site.ask(CHAT, body()));
    await eventually('one is parked', async () => (parkTimers.pending === 1 ? true : undefined));
    parkTimers.advance(250);
    assert.deepEqual(await late, FULL);
    const parked = site.ask(CHAT, body());
    await eventually('one is parked', async () => (parkTimers.pending === 1 ? true : undefined));
    await first.end();
    setTimeout(() => engine.write(events('b')), 0);
    assert.equal((await parked).status, 200);
    assert.equal(parkTimers.pending, 0);
  });

  it('lets a parked request go when its client leaves, and charges nothing', async () => {
    const parkTimers = new FakeTimers();
    const engine = streamingEngine();
    const parking = { engine: engine.fetch, parkMs: 250, parkTimers };
    const site = await policed('max_inflight: 1', limitedSite({ requests_per_minute: 2 }, parking));
    const first = await running(site, engine, {}, ASK);
    const client = new AbortController();
    const init = { method: 'POST', headers: ASK, body: CHAT_BODY, signal: client.signal };
    const parked = site.send(CHAT, init);
    await eventually('one is parked', async () => (parkTimers.pending === 1 ? true : undefined));
    client.abort();
    assert.equal((await parked).status, 499);
    assert.equal(parkTimers.pending, 0);
    assert.equal(site.silence.at(-1), 'end');
    await first.end();
    setTimeout(() => engine.write(events('b')), 0);
    assert.equal((await site.ask(CHAT, body(), ASK)).headers.get('x-ratelimit-remaining-requests'), '0');
  });

  it('lets all parked requests go when the router ends, and takes none any more', async () => {
    const parkTimers = new FakeTimers();
    const engine = streamingEngine();
    const site = await open('max_inflight: 1', { engine: engine.fetch, parkMs: 250, parkTimers });
    const first = await running(site, engine, {});
    const parked = outcomeOf(site.ask(CHAT, body()));
    await eventually('one is parked', async () => (parkTimers.pending === 1 ? true : undefined));
    site.ports.gates.occupancy.close();
    assert.equal(await parked, '503 backend_unavailable');
    assert.equal(await outcomeOf(site.ask(CHAT, body())), '503 backend_unavailable');
    await first.end();
  });

  it('lets a parked request in when a policy gives more room', async () => {
    const parkTimers = new FakeTimers();
    const engine = streamingEngine();
    const site = await open('max_inflight: 1', { engine: engine.fetch, parkMs: 250, parkTimers });
    await running(site, engine, {});
    const parked = site.ask(CHAT, body());
    await eventually('one is parked', async () => (parkTimers.pending === 1 ? true : undefined));
    await policed('max_inflight: 2', site);
    setTimeout(() => engine.write(events('b')), 0);
    assert.equal((await parked).status, 200);
  });

  it('refuses what would not fit even alone at once, and tells SDKs not to repeat it', async () => {
    const site = await open('admit_budget_tokens: 100', { parkMs: 60_000 });
    const told = await toldOf(site.ask(CHAT, body({ max_tokens: 81 })));
    assert.deepEqual(told, { ...FULL, retryAfter: '60', shouldRetry: 'false' });
  });
});

describe('the gates of a key', () => {
  const LIMITED = { status: 429, code: 'rate_limit_exceeded' };

  it('hold a key to its share of the budget under a serverless policy (api.md 14)', async () => {
    const engine = streamingEngine();
    const share = { max_occupancy_share: 0.25 };
    const site = await serverless('admit_budget_tokens: 100', {}, share, { engine: engine.fetch });
    const first = await running(site, engine, { max_tokens: 5 }, ASK);
    assert.deepEqual(await toldOf(site.ask(CHAT, body(), ASK)), { ...LIMITED, retryAfter: '1' });
    assert.equal(await rejections(site, 'b4_occupancy'), 1);
    await first.end();
    await policed('admit_budget_tokens: 100', site);
    await (await running(site, engine, { max_tokens: 50 }, ASK)).end();
  });

  it('count input tokens a minute, by key and model', async () => {
    const site = await serverless('', { input_tokens_per_minute: 60 }, {}, { engine: answering({}) });
    for (let count = 0; count < 3; count += 1) assert.equal((await site.ask(CHAT, body(), ASK)).status, 200);
    assert.deepEqual(await toldOf(site.ask(CHAT, body(), ASK)), { ...LIMITED, retryAfter: '20' });
    assert.equal(await rejections(site, 'b4_itpm'), 1);
    assert.equal((await site.ask(CHAT, body(), bearer('key-1'))).status, 200);
    site.nowMs += 20_000;
    assert.equal((await site.ask(CHAT, body(), ASK)).status, 200);
  });

  it('give input tokens back when no agent was reached', async () => {
    const site = await serverless('', { input_tokens_per_minute: 60, tokens_per_day: 30 });
    assert.equal(await outcomeOf(site.ask(CHAT, body({ max_tokens: 20 }), ASK)), '429 token_limit_exceeded');
    assert.equal(site.ports.gates.inputRates.size, 0);
    const nobody = await serverless('', { input_tokens_per_minute: 60 }, {}, { engine: refusing });
    assert.equal((await nobody.ask(CHAT, body(), ASK)).status, 503);
    assert.equal(nobody.ports.gates.inputRates.size, 0);
  });

  it('charge output tokens after the answer, and refuse while none is left', async () => {
    const engine = answering({ usage: { prompt_tokens: 20, completion_tokens: 60 } });
    const site = await serverless('', { output_tokens_per_minute: 60 }, {}, { engine });
    assert.equal((await site.ask(CHAT, body(), ASK)).status, 200);
    assert.deepEqual(await toldOf(site.ask(CHAT, body(), ASK)), { ...LIMITED, retryAfter: '1' });
    assert.equal(await rejections(site, 'b4_otpm'), 1);
    site.nowMs += 1_000;
    assert.equal((await site.ask(CHAT, body(), ASK)).status, 200);
  });

  it('charge output tokens of an engine that tells nothing of the prompt', async () => {
    const engine = answering({ usage: { completion_tokens: 60 } });
    const site = await serverless('', { output_tokens_per_minute: 60 }, {}, { engine });
    assert.equal((await site.ask(CHAT, body(), ASK)).status, 200);
    assert.equal((await site.ask(CHAT, body(), ASK)).status, 429);
  });

  it('are no gates under a reserved policy', async () => {
    const quota = { input_tokens_per_minute: 1, output_tokens_per_minute: 1 };
    const site = await policed('max_inflight: 9', limitedSite(quota, {}, { max_occupancy_share: 0.01 }));
    for (let count = 0; count < 3; count += 1) assert.equal((await site.ask(CHAT, body(), ASK)).status, 200);
  });
});

describe('a request without any limit', () => {
  it('is not measured, and passes no gate', async () => {
    const site = createTestRouter({ agents: [{ models: ['m'] }], authMode: 'none' });
    site.ports.gates.occupancy.close();
    assert.equal(await outcomeOf(site.ask(CHAT, body())), '200');
  });
});
