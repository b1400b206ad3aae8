// Requests per minute, from the HTTP side: what is charged, what comes back, and what a client is told (docs/keys.md).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TokenBuckets } from '../../src/quota/token-bucket.ts';
import { ENDPOINT_PATHS } from '../../src/redirect/claims.ts';
import { bearer, FIXTURE_MAP, type TestRouterSettings } from '../support/test-router.ts';
import { ASK, answering, limitedSite, refusing, toldOf } from './limits-fixture.ts';
import { CHAT, CHAT_BODY, outcomeOf, tokenForB } from './redirect-fixture.ts';

const ON: TestRouterSettings = { siteId: 'site-fr-1', map: FIXTURE_MAP };
const LIMITED = { status: 429, code: 'rate_limit_exceeded', requests: '0' };

describe('requests per minute', () => {
  for (const [feature, settings] of [
    ['off', {}],
    ['on', ON],
  ] as const) {
    it(`are counted down, refused, and refilled evenly, with the feature ${feature} (api.md 13.2)`, async () => {
      const site = limitedSite({ requests_per_minute: 2 }, settings);
      const ask = () => toldOf(site.ask(CHAT, CHAT_BODY, ASK));
      assert.deepEqual(await ask(), { status: 200, requests: '1' });
      assert.deepEqual(await ask(), { status: 200, requests: '0' });
      assert.deepEqual(await ask(), { ...LIMITED, retryAfter: '30' });
      site.nowMs += 29_999;
      assert.deepEqual(await ask(), { ...LIMITED, retryAfter: '1' });
      site.nowMs += 1;
      assert.deepEqual(await ask(), { status: 200, requests: '0' });
      assert.equal(await site.metric('hivenet_admission_rejections_total{reason="b4_rpm",model="m"}'), 2);
      assert.equal(await site.metric('hivenet_tenant_rate_limited_total{tenant_id="acme",key_id="limited"}'), 2);
    });
  }

  it('are the same for all endpoints, and for all keys of an owner', async () => {
    const capabilities = ['llm', 'embedding', 'reranker'] as const;
    const agents = capabilities.map((capability) => ({ models: ['m'], capability }));
    const other = { id: 'other', secret: 'sk-other', owner: 'acme', quota: { requests_per_minute: 6 } };
    const limited = { id: 'limited', secret: 'sk-limited', owner: 'acme', quota: { requests_per_minute: 6 } };
    const site = limitedSite({}, { agents, extraKeys: [limited, other] });
    for (const path of ENDPOINT_PATHS) assert.equal(await outcomeOf(site.ask(path, CHAT_BODY, ASK)), '200');
    const told = await toldOf(site.ask(CHAT, CHAT_BODY, { 'x-api-key': 'sk-other' }));
    assert.deepEqual(told, { status: 200, requests: '0' });
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, ASK)), '429 rate_limit_exceeded');
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '200');
  });

  it('say nothing where there is no limit, and cost discovery nothing', async () => {
    const site = limitedSite({ requests_per_minute: 1 });
    assert.deepEqual(await toldOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), { status: 200 });
    for (let count = 0; count < 3; count += 1) {
      assert.equal((await site.send('/v1/models', { headers: ASK })).status, 200);
    }
    assert.deepEqual(await toldOf(site.ask(CHAT, CHAT_BODY, ASK)), { status: 200, requests: '0' });
  });

  it('are those of each healthy agent that can do what is asked (A9)', async () => {
    const perModel = { per_model: { m: { requests_per_minute_per_replica: 1, tokens_per_day: 0 } } };
    const agents = [
      { models: ['m'] },
      { models: ['m'] },
      { models: ['m'], down: true },
      { models: ['m'], capability: 'embedding' },
    ] as const;
    const site = limitedSite(perModel, { agents });
    assert.deepEqual(await toldOf(site.ask(CHAT, CHAT_BODY, ASK)), { status: 200, requests: '1' });
    assert.deepEqual(await toldOf(site.ask(CHAT, CHAT_BODY, ASK)), { status: 200, requests: '0' });
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, ASK)), '429 rate_limit_exceeded');
  });

  it('are not those of an agent whose engine lacks the endpoint (A9)', async () => {
    const perModel = { per_model: { m: { requests_per_minute_per_replica: 5, tokens_per_day: 0 } } };
    const agents = [{ models: ['m'] }, { models: ['m'], engine: 'ollama' }] as const;
    const left = async (path: string) =>
      (await toldOf(limitedSite(perModel, { agents }).ask(path, CHAT_BODY, ASK)))['requests'];
    assert.deepEqual([await left(CHAT), await left('/v1/messages/count_tokens')], ['9', '4']);
  });

  it('leave it to routing to say what is wrong where no agent is healthy (api.md T5)', async () => {
    const perModel = { per_model: { m: { requests_per_minute_per_replica: 1, tokens_per_day: 0 } } };
    const site = limitedSite(perModel, { agents: [{ models: ['m'], down: true }] });
    for (let count = 0; count < 3; count += 1) {
      assert.deepEqual(await toldOf(site.ask(CHAT, CHAT_BODY, ASK)), { status: 503, code: 'no_agents_available' });
    }
  });

  it('serve exactly ten of 100 parallel requests when ten are left', async () => {
    const site = limitedSite({ requests_per_minute: 10 }, { agents: [{ models: ['m'], capacity: 100 }] });
    const answers = await Promise.all(Array.from({ length: 100 }, () => outcomeOf(site.ask(CHAT, CHAT_BODY, ASK))));
    assert.equal(answers.filter((answer) => answer === '200').length, 10);
    assert.equal(site.engineCalls.length, 10);
  });
});

describe('a request that never reaches an agent', () => {
  const cases: readonly (readonly [string, string, string, TestRouterSettings])[] = [
    ['names no model', '{"messages":[]}', '400 request_invalid', {}],
    ['names one that nobody serves', '{"model":"x"}', '404 model_not_found', {}],
    ['finds every agent down', CHAT_BODY, '503 no_agents_available', { agents: [{ models: ['m'], down: true }] }],
    ['finds every agent full', CHAT_BODY, '503 no_capacity', { agents: [{ models: ['m'], capacity: 0 }] }],
    ['is refused the connection', CHAT_BODY, '503 no_agents_available', { engine: refusing }],
  ];
  for (const [what, body, outcome, settings] of cases) {
    for (const [feature, more] of [
      ['off', {}],
      ['on', { siteId: 'site-us-1', map: { ...FIXTURE_MAP, placements: [] } }],
    ] as const) {
      it(`because it ${what} costs nothing, with the feature ${feature}`, async () => {
        const site = limitedSite({ requests_per_minute: 3, tokens_per_day: 1_000 }, { ...settings, ...more });
        for (let count = 0; count < 5; count += 1) {
          const response = await site.ask(CHAT, body, ASK);
          assert.equal(response.headers.get('x-ratelimit-remaining-requests'), null);
          assert.equal(response.headers.get('x-ratelimit-remaining-tokens'), null);
          assert.equal(await outcomeOf(response), outcome);
        }
      });
    }
  }

  it('because it is redirected touches no counter, nor does a refused token (R-027, R-132)', async () => {
    const site = limitedSite({ requests_per_minute: 2, tokens_per_day: 1_000 }, { ...ON, agents: [] });
    for (let count = 0; count < 5; count += 1) {
      const response = await site.ask(CHAT, CHAT_BODY, ASK);
      assert.equal(response.status, 307);
      assert.equal(response.headers.get('x-ratelimit-remaining-requests'), null);
    }
    assert.equal(await outcomeOf(site.ask(`${CHAT}?rt=${tokenForB()}`, CHAT_BODY)), '401 unauthorized');
    assert.equal((site.ports.quotas.requests as TokenBuckets).size, 0);
  });
});

describe('a request that reached an agent', () => {
  it('costs one, however the engine answered', async () => {
    for (const [engine, outcome] of [
      [answering({ error: { message: 'no' } }, 500), '502 backend_error'],
      [answering({ error: { message: 'no' } }, 429), '503 backend_unavailable'],
      [() => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNRESET' })), '502 backend_error'],
    ] as const) {
      const site = limitedSite({ requests_per_minute: 2 }, { engine });
      assert.equal((await toldOf(site.ask(CHAT, CHAT_BODY, ASK)))['requests'], '1', outcome);
      assert.equal((await toldOf(site.ask(CHAT, CHAT_BODY, ASK)))['requests'], '0', outcome);
      assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, ASK)), '429 rate_limit_exceeded');
    }
  });

  it('costs one when the engine finds fault with it, in JSON or not', async () => {
    const plain = async () => new Response('no', { status: 400 });
    for (const engine of [answering({ detail: 'no' }, 422), plain]) {
      const site = limitedSite({ requests_per_minute: 1 }, { engine });
      assert.equal((await site.ask(CHAT, CHAT_BODY, ASK)).headers.get('x-ratelimit-remaining-requests'), '0');
      assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, ASK)), '429 rate_limit_exceeded');
    }
  });
});

describe('the order of quota and judgement', () => {
  const spent = async (settings: TestRouterSettings, entry: object = {}) => {
    const site = limitedSite({ requests_per_minute: 1 }, settings, entry);
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, ASK)), '200');
    return (body: unknown) => outcomeOf(site.ask(CHAT, body, ASK));
  };

  it('is quota first with the feature off: 429 before 400, 403 and 404 (api.md 3.1, T3)', async () => {
    const ask = await spent({}, { allowed_models: ['m', 'gone'] });
    for (const body of ['{', '{}', { model: 'other' }, { model: 'gone' }]) {
      assert.equal(await ask(body), '429 rate_limit_exceeded');
    }
  });

  it('is judgement first with the feature on: 400, 403 and 307 cost nothing and are told first (R-019, R-027)', async () => {
    const map = { ...FIXTURE_MAP, placements: [{ ...FIXTURE_MAP.placements[0], model: 'far' }] };
    const ask = await spent({ ...ON, map }, { allowed_models: ['m', 'far', 'gone'] });
    assert.equal(await ask('{'), '400 request_invalid');
    assert.equal(await ask({ model: 'other' }), '403 model_forbidden');
    assert.equal(await ask({ model: 'gone' }), '404 model_not_found');
    assert.equal(await ask({ model: 'far' }), '307 model_redirected');
    assert.equal(await ask(CHAT_BODY), '429 rate_limit_exceeded');
  });
});

describe('a key with quotas per model', () => {
  const QUOTA = { per_model: { m: { requests_per_minute_per_replica: 0, tokens_per_day: 0 } } };
  const NEVER = { ...LIMITED, retryAfter: '86400', shouldRetry: 'false' };

  it('gets a 429 for another model with the feature off, naming it (A1, R-020, D-04)', async () => {
    const site = limitedSite(QUOTA, { agents: [{ models: ['m', 'other'] }] });
    for (const path of ENDPOINT_PATHS) {
      const response = await site.ask(path, { model: 'other' }, ASK);
      assert.match(await response.clone().text(), /do not name the model \\"other\\"/);
      assert.deepEqual(await toldOf(response), NEVER);
    }
    assert.deepEqual(await toldOf(site.ask(CHAT, CHAT_BODY, ASK)), { status: 200 });
    assert.equal(await site.metric('hivenet_admission_rejections_total{reason="b4_rpm",model="other"}'), 5);
  });

  it('gets a 429 that names an empty model for a body that names none (api.md T3)', async () => {
    const site = limitedSite(QUOTA);
    for (const body of ['{', '{"messages":[]}', '{"model":7}']) {
      const response = await site.ask(CHAT, body, ASK);
      assert.match(await response.clone().text(), /do not name the model \\"\\"/);
      assert.deepEqual(await toldOf(response), NEVER);
    }
  });

  it('gets a 403 with the feature on, before any redirect, and sees its models alone (A1, R-020)', async () => {
    const site = limitedSite(QUOTA, { ...ON, agents: [{ models: ['other'] }] });
    assert.deepEqual(await toldOf(site.ask(CHAT, { model: 'other' }, ASK)), { status: 403, code: 'model_forbidden' });
    assert.equal(await outcomeOf(site.ask('/v1/embeddings', { model: 'emb' }, ASK)), '403 model_forbidden');
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, ASK)), '307 model_redirected');
    const listed = (await (await site.send('/v1/models', { headers: ASK })).json()) as { data: { id: string }[] };
    assert.deepEqual(
      listed.data.map(({ id }) => id),
      ['m'],
    );
    assert.equal((await site.send('/v1/models/other', { headers: ASK })).status, 404);
  });

  it('makes no metric label of what a client sends (R-200)', async () => {
    const site = limitedSite(QUOTA);
    await site.ask(CHAT, { model: 'made-up' }, ASK);
    assert.deepEqual(await site.family('hivenet_admission_rejections_total'), [
      'hivenet_admission_rejections_total{reason="b4_rpm",model="other"} 1',
    ]);
  });
});
