// A provider behind a policy: after the siblings, in place of 404 and 503, and by what the operator reads of it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, FIXTURE_MAP, placement, type TestRouter, type TestRouterSettings } from '../support/test-router.ts';
import {
  CHAT,
  CHAT_BODY,
  errorOf,
  follow,
  outcomeOf,
  present,
  siteA,
  siteB,
  siteId,
  tokenForB,
} from './redirect-fixture.ts';

const PROVIDER = 'https://provider.example';
const ACCOUNTS = [{ dialect: 'openai', baseUrl: PROVIDER, apiKey: 'sk-operator' }] as const;
const POLICY = 'fallback_provider: {engine: openai, model: target}';
/** Nothing is placed anywhere else. */
const ALONE = { ...FIXTURE_MAP, placements: [] };

const whole = async () => Response.json({ id: 'x', usage: { prompt_tokens: 3, completion_tokens: 5 } });

/** Site A with the provider behind every model. */
async function withProvider(settings: TestRouterSettings = {}, site = siteA): Promise<TestRouter> {
  const router = site({ accounts: ACCOUNTS, engine: whole, ...settings });
  assert.equal((await router.admin('PUT', '/admin/policy', POLICY)).status, 200);
  return router;
}

const ask = (site: TestRouter, body: string = CHAT_BODY, path: string = CHAT) =>
  outcomeOf(site.ask(path, body, bearer('key-1')));

const asked = (site: TestRouter) => site.engineCalls.map(({ url }) => new URL(url).host);

describe('A request whose policy has a provider', () => {
  it('goes to a sibling before it, and the provider sees nothing (R-032)', async () => {
    for (const agents of [[], [{ models: ['m'], down: true }]]) {
      const site = await withProvider({ agents });
      assert.equal(await ask(site), '307 model_redirected');
      assert.deepEqual(asked(site), []);
    }
  });

  it('is answered by it where no site is eligible and no agent here can (R-033)', async () => {
    const cases: readonly TestRouterSettings[] = [
      {},
      { agents: [{ models: ['m'], down: true }] },
      { agents: [{ models: ['m'], capability: 'embedding' }] },
    ];
    for (const settings of cases) {
      const site = await withProvider({ map: ALONE, ...settings });
      assert.equal(await ask(site), '200');
      assert.deepEqual(asked(site), ['provider.example']);
    }
  });

  it('stays with an agent that gates hold back, and is then answered by it, not redirected (R-023)', async () => {
    const site = siteA({ agents: [{ models: ['m'], region: 'south' }], accounts: ACCOUNTS, engine: whole });
    const policy = `routing_policy: {match: {region: north}}\n${POLICY}`;
    await site.admin('PUT', '/admin/policy', policy);
    assert.equal(await ask(site), '200');
    assert.deepEqual(asked(site), ['provider.example']);
  });

  it('is answered by an agent while there is one', async () => {
    const site = await withProvider({ agents: [{ models: ['m'] }] });
    assert.equal(await ask(site), '200');
    assert.deepEqual(asked(site), ['10.0.0.1:8000']);
  });

  it('is answered by it at the second hop, where another site has the model (R-140)', async () => {
    const map = { ...FIXTURE_MAP, placements: [placement('m', 'chat', 'site-de-1')] };
    const site = await withProvider({ agents: [], map }, siteB);
    const token = tokenForB({ hop: 2, origin: siteId('site-us-1'), scope: { kind: 'all' } });
    assert.equal((await follow(site, token)).status, 200);
    assert.deepEqual(asked(site), ['provider.example']);
  });

  it('is answered by it where a token cannot be made', async () => {
    const site = await withProvider();
    assert.equal(await ask(site, CHAT_BODY, `${CHAT}?${'x'.repeat(9_000)}`), '200');
    assert.deepEqual(asked(site), ['provider.example']);
  });

  it('needs the right to the model that it names, not to the provider\u2019s', async () => {
    const site = await withProvider({ map: ALONE });
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-2'))), '403 model_forbidden');
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY.replace('"m"', '"other"'), bearer('key-2'))), '200');
    assert.equal(JSON.parse(Buffer.from(present(site.engineCalls[0]).body).toString()).model, 'target');
  });

  it('is what it was without one for counts, embeddings and reranks (routing.md, trap 26)', async () => {
    const site = await withProvider({ map: ALONE });
    for (const path of ['/v1/messages/count_tokens', '/v1/embeddings', '/v1/rerank']) {
      assert.equal(await ask(site, CHAT_BODY, path), '404 model_not_found');
    }
    assert.deepEqual(asked(site), []);
  });

  it('is refused by name when it cannot be converted', async () => {
    const site = await withProvider({ map: ALONE });
    const body = CHAT_BODY.replace('{', '{"max_tokens":1,"top_k":1,');
    const response = await site.ask('/v1/messages', body, bearer('key-1'));
    assert.equal(response.status, 400);
    const { code, message } = await errorOf(response);
    assert.equal(code, 'request_invalid');
    assert.match(String(message), /OpenAI: "top_k" has no counterpart/);
  });

  it('ends by the provider\u2019s failure, 502 or 503', async () => {
    for (const [status, outcome] of [
      [500, '502 backend_error'],
      [429, '503 backend_unavailable'],
    ] as const) {
      const site = await withProvider({ map: ALONE, engine: async () => Response.json({}, { status }) });
      assert.equal(await ask(site), outcome);
    }
  });

  it('sends an alias\u2019s model under the provider\u2019s name', async () => {
    const site = await withProvider({ map: ALONE, aliases: { auto: ['m'] } });
    assert.equal(await ask(site, CHAT_BODY.replace('"m"', ' "auto" ')), '200');
    const sent = Buffer.from(present(site.engineCalls[0]).body).toString();
    assert.equal(sent, CHAT_BODY.replace('"m"', ' "target" '));
  });
});

describe('What is written of a provider', () => {
  it('is its name for an agent\u2019s, and the tokens it told (routing.md §25)', async () => {
    const site = await withProvider({ map: ALONE });
    await ask(site);
    const line = present(site.accessLines.at(-1));
    const fields = ['status_code', 'model', 'agent_id', 'input_tokens', 'output_tokens'].map((name) => line[name]);
    assert.deepEqual(fields, [200, 'm', 'provider:openai', 3, 5]);
  });

  it('counts it as routed in the cloud, under a model of the operator\u2019s or as another (R-200)', async () => {
    const site = await withProvider({ map: ALONE, agents: [{ models: ['m'], down: true }] });
    await site.admin('PUT', '/admin/policy/models/doc', `models: [named]\n${POLICY}`);
    for (const model of ['m', 'named', 'made-up', 'too']) await ask(site, CHAT_BODY.replace('"m"', `"${model}"`));
    const routed = (model: string) =>
      site.metric(
        `hivenet_routing_requests_routed_total{region="cloud",engine="openai",model="${model}",tenant_id="owner-1"}`,
      );
    const used = (model: string) => site.metric(`hivenet_policy_provider_fallback_total{model="${model}"}`);
    for (const counter of [routed, used]) {
      assert.deepEqual(await Promise.all(['m', 'named', 'other', 'made-up'].map(counter)), [1, 1, 2, undefined]);
    }
    assert.equal(
      await site.metric('http_client_request_duration_seconds_count{provider="openai",status_code="200"}'),
      4,
    );
    assert.deepEqual(await site.family('hivenet_policy_exhausted_total'), []);
  });

  it('counts its failure as failed in the cloud, and the policy as exhausted', async () => {
    const engine = async () => Promise.reject(new Error('No network'));
    const site = await withProvider({ map: ALONE, agents: [{ models: ['m'], down: true }], engine });
    assert.equal(await ask(site), '502 backend_error');
    const labels = '{region="cloud",engine="openai",model="m",tenant_id="owner-1"}';
    assert.equal(await site.metric(`hivenet_routing_requests_failed_total${labels}`), 1);
    assert.equal(await site.metric('hivenet_policy_exhausted_total{model="m"}'), 1);
    assert.equal(
      await site.metric('http_client_request_duration_seconds_count{provider="openai",status_code="0"}'),
      2,
      'a lost connection is opened once more',
    );
    const line = present(site.accessLines.at(-1));
    assert.deepEqual([line['agent_id'], line['error_code']], ['provider:openai', 'backend_error']);
  });

  it('holds no key, wherever the provider repeats it', async () => {
    const engine = async (url: string) =>
      url.startsWith(PROVIDER)
        ? Response.json({ error: { message: 'bad sk-operator' } }, { status: 400, headers: { 'x-key': 'sk-operator' } })
        : whole();
    const site = await withProvider({ map: ALONE, engine });
    const response = await site.ask(CHAT, CHAT_BODY, bearer('key-1'));
    const text = JSON.stringify([...response.headers]) + (await response.text()) + site.written.join();
    assert.equal(response.status, 400);
    assert.ok(!text.includes('sk-operator'), text);
    const { headers } = present(site.engineCalls[0]);
    assert.equal(headers.get('authorization'), 'Bearer sk-operator');
  });
});
