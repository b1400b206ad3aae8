// Without a site ID the router is one without the feature; only redaction stays (D-01).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, createTestRouter } from '../support/test-router.ts';
import { CHAT, CHAT_BODY, follow, outcomeOf, readWhole, tokenForB } from './redirect-fixture.ts';

const CLIENT_ID = '018F6B1E-7C1A-7000-8000-0123456789AB';

describe('a router without a site ID', () => {
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
