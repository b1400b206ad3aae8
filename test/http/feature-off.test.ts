// Without a site ID the router is one without the feature; only redaction stays (D-01).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ENDPOINT_PATHS } from '../../src/redirect/claims.ts';
import { ADMIN_KEY, bearer, createTestRouter } from '../support/test-router.ts';
import { CHAT, CHAT_BODY, follow, outcomeOf, readWhole, tokenForB } from './redirect-fixture.ts';

const CLIENT_ID = '018F6B1E-7C1A-7000-8000-0123456789AB';

/** Every way a request can end, on every inference route and beside them. */
const REQUESTS: readonly (readonly [method: string, path: string, body: string, key: Record<string, string>])[] = [
  ...ENDPOINT_PATHS.flatMap((path) => [
    ['POST', path, CHAT_BODY, bearer('key-1')] as const,
    ['POST', path, '{"model":"elsewhere"}', bearer('key-1')] as const,
    ['POST', path, CHAT_BODY, bearer('key-2')] as const,
    ['POST', path, CHAT_BODY, {}] as const,
    ['POST', path, '{"model":', bearer('key-1')] as const,
    ['POST', path, `{"model":"m","x":"${'x'.repeat(1_000)}"}`, bearer('key-1')] as const,
    ['GET', path, '', bearer('key-1')] as const,
    ['OPTIONS', path, '', {}] as const,
  ]),
  ['GET', '/v1/models', '', bearer('key-1')],
  ['GET', '/v1/models/m', '', bearer('key-1')],
  ['GET', '/health', '', {}],
  ['GET', '/nowhere', '', {}],
  ['POST', '/admin/sibling-map', '{}', { authorization: `Bearer ${ADMIN_KEY}` }],
];

/** Status, headers but the request ID, and body of each request in turn; then what the metrics say. */
async function everythingTold(query: string, headers: Record<string, string>) {
  const agents = (['llm', 'embedding', 'reranker'] as const).map((capability) => ({ models: ['m'], capability }));
  const site = createTestRouter({ agents, maxRequestBytes: 500 });
  const answers = [];
  for (const [method, path, body, key] of REQUESTS) {
    const init = { method, headers: { ...key, ...headers }, ...(body === '' ? {} : { body }) };
    const response = await readWhole(await site.send(path + query, init));
    const told = [...response.headers].filter(([name]) => name !== 'x-request-id');
    answers.push({ status: response.status, headers: told, body: await response.text() });
  }
  return { answers, metrics: await site.ports.metrics.expose() };
}

describe('a router without a site ID', () => {
  it('answers and measures everything as if the inputs of the feature were not there (R-001, R-003, D-01)', async () => {
    const plain = await everythingTold('', {});
    const statuses = new Set(plain.answers.map(({ status }) => status));
    assert.deepEqual([...statuses].sort(), [200, 204, 400, 401, 403, 404, 405, 413, 501]);
    for (const [query, headers] of [
      [`?rt=${tokenForB()}`, {}],
      ['?rt=x&%72t=y', {}],
      ['', { 'x-hivenet-scope': 'garbage', 'x-session-id': 'conv-1' }],
      [`?rt=${tokenForB({ keyId: '' })}`, { 'x-hivenet-scope': 'all', 'x-session-id': '' }],
    ] as const) {
      assert.deepEqual(await everythingTold(query, headers), plain, query);
    }
  });

  it('redirects nothing: 404 for what no agent serves (R-001)', async () => {
    const site = createTestRouter();
    const response = await site.ask(CHAT, CHAT_BODY, bearer('key-1'));
    assert.equal(await outcomeOf(response), '404 model_not_found');
    assert.equal(response.headers.get('location'), null);
  });

  it('authenticates nobody by a token, and counts none (R-002)', async () => {
    const site = createTestRouter({ agents: [{ models: ['m'] }] });
    const response = await follow(site, tokenForB());
    assert.equal(response.headers.get('x-should-retry'), null);
    assert.equal(await outcomeOf(response), '401 unauthorized');
    assert.equal(site.accessLines.at(-1)?.['refusal_reason'], undefined);
  });

  it('serves a key beside a token that it does not read (R-002, D-01)', async () => {
    const site = createTestRouter({ agents: [{ models: ['m'] }] });
    for (const rt of ['x', tokenForB(), 'x&rt=y']) {
      assert.equal((await follow(site, rt, { headers: bearer('key-1') })).status, 200);
    }
  });

  it('ignores scope and session headers (R-003)', async () => {
    const site = createTestRouter({ agents: [{ models: ['m'] }] });
    const headers = { ...bearer('key-1'), 'x-hivenet-scope': 'garbage', 'x-session-id': 'x' };
    assert.equal((await site.ask(CHAT, CHAT_BODY, headers)).status, 200);
  });

  it('has none of the four metrics (R-204)', async () => {
    assert.doesNotMatch(await createTestRouter().ports.metrics.expose(), /hivenet_redirect|hivenet_sibling/);
  });

  it('adopts the client’s valid X-Request-ID and knows no client ID (A4, D-40)', async () => {
    const site = createTestRouter({ agents: [{ models: ['m'] }] });
    const ids = { 'x-request-id': CLIENT_ID, 'x-client-request-id': '11111111-1111-4111-8111-111111111111' };
    const response = await readWhole(await site.ask(CHAT, CHAT_BODY, { ...bearer('key-1'), ...ids }));
    assert.equal(response.headers.get('x-request-id'), CLIENT_ID);
    assert.equal(response.headers.get('x-client-request-id'), null);
    assert.equal(site.engineCalls[0]?.headers.get('x-request-id'), CLIENT_ID);
    assert.equal(site.accessLines.at(-1)?.['request_id'], CLIENT_ID);
  });

  it('answers 501 for the map and lists local models only (R-161, E10)', async () => {
    const site = createTestRouter({ agents: [{ models: ['local'] }] });
    assert.equal((await site.admin('GET', '/admin/sibling-map')).status, 501);
    const { data } = (await (await site.send('/v1/models', { headers: bearer('key-1') })).json()) as {
      data: { id: string }[];
    };
    assert.deepEqual(
      data.map(({ id }) => id),
      ['local'],
    );
  });

  it('leaves a cache header alone, whatever stands in the query (D-01, D-51)', async () => {
    const site = createTestRouter({ agents: [{ models: ['m'] }] });
    const response = await follow(site, tokenForB(), { headers: bearer('key-1') });
    assert.equal(response.headers.get('cache-control'), null);
  });
});
