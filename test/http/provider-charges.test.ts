// What a request costs that a provider answers: a request and its tokens of the day, as if an engine had; but it holds no
// room of the engines, and teaches nothing about them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineFetch } from '../../src/agents/engine-fetch.ts';
import type { DailyBudgets } from '../../src/quota/daily-budget.ts';
import type { TestRouter, TestRouterSettings } from '../support/test-router.ts';
import { ASK, answering, limitedSite, refusing, toldOf, USED } from './limits-fixture.ts';
import { CHAT, outcomeOf } from './redirect-fixture.ts';

const PROVIDER = 'https://provider.example';
const accounts = [{ dialect: 'openai', baseUrl: PROVIDER, apiKey: 'sk-operator' }] as const;
const LIMITS = 'mode: serverless\nadmit_budget_tokens: 1000\nfallback_provider: {engine: openai, model: target}';
const DAY = 10_000;
const QUOTA = { requests_per_minute: 2, tokens_per_day: DAY, output_tokens_per_minute: 60 };
/** 20 tokens, as estimated, and up to 100. */
const BODY = { model: 'm', messages: [{ role: 'user', content: 'x'.repeat(64) }], max_tokens: 100 };

/** A site whose engines answer as `engine`, and whose provider as `provider`. */
async function withProvider(
  provider: EngineFetch,
  { engine = refusing, ...settings }: TestRouterSettings = {},
  quota: object = QUOTA,
): Promise<TestRouter> {
  const either: EngineFetch = (url, init) => (url.startsWith(PROVIDER) ? provider : engine)(url, init);
  const site = limitedSite(quota, { accounts, engine: either, ...settings });
  assert.equal((await site.admin('PUT', '/admin/policy', LIMITS)).status, 200);
  return site;
}

const ask = (site: TestRouter, body: object = BODY) => toldOf(site.ask(CHAT, body, ASK));

/** What is held of the engines, and what they have taught or were charged. */
function engineSide({ ports }: TestRouter) {
  const { occupancy, inputRates, outputRates } = ports.gates;
  return [occupancy.held().length, inputRates.size, outputRates.size, ports.ratios.size];
}

describe('an answer of a provider', () => {
  it('costs a request and its tokens of the day, and nothing of the engines', async () => {
    let during: readonly number[] | undefined;
    const site = await withProvider(async (url, init) => {
      during = engineSide(site);
      return answering()(url, init);
    });
    assert.deepEqual(await ask(site), { status: 200, requests: '1', tokens: String(DAY - 15) });
    assert.deepEqual(
      [during, engineSide(site)],
      [
        [0, 0, 0, 0],
        [0, 0, 0, 0],
      ],
    );
  });

  it('costs the same after agents that failed', async () => {
    const site = await withProvider(answering(), { engine: answering({}, 500) });
    assert.deepEqual(await ask(site), { status: 200, requests: '1', tokens: String(DAY - 15) });
    assert.deepEqual(engineSide(site), [0, 0, 0, 0]);
  });

  it('that finds fault with the request costs the request and no tokens', async () => {
    for (const fault of [answering({ detail: 'no' }, 400), async () => new Response('no', { status: 422 })]) {
      const site = await withProvider(fault);
      assert.equal((await ask(site))['requests'], '1');
      assert.equal((site.ports.quotas.tokens as DailyBudgets).size, 0);
    }
  });

  it('that is none costs nothing, unless an agent had the request', async () => {
    const failing = answering({ error: { message: 'no' } }, 500);
    const unreached = await withProvider(failing);
    assert.deepEqual(await ask(unreached), { status: 502, code: 'backend_error' });
    assert.equal((unreached.ports.quotas.tokens as DailyBudgets).size, 0);
    const reached = await withProvider(failing, { engine: answering({}, 500) });
    assert.equal((await ask(reached))['requests'], '1');
    assert.equal((reached.ports.quotas.tokens as DailyBudgets).size, 0);
  });

  it('for which the client did not wait costs the prompt', async () => {
    const client = new AbortController();
    const site = await withProvider(
      (_url, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('aborted')));
          client.abort();
        }),
    );
    const init = { method: 'POST', headers: ASK, body: JSON.stringify(BODY), signal: client.signal };
    assert.equal((await site.send(CHAT, init)).status, 499);
    await site.admin('PUT', '/admin/policy', 'fallback_provider: {engine: openai, model: target}');
    const told = await ask(site, { ...BODY, max_tokens: 2 * DAY });
    assert.equal(told['tokens'], String(DAY - 20));
  });
});

describe('limits where only a provider answers', () => {
  it('count it as one agent, so that a limit per replica is one (api.md T5)', async () => {
    const perModel = { per_model: { m: { requests_per_minute_per_replica: 1, tokens_per_day: 0 } } };
    const site = await withProvider(answering(), { agents: [] }, perModel);
    assert.deepEqual(await ask(site), { status: 200, requests: '0' });
    assert.equal((await ask(site))['status'], 429);
  });

  it('name no model in a metric that a client made up (R-200)', async () => {
    const rooms: string[] = [];
    const site = await withProvider(async () => {
      rooms.push(...(await site.family('hivenet_admission_occupancy_tokens')));
      return Response.json(USED);
    });
    assert.equal(await outcomeOf(site.ask(CHAT, { ...BODY, model: 'made-up' }, ASK)), '200');
    const huge = { ...BODY, model: 'made-up', max_tokens: 5_000 };
    assert.equal(await outcomeOf(site.ask(CHAT, huge, ASK)), '429 concurrency_limit_exceeded');
    assert.deepEqual(rooms, []);
    assert.deepEqual(await site.family('hivenet_admission_rejections_total'), [
      'hivenet_admission_rejections_total{reason="b2",model="other"} 1',
    ]);
  });
});
