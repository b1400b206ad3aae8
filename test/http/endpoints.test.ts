// Which requests can be redirected at all: the five inference routes by their kinds, and nothing else.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ENDPOINT_PATHS, type EndpointPath } from '../../src/redirect/claims.ts';
import { bearer, FIXTURE_MAP, placement } from '../support/test-router.ts';
import {
  CHAT,
  CHAT_BODY,
  claimsOf,
  counted,
  locationOf,
  outcomeOf,
  rejections,
  siteA,
  tokenForB,
} from './redirect-fixture.ts';

const MODELS = {
  '/v1/chat/completions': 'm',
  '/v1/messages': 'm',
  '/v1/messages/count_tokens': 'm',
  '/v1/embeddings': 'emb',
  '/v1/rerank': 'rr',
} as const satisfies Record<EndpointPath, string>;

const NUMBERS = ['R-009', 'R-010', 'R-011', 'R-012', 'R-013'];

describe('inference routes', () => {
  for (const [index, path] of ENDPOINT_PATHS.entries()) {
    it(`redirects POST ${path} by its kind and keeps the path (${NUMBERS[index]})`, async () => {
      const response = await siteA().ask(path, { model: MODELS[path] }, bearer('key-1'));
      const location = locationOf(response);
      assert.equal(location.origin, 'https://site-fr-2.example.com');
      assert.equal(location.pathname, path);
      const claims = claimsOf(response);
      assert.equal(claims.endpoint, path);
      assert.equal(claims.model, MODELS[path]);
    });

    it(`does not redirect POST ${path} by placements of other kinds (R-015, D-08)`, async () => {
      const site = siteA();
      for (const model of ['m', 'emb', 'rr'].filter((name) => name !== MODELS[path])) {
        assert.equal(await outcomeOf(site.ask(path, { model }, bearer('key-1'))), '404 model_not_found');
      }
    });

    it(`serves POST ${path} by an agent of its capability alone (R-016)`, async () => {
      const capabilities = ['llm', 'embedding', 'reranker'] as const;
      const outcomes = await Promise.all(
        capabilities.map((capability) => {
          const site = siteA({ agents: [{ models: [MODELS[path]], capability }] });
          return outcomeOf(site.ask(path, { model: MODELS[path] }, bearer('key-1')));
        }),
      );
      const redirected = '307 model_redirected';
      const expected = { m: ['200', redirected, redirected], emb: [redirected, '200', redirected] };
      assert.deepEqual(outcomes, { ...expected, rr: [redirected, redirected, '200'] }[MODELS[path]]);
    });

    it(`asks the engine at ${path} when served here (R-021)`, async () => {
      const capability = { m: 'llm', emb: 'embedding', rr: 'reranker' } as const;
      const site = siteA({ agents: [{ models: [MODELS[path]], capability: capability[MODELS[path]] }] });
      await site.ask(path, { model: MODELS[path] }, bearer('key-1'));
      assert.deepEqual(
        site.engineCalls.map((call) => call.url),
        [`http://10.0.0.1:8000${path}`],
      );
    });
  }

  it('takes a model of one name for another kind as another model (R-015)', async () => {
    const map = { ...FIXTURE_MAP, placements: [placement('m', 'embedding', 'site-fr-2')] };
    const site = siteA({ map });
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, bearer('key-1'))), '404 model_not_found');
    assert.equal(await outcomeOf(site.ask('/v1/embeddings', CHAT_BODY, bearer('key-1'))), '307 model_redirected');
  });
});

describe('every other route', () => {
  const others: readonly (readonly [string, string, number])[] = [
    ['GET', '/v1/models', 200],
    ['GET', '/v1/models/m', 200],
    ['GET', '/health', 200],
    ['GET', '/health/ready', 200],
    ['GET', CHAT, 405],
    ['HEAD', CHAT, 405],
    ['PUT', CHAT, 405],
    ['POST', '/v1/models', 405],
    ['POST', '/v1/completions', 404],
    ['POST', '/v1/responses', 404],
    ['POST', '/v1/chat', 404],
    ['POST', '/health', 405],
    ['POST', '/admin/sibling-map', 401],
    ['POST', '/admin/chat/completions', 401],
    ['OPTIONS', CHAT, 204],
  ];
  for (const [method, path, status] of others) {
    it(`never redirects ${method} ${path}, and reads no rt there (R-014, D-26)`, async () => {
      const site = siteA();
      for (const rt of ['', '?rt=x', `?rt=${tokenForB()}`, '?rt=x&rt=y']) {
        const response = await site.send(path + rt, { method, headers: bearer('key-1') });
        assert.equal(response.status, status, path + rt);
        assert.equal(response.headers.get('location'), null);
      }
      assert.deepEqual(await rejections(site), counted());
      assert.deepEqual(await site.family('hivenet_redirects_total'), []);
    });
  }

  it('lets no token in where a key is asked for (R-014)', async () => {
    const site = siteA();
    for (const path of ['/v1/models', '/v1/models/m', '/admin/sibling-map', '/admin/api-keys']) {
      assert.equal((await site.send(`${path}?rt=${tokenForB()}`)).status, 401, path);
    }
    assert.deepEqual(await rejections(site), counted());
  });
});
