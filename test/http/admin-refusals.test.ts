// Refusals of the admin routes in the access log: on the wire they have no code, in the log they have one.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestRouter, TestRouterSettings } from '../support/test-router.ts';
import { siteA } from './redirect-fixture.ts';

describe('a refused admin request', () => {
  const refusals: readonly (readonly [
    what: string,
    settings: TestRouterSettings,
    ask: (site: TestRouter) => Promise<Response>,
    status: number,
    code: string,
  ])[] = [
    ['an invalid map', {}, (site) => site.admin('POST', '/admin/sibling-map', '{}'), 400, 'request_invalid'],
    ['a stale map', {}, (site) => site.admin('POST', '/admin/sibling-map', STALE), 409, 'request_invalid'],
    ['invalid keys', {}, (site) => site.admin('POST', '/admin/api-keys/replace', '{}'), 400, 'request_invalid'],
    ['invalid aliases', {}, (site) => site.admin('PUT', '/admin/model-aliases', '[]'), 400, 'request_invalid'],
    ['an unknown agent', {}, (site) => site.admin('GET', '/admin/agents/x'), 404, 'request_invalid'],
    [
      'a feature that is off',
      { authMode: 'none' },
      (site) => site.admin('GET', '/admin/api-keys'),
      501,
      'request_invalid',
    ],
    [
      'a body beyond the budget',
      { adminMemoryBytes: 1 },
      (site) => site.admin('POST', '/admin/sibling-map', '{}'),
      503,
      'queue_full',
    ],
    ['an unknown model', {}, (site) => site.admin('GET', '/admin/models/x'), 404, 'model_not_found'],
    ['no admin key', {}, (site) => site.send('/admin/agents'), 401, 'unauthorized'],
  ];
  const STALE = {
    schema: 3,
    version: 0,
    region: 'eu',
    sites: [{ id: 'site-fr-1', url: 'https://site-fr-1.example.com', country: 'FR', eu: true }],
    placements: [],
  };
  for (const [what, settings, ask, status, code] of refusals) {
    it(`for ${what} is a ${status}, logged as ${code} (api.md 16)`, async () => {
      const site = siteA(settings);
      assert.equal((await ask(site)).status, status);
      assert.equal(site.accessLines.at(-1)?.['status_code'], status);
      assert.equal(site.accessLines.at(-1)?.['error_code'], code);
    });
  }

  it('for a path or method that is not there has the simple form, as all but 401s and models have (api.md 6.1)', async () => {
    const site = siteA();
    const answer = async (method: string, path: string) => (await site.admin(method, path)).json();
    for (const path of ['/admin', '/admin/', '/admin/nothing']) {
      assert.deepEqual(await answer('GET', path), { error: `No such path: ${path}` });
    }
    assert.deepEqual(await answer('PUT', '/admin/health'), {
      error: 'PUT is not allowed on this path: use GET, HEAD.',
    });
    assert.equal(site.accessLines.at(-1)?.['error_code'], 'request_invalid');
    for (const response of [await site.send('/admin/nothing'), await site.admin('GET', '/admin/models/x')]) {
      assert.equal(((await response.json()) as Record<string, unknown>)['type'], 'error');
    }
    const beside = await site.send('/administrator');
    assert.equal(((await beside.json()) as Record<string, unknown>)['type'], 'error');
  });

  it('for a bug of the router has it too', async () => {
    const site = siteA();
    Object.defineProperty(site.ports, 'agents', {
      get: () => {
        throw new Error('canary');
      },
    });
    const response = await site.admin('GET', '/admin/agents');
    assert.equal(response.status, 500);
    assert.deepEqual(await response.json(), {
      error: 'The router failed to handle this request. It has been logged.',
    });
  });

  it('is no refusal when it is carried out', async () => {
    const site = siteA();
    assert.equal((await site.admin('GET', '/admin/agents')).status, 200);
    assert.equal(site.accessLines.at(-1)?.['error_code'], undefined);
  });
});
