// A listing takes several turns, and the map may change meanwhile: it shows one of them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, FIXTURE_MAP, placement, type TestRouter } from '../support/test-router.ts';
import { siteA } from './redirect-fixture.ts';

interface Model {
  readonly id: string;
  readonly alias_for?: readonly string[];
}

function ask(site: TestRouter): Promise<Response> {
  return site.send('/v1/models', { headers: bearer('key-1') });
}

async function modelsOf(response: Response): Promise<readonly Model[]> {
  return ((await response.json()) as { data: Model[] }).data;
}

describe('a listing that takes its time', () => {
  const many = Array.from({ length: 3_000 }, (_, index) => placement(`m-${index}`, 'chat', 'site-fr-2'));
  const map = { ...FIXTURE_MAP, placements: many };

  it('is of one map, whatever is pushed meanwhile (R-163)', async () => {
    const site = siteA({ map, aliases: { fast: ['m-1'] } });
    const response = await ask(site);
    const placements = [...many, placement('fast', 'chat', 'site-fr-2')];
    const pushed = await site.admin('POST', '/admin/sibling-map', { ...map, version: 2, placements });
    assert.equal(pushed.status, 200);
    const data = await modelsOf(response);
    assert.deepEqual(data.find(({ id }) => id === 'fast')?.alias_for, ['m-1']);
    assert.equal((await modelsOf(await ask(site))).filter(({ id }) => id === 'fast').length, 1);
  });

  it('is made anew after one that failed', async () => {
    const site = siteA({ map });
    const { turns } = site.ports;
    const complete = turns.complete.bind(turns);
    turns.complete = () => Promise.reject(new Error('a bug'));
    assert.equal((await ask(site)).status, 500);
    turns.complete = complete;
    assert.equal((await modelsOf(await ask(site))).length, 3_000);
  });
});
