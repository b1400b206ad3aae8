// Aliases in requests: what a name is routed on, which key may ask for it, and who wins over it (R-018, R-130, D-02).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bearer,
  createTestRouter,
  FIXTURE_MAP,
  placement,
  type TestRouter,
  type TestRouterSettings,
} from '../support/test-router.ts';
import {
  CHAT,
  claimsForB,
  claimsOf,
  errorOf,
  locationOf,
  outcomeOf,
  readWhole,
  sha256Hex,
  siteA,
  siteB,
  tokenForB,
} from './redirect-fixture.ts';

const AUTO_BODY = '{ "seed": 1e400, "model" : "auto", "messages":[{"role":"user","content":"auto"}] }';
const ONLY_M = { id: 'key-m', secret: 'sk-m', allowed_models: ['m'] } as const;
const M_BEARER = { authorization: `Bearer ${ONLY_M.secret}` };

/** A router without cross-site redirect. */
function alone(settings: TestRouterSettings): TestRouter {
  return createTestRouter({ extraKeys: [ONLY_M], ...settings });
}

async function ask(
  site: TestRouter,
  path: string = CHAT,
  headers: Record<string, string> = bearer('key-1'),
): Promise<Response> {
  return readWhole(await site.ask(path, AUTO_BODY, headers));
}

/** What the engine was sent last. */
function forwarded(site: TestRouter): string {
  return new TextDecoder().decode(site.engineCalls.at(-1)?.body);
}

/** The model that the engine was sent for `auto`. */
async function routedTo(site: TestRouter, path?: string, headers?: Record<string, string>): Promise<string> {
  const response = await ask(site, path, headers);
  if (response.status !== 200) return outcomeOf(response);
  return (JSON.parse(forwarded(site)) as { model: string }).model;
}

const warnings = (site: TestRouter): readonly string[] =>
  site.written.filter((line) => line.includes('WARN Alias ignored'));

describe('An alias', () => {
  it('is replaced in place in the forwarded body, and nothing else is (E6)', async () => {
    const site = alone({ aliases: { auto: ['m'] }, agents: [{ models: ['m'] }] });
    assert.equal((await ask(site)).status, 200);
    assert.equal(forwarded(site), AUTO_BODY.replace('"model" : "auto"', '"model" : "m"'));
  });

  it('resolves to the first model with a healthy agent here, then to the first at all', async () => {
    const aliases = { auto: ['a', 'b', 'c'] };
    assert.equal(await routedTo(alone({ aliases, agents: [{ models: ['b', 'c'] }] })), 'b');
    assert.equal(await routedTo(alone({ aliases, agents: [{ models: ['a', 'b'] }] })), 'a');
    assert.equal(await routedTo(alone({ aliases, agents: [{ models: ['a'], down: true }, { models: ['c'] }] })), 'c');
    const down = alone({ aliases, agents: [{ models: ['a', 'c'], down: true }] });
    assert.equal(await routedTo(down), '503 no_agents_available');
    const none = await ask(alone({ aliases, agents: [{ models: ['other'] }] }));
    assert.match(String((await errorOf(none))['message']), /"a"/);
  });

  it('resolves by what the endpoint needs (R-016)', async () => {
    const agents = [
      { models: ['e'], capability: 'embedding' as const },
      { models: ['r'], capability: 'reranker' as const },
      { models: ['m'] },
    ];
    const site = alone({ aliases: { auto: ['e', 'r', 'm'] }, agents });
    assert.equal(await routedTo(site, CHAT), 'm');
    assert.equal(await routedTo(site, '/v1/messages'), 'm');
    assert.equal(await routedTo(site, '/v1/messages/count_tokens'), 'm');
    assert.equal(await routedTo(site, '/v1/embeddings'), 'e');
    assert.equal(await routedTo(site, '/v1/rerank'), 'r');
  });

  it('resolves to what the key may use, and is 403 when that is nothing (R-019)', async () => {
    const agents = [{ models: ['x', 'm'] }];
    const site = alone({ aliases: { auto: ['x', 'm'] }, agents });
    assert.equal(await routedTo(site), 'x');
    assert.equal(await routedTo(site, CHAT, M_BEARER), 'm');
    const closed = alone({ aliases: { auto: ['x', 'y'] }, agents });
    const refused = await ask(closed, CHAT, M_BEARER);
    assert.equal(refused.status, 403);
    const error = await errorOf(refused);
    assert.equal(error['code'], 'model_forbidden');
    assert.equal(error['message'], 'The API key may not use the model "auto".');
    assert.equal(closed.engineCalls.length, 0);
  });

  it('is no model that an allowlist can name', async () => {
    const key = { id: 'key-auto', secret: 'sk-auto', allowed_models: ['auto'] };
    const site = createTestRouter({ aliases: { auto: ['m'] }, agents: [{ models: ['m'] }], extraKeys: [key] });
    assert.equal(await routedTo(site, CHAT, { authorization: 'Bearer sk-auto' }), '403 model_forbidden');
  });

  it('stands in the access log beside its model, also of a request that was refused', async () => {
    const site = alone({ aliases: { auto: ['m'] }, agents: [{ models: ['m'] }] });
    await ask(site);
    assert.equal(site.accessLines.at(-1)?.['alias'], 'auto');
    assert.equal(site.accessLines.at(-1)?.['model'], 'm');
    await ask(site, CHAT, bearer('key-2'));
    assert.equal(site.accessLines.at(-1)?.['alias'], 'auto');
    assert.equal(site.accessLines.at(-1)?.['model'], undefined);
    await readWhole(await site.ask(CHAT, '{"model":"m"}', bearer('key-1')));
    assert.equal(site.accessLines.at(-1)?.['alias'], undefined);
  });

  it('is a plain name for who asks in another case', async () => {
    const site = alone({ aliases: { auto: ['m'] }, agents: [{ models: ['m'] }] });
    assert.equal(await outcomeOf(site.ask(CHAT, '{"model":"Auto"}', bearer('key-1'))), '404 model_not_found');
  });
});

describe('An alias and the sibling map', () => {
  const placements = (...at: readonly (readonly [string, string, string])[]) => ({
    ...FIXTURE_MAP,
    placements: at.map(([model, kind, site]) => placement(model, kind, site)),
  });

  it('is resolved before sites are chosen, and the token carries the model (R-018, R-199)', async () => {
    const site = siteA({ aliases: { auto: ['m'] } });
    const response = await ask(site);
    const claims = claimsOf(response);
    assert.equal(claims.model, 'm');
    assert.equal(claims.target, 'site-fr-2');
    assert.equal(claims.bodyHash, sha256Hex(AUTO_BODY), 'the hash is over the bytes as sent');
    const redirected = await site.family('hivenet_redirects_total');
    assert.deepEqual(redirected, ['hivenet_redirects_total{model="m",site="site-fr-2",hop="1"} 1']);
    assert.equal(site.accessLines.at(-1)?.['alias'], 'auto');
    assert.equal(site.accessLines.at(-1)?.['model'], 'm');
  });

  it('prefers a model that is placed within the scope, here included, to one that is not', async () => {
    const aliases = { auto: ['nowhere', 'us', 'de', 'fr'] };
    const map = placements(['us', 'chat', 'site-us-1'], ['de', 'chat', 'site-de-1'], ['fr', 'embedding', 'site-fr-2']);
    const resolved = async (scope?: string, path?: string): Promise<string> => {
      const site = siteA({ aliases, map });
      const headers = { ...bearer('key-1'), ...(scope === undefined ? {} : { 'x-hivenet-scope': scope }) };
      await ask(site, path, headers);
      return String(site.accessLines.at(-1)?.['model']);
    };
    assert.equal(await resolved('EU'), 'de');
    assert.equal(await resolved('all'), 'us');
    assert.equal(await resolved(), 'nowhere', 'fr is placed for another kind');
    assert.equal(await resolved(undefined, '/v1/embeddings'), 'fr');
    const here = siteA({ aliases: { auto: ['nowhere', 'here'] }, map: placements(['here', 'chat', 'site-fr-1']) });
    await ask(here, CHAT, { ...bearer('key-1'), 'x-hivenet-scope': 'country:US' });
    assert.equal(here.accessLines.at(-1)?.['model'], 'here');
  });

  it('prefers an agent here to a sibling', async () => {
    const site = siteA({ aliases: { auto: ['m', 'local'] }, agents: [{ models: ['local'] }] });
    assert.equal(await routedTo(site), 'local');
    const down = siteA({ aliases: { auto: ['local', 'm'] }, agents: [{ models: ['local'], down: true }] });
    assert.equal(claimsOf(await ask(down)).model, 'm');
  });

  it('before the first push resolves by the agents alone', async () => {
    const site = siteA({ map: undefined, aliases: { auto: ['m', 'local'] }, agents: [{ models: ['local'] }] });
    assert.equal(await routedTo(site), 'local');
  });
});

describe('An accepted token', () => {
  it('brings its model along: an alias of another meaning here is not resolved (R-130, D-38)', async () => {
    const a = siteA({ aliases: { auto: ['m'] } });
    const b = siteB({ aliases: { auto: ['x'] }, agents: [{ models: ['x', 'm'] }] });
    const location = locationOf(await ask(a));
    const response = await readWhole(await b.ask(location.pathname + location.search, AUTO_BODY));
    assert.equal(response.status, 200);
    assert.equal(forwarded(b), AUTO_BODY.replace('"model" : "auto"', '"model" : "m"'));
    assert.equal(b.accessLines.at(-1)?.['model'], 'm');
    assert.equal(b.accessLines.at(-1)?.['alias'], undefined);
    assert.equal(await routedTo(b), 'x', 'a request of its own means what the name means here');
  });

  it('may name a model that is an alias here, and is routed on the model (R-130)', async () => {
    const b = siteB({ aliases: { m: ['x'] }, agents: [{ models: ['x'] }], map: { ...FIXTURE_MAP, placements: [] } });
    const claims = { bodyHash: sha256Hex('{"model":"m"}') };
    assert.equal(await outcomeOf(b.ask(`${CHAT}?rt=${tokenForB(claims)}`, '{"model":"m"}')), '404 model_not_found');
    assert.equal(b.engineCalls.length, 0);
  });

  it('is redirected on by its model, with the hash of the bytes as sent (R-089, R-199)', async () => {
    const map = { ...FIXTURE_MAP, placements: [placement('m', 'chat', 'site-de-1')] };
    const b = siteB({ aliases: { auto: ['x'] }, agents: [{ models: ['x'] }], map });
    const scope = claimsForB({ bodyHash: sha256Hex(AUTO_BODY) });
    const token = tokenForB({ ...scope, scope: { kind: 'all' } });
    const second = claimsOf(await b.ask(`${CHAT}?rt=${token}`, AUTO_BODY));
    assert.deepEqual([second.model, second.hop, second.bodyHash], ['m', 2, sha256Hex(AUTO_BODY)]);
    const redirected = await b.family('hivenet_redirects_total');
    assert.deepEqual(redirected, ['hivenet_redirects_total{model="m",site="site-de-1",hop="2"} 1']);
  });

  it('that is refused leaves a new request, whose alias is resolved here (R-120)', async () => {
    const b = siteB({ aliases: { auto: ['x'] }, agents: [{ models: ['x', 'm'] }] });
    assert.equal(await routedTo(b, `${CHAT}?rt=${tokenForB()}`), 'x');
    assert.equal(b.accessLines.at(-1)?.['refusal_reason'], 'body');
    assert.equal(b.accessLines.at(-1)?.['alias'], 'auto');
  });
});

describe('A real model', () => {
  it('wins over an alias of its name, whose one warning says so', async () => {
    const site = alone({ aliases: { auto: ['m'], other: ['m'] }, agents: [{ models: ['auto'] }, { models: ['m'] }] });
    assert.equal(await routedTo(site), 'auto');
    assert.equal(await routedTo(site), 'auto');
    assert.equal(site.accessLines.at(-1)?.['alias'], undefined);
    assert.equal(warnings(site).length, 1);
    assert.match(warnings(site)[0] ?? '', /alias="auto" why="an agent here serves it"/);
  });

  it('wins also while its agents are down, and for kinds that it does not serve', async () => {
    const aliases = { auto: ['m'] };
    const down = alone({ aliases, agents: [{ models: ['auto'], down: true }, { models: ['m'] }] });
    assert.equal(await routedTo(down), '503 no_agents_available');
    const other = alone({ aliases, agents: [{ models: ['auto'], capability: 'embedding' }, { models: ['m'] }] });
    assert.equal(await routedTo(other), '404 model_not_found');
  });

  it('wins from the moment that an agent lists it', async () => {
    const site = alone({ aliases: { auto: ['m'] }, agents: [{ models: ['m'] }] });
    assert.equal(await routedTo(site), 'm');
    site.ports.agents.all()[0]?.reportProbe({ ok: true, value: ['auto', 'm'] });
    assert.equal(await routedTo(site), 'auto');
    assert.equal(warnings(site).length, 1);
    site.ports.agents.all()[0]?.reportProbe({ ok: true, value: ['m'] });
    assert.equal(await routedTo(site), 'm');
  });

  it('wins when the map places it, wherever, and the push warns at once', async () => {
    const site = siteA({ aliases: { auto: ['m'], us: ['m'], mine: ['m'] } });
    const auto = placement('auto', 'chat', 'site-fr-2');
    const us = placement('us', 'embedding', 'site-us-1');
    const map = { ...FIXTURE_MAP, version: 2, placements: [...FIXTURE_MAP.placements, auto, us] };
    assert.equal((await site.admin('POST', '/admin/sibling-map', map)).status, 200);
    assert.deepEqual(
      warnings(site).map((line) => /alias="(\w+)" why="(.*)"/.exec(line)?.slice(1)),
      [
        ['auto', 'the sibling map places it'],
        ['us', 'the sibling map places it'],
      ],
    );
    assert.equal(claimsOf(await ask(site)).model, 'auto');
    assert.equal(warnings(site).length, 2);
  });
});
