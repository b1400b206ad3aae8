// GET /v1/models: what one hostname reaches, as far as the key may use it (api.md 12, E10).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, createTestRouter, FIXTURE_MAP, NOW_MS, placement, type TestRouter } from '../support/test-router.ts';
import { outcomeOf, siteA } from './redirect-fixture.ts';

/** Unix seconds of every agent's one probe. */
const SEEN = NOW_MS / 1000;

interface Model {
  readonly id: string;
  readonly agents: Record<string, unknown>;
}

async function list(site: TestRouter, headers: Record<string, string> = bearer('key-1')): Promise<readonly Model[]> {
  const response = await site.send('/v1/models', { headers });
  assert.equal(response.status, 200);
  const document = (await response.json()) as { object: string; data: Model[] };
  assert.equal(document.object, 'list');
  return document.data;
}

async function ids(site: TestRouter, headers?: Record<string, string>): Promise<readonly string[]> {
  return (await list(site, headers)).map(({ id }) => id);
}

function read(site: TestRouter, path: string, keyId: 'key-1' | 'key-2' = 'key-1'): Promise<Response> {
  return site.send(`/v1/models/${path}`, { headers: bearer(keyId) });
}

describe('GET /v1/models', () => {
  it('is an empty list without agents and without a map (api.md 12)', async () => {
    const response = await createTestRouter().send('/v1/models', { headers: bearer('key-1') });
    assert.equal(await response.text(), '{"object":"list","data":[]}');
  });

  it('shows every local model with its agents, the unhealthy ones too (api.md 12)', async () => {
    const site = createTestRouter({
      agents: [
        { models: ['a', 'b'], capacity: 3 },
        { models: ['b'], engine: 'ollama', capacity: 4, down: true },
        { models: ['b'], capacity: 5 },
        { models: ['e'], capability: 'embedding', down: true },
      ],
    });
    const agents = { total: 1, healthy: 1, total_capacity: 3, engines: ['vllm'], regions: [] };
    assert.deepEqual(await list(site), [
      { id: 'a', object: 'model', capability: 'llm', agents },
      {
        id: 'b',
        object: 'model',
        capability: 'llm',
        agents: { total: 3, healthy: 2, total_capacity: 12, engines: ['vllm', 'ollama'], regions: [] },
      },
      { id: 'e', object: 'model', capability: 'embedding', agents: { ...agents, healthy: 0, total_capacity: 10 } },
    ]);
  });

  it('adds what the map places within this site’s country, once, without agents (E10)', async () => {
    const placements = [
      ...FIXTURE_MAP.placements,
      placement('only-de', 'chat', 'site-de-1'),
      placement('here', 'chat', 'site-fr-1'),
      placement('local', 'chat', 'site-fr-2'),
      placement('here', 'chat', 'site-fr-2'),
    ];
    const site = siteA({ map: { ...FIXTURE_MAP, placements }, agents: [{ models: ['local'] }] });
    const models = await list(site);
    assert.deepEqual(
      models.map(({ id }) => id),
      ['local', 'm', 'emb', 'rr', 'here'],
    );
    assert.deepEqual(models[1], {
      id: 'm',
      object: 'model',
      capability: 'llm',
      agents: { total: 0, healthy: 0, total_capacity: 0, engines: [], regions: [] },
    });
    assert.deepEqual(
      models.map((model) => (model as unknown as { capability: string }).capability),
      ['llm', 'llm', 'embedding', 'reranker', 'llm'],
    );
  });

  it('takes the capability of the first placement of a name that two kinds share (api.md 12)', async () => {
    const placements = [placement('both', 'embedding', 'site-fr-2'), placement('both', 'chat', 'site-fr-1')];
    const site = siteA({ map: { ...FIXTURE_MAP, placements } });
    const capabilities = (await list(site)).map((model) => (model as unknown as { capability: string }).capability);
    assert.deepEqual(capabilities, ['embedding']);
  });

  it('lists thousands of models piece by piece, each once, to each key what it may use (E10)', async () => {
    const placed = Array.from({ length: 2_000 }, (_, index) => placement(`model-${index}`, 'chat', 'site-fr-2'));
    const placements = [...placed, placement('other', 'chat', 'site-fr-2')];
    const local = { models: ['model-7', 'model-1999', 'here'] };
    const site = siteA({ map: { ...FIXTURE_MAP, placements }, agents: [local] });
    const rest = placements.map(({ model }) => model).filter((model) => !local.models.includes(String(model)));
    assert.deepEqual(await ids(site), [...local.models, ...rest]);
    assert.deepEqual(await ids(site, bearer('key-2')), ['other']);
    const head = await site.send('/v1/models', { method: 'HEAD', headers: bearer('key-1') });
    assert.deepEqual([head.status, await head.text()], [200, '']);
    assert.equal(site.ports.active.count, 0);
  });

  it('names the key in the access log (api.md 16.2)', async () => {
    const site = siteA();
    for (const path of ['/v1/models', '/v1/models/m', '/v1/models/none']) {
      await site.send(path, { headers: bearer('key-1') });
      assert.equal(site.accessLines.at(-1)?.['key_id'], 'key-1', path);
    }
  });

  it('adds nothing before the first push (R-068)', async () => {
    assert.deepEqual(await ids(siteA({ map: undefined })), []);
  });

  it('shows a key only what it may use, here and at siblings (api.md 12, E10, T-34)', async () => {
    const placements = [...FIXTURE_MAP.placements, placement('other', 'chat', 'site-fr-2')];
    const site = siteA({ map: { ...FIXTURE_MAP, placements }, agents: [{ models: ['local'] }] });
    assert.deepEqual(await ids(site, bearer('key-2')), ['other']);
    assert.equal(await outcomeOf(read(site, 'm', 'key-2')), '404 model_not_found');
    assert.equal(await outcomeOf(read(site, 'local', 'key-2')), '404 model_not_found');
    assert.equal(await outcomeOf(read(site, 'other', 'key-2')), '200');
  });

  it('asks for a key, unless the auth mode is none (api.md 2)', async () => {
    for (const path of ['/v1/models', '/v1/models/m']) {
      assert.equal((await siteA().send(path)).status, 401);
      assert.equal((await siteA().send(path, { headers: bearer('key-dis') })).status, 401);
      assert.equal((await siteA({ authMode: 'none' }).send(path)).status, 200);
    }
  });

  it('ignores the query (api.md 2)', async () => {
    const response = await siteA().send('/v1/models?limit=1&after=x', { headers: bearer('key-1') });
    assert.equal(((await response.json()) as { data: unknown[] }).data.length, 3);
  });
});

describe('GET /v1/models/{id}', () => {
  const MODELS = ['org/model', 'a/b/c', 'a%2Fb', 'name:v1', '模型/é', '100%', 'q?x#y', '%41', 'sp ace', 'version'];
  const site = siteA({ agents: [{ models: MODELS }] });

  for (const id of MODELS) {
    it(`finds ${JSON.stringify(id)} by its encoded ID (E10)`, async () => {
      const response = await read(site, encodeURIComponent(id));
      assert.equal(response.status, 200);
      assert.equal(((await response.json()) as Model).id, id);
    });
  }

  const spellings: readonly (readonly [string, string | undefined])[] = [
    ['org/model', 'org/model'],
    ['org%2Fmodel', 'org/model'],
    ['org%2fmodel', 'org/model'],
    ['a/b%2Fc', 'a/b/c'],
    ['name:v1', 'name:v1'],
    ['name%3Av1', 'name:v1'],
    ['name%3av1', 'name:v1'],
    ['a%252Fb', 'a%2Fb'],
    ['a%252fb', undefined],
    ['org%252Fmodel', undefined],
    ['%2541', '%41'],
    ['%41', undefined],
    ['org/model/', undefined],
    ['/org/model', undefined],
    ['org//model', undefined],
    ['Org/Model', undefined],
    ['%zz', undefined],
    ['%', undefined],
    ['%00', undefined],
    ['%E0%A4%A', undefined],
  ];
  for (const [path, id] of spellings) {
    it(`reads ${path} as ${id ?? 'no model: 404'} (E10)`, async () => {
      const response = await read(site, path);
      if (id === undefined) assert.equal(await outcomeOf(response), '404 model_not_found');
      else assert.equal(((await response.json()) as Model).id, id);
    });
  }

  it('shows the agents one by one, and no list for a model of a sibling (api.md 12)', async () => {
    const two = siteA({ agents: [{ models: ['x'] }, { models: ['x'], engine: 'sglang', capacity: 2, down: true }] });
    const { agents } = (await (await read(two, 'x')).json()) as Model;
    assert.deepEqual(agents, {
      total: 2,
      healthy: 1,
      total_capacity: 12,
      engines: ['vllm', 'sglang'],
      regions: [],
      list: [
        { peer_id: 'agent-1', engine: 'vllm', capacity: 10, is_healthy: true, last_seen: SEEN },
        { peer_id: 'agent-2', engine: 'sglang', capacity: 2, is_healthy: false, last_seen: SEEN },
      ],
    });
    const remote = (await (await read(two, 'm')).json()) as Model;
    assert.equal('list' in remote.agents, false);
    assert.equal(remote.agents['total'], 0);
  });

  it('shows region, names and the flag of its agents, the first that is said (api.md 12)', async () => {
    const two = siteA({
      agents: [
        { models: ['x'], region: 'eu-west', organization: 'acme' },
        { models: ['x'], region: 'eu-north', prettyName: 'X, the model', info: 'Large', machine: 'gpu-7' },
        { models: ['x'], region: 'eu-west', prettyName: 'Another', isHidden: true },
        { models: ['y'], isHidden: false },
      ],
    });
    const [x, y] = (await list(two)) as unknown as readonly Record<string, unknown>[];
    const agents = { total: 3, healthy: 3, total_capacity: 30, engines: ['vllm'], regions: ['eu-west', 'eu-north'] };
    const named = { pretty_name: 'X, the model', info: 'Large', hide_llm: true };
    assert.deepEqual(x, { id: 'x', object: 'model', capability: 'llm', ...named, agents });
    assert.deepEqual(Object.keys(y ?? {}), ['id', 'object', 'capability', 'agents']);
    const one = (await (await read(two, 'x')).json()) as { agents: { list: readonly Record<string, unknown>[] } };
    const shown = one.agents.list.map(({ region, organization, machine }) => [region, organization, machine]);
    assert.deepEqual(shown, [
      ['eu-west', 'acme', undefined],
      ['eu-north', undefined, 'gpu-7'],
      ['eu-west', undefined, undefined],
    ]);
  });

  it('tells nothing of an engine’s address (api.md 12)', async () => {
    const text = await (await read(site, 'version')).text();
    assert.doesNotMatch(text, /10\.0\.0|8000|http/);
  });
});

describe('An alias in GET /v1/models', () => {
  const ONLY_B = { id: 'key-b', secret: 'sk-b', allowed_models: ['b', 'auto'] } as const;
  const B_BEARER = { authorization: `Bearer ${ONLY_B.secret}` };
  const agents = [
    { models: ['a'], down: true },
    { models: ['b'], capacity: 3, capability: 'embedding' as const },
  ];

  it('comes last, with its models and with capability and agents of the one it resolves to now', async () => {
    const site = createTestRouter({ agents, aliases: { auto: ['none', 'a', 'b'], first: ['a'] } });
    const [, , auto, first] = await list(site);
    const summary = { total: 1, healthy: 1, total_capacity: 3, engines: ['vllm'], regions: [] };
    const aliasFor = ['none', 'a', 'b'];
    assert.deepEqual(auto, {
      id: 'auto',
      object: 'model',
      capability: 'embedding',
      alias_for: aliasFor,
      agents: summary,
    });
    const down = { ...summary, healthy: 0, total_capacity: 10 };
    assert.deepEqual(first, { id: 'first', object: 'model', capability: 'llm', alias_for: ['a'], agents: down });
    const one = (await (await read(site, 'auto')).json()) as Model;
    const agent = { peer_id: 'agent-2', engine: 'vllm', capacity: 3, is_healthy: true, last_seen: SEEN };
    assert.deepEqual(one, { ...auto, agents: { ...summary, list: [agent] } });
  });

  it('shows what the map places in this country before what is nowhere, and no capability of what nobody knows', async () => {
    const site = siteA({ aliases: { auto: ['none', 'rr'], lost: ['none'], 'org/auto': ['m'] } });
    const empty = { total: 0, healthy: 0, total_capacity: 0, engines: [], regions: [] };
    const aliases = (await list(site)).slice(3);
    assert.deepEqual(aliases, [
      { id: 'auto', object: 'model', capability: 'reranker', alias_for: ['none', 'rr'], agents: empty },
      { id: 'lost', object: 'model', alias_for: ['none'], agents: empty },
      { id: 'org/auto', object: 'model', capability: 'llm', alias_for: ['m'], agents: empty },
    ]);
    for (const path of ['org/auto', 'org%2Fauto']) assert.equal(await outcomeOf(read(site, path)), '200');
  });

  it('is there for a key that may use one of its models, and shows only those (T-34)', async () => {
    const aliases = { auto: ['a', 'b'], closed: ['a'] };
    const site = createTestRouter({ agents, aliases, extraKeys: [ONLY_B] });
    const entries = await list(site, B_BEARER);
    assert.deepEqual(
      entries.map((entry) => [entry.id, (entry as unknown as { alias_for?: string[] }).alias_for]),
      [
        ['b', undefined],
        ['auto', ['b']],
      ],
    );
    const one = (id: string) => outcomeOf(site.send(`/v1/models/${id}`, { headers: B_BEARER }));
    assert.deepEqual([await one('auto'), await one('closed')], ['200', '404 model_not_found']);
  });

  it('is not there when a real model has its name, even one that the key may not see', async () => {
    const site = createTestRouter({ agents, aliases: { a: ['b'] }, extraKeys: [ONLY_B] });
    assert.deepEqual(await ids(site), ['a', 'b']);
    assert.deepEqual(await ids(site, B_BEARER), ['b']);
    assert.equal(await outcomeOf(site.send('/v1/models/a', { headers: B_BEARER })), '404 model_not_found');
    const [real] = await list(site);
    assert.equal('alias_for' in (real ?? {}), false);
    const us = { ...FIXTURE_MAP, placements: [placement('us', 'chat', 'site-us-1')] };
    assert.deepEqual(await ids(siteA({ map: us, aliases: { us: ['m'] } })), []);
  });
});
