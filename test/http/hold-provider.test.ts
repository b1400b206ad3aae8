// Holds whose policy names a provider: it comes after the wait, and only for a key that still may.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, type TestRouterSettings } from '../support/test-router.ts';
import { HERE, mapOf, pushKey, sleeper, wakesAt } from './hold-fixture.ts';
import { outcomeOf } from './redirect-fixture.ts';

/** A site whose policy has a provider, and what that was asked. */
async function withProvider(settings: TestRouterSettings = {}) {
  const accounts = [{ dialect: 'openai', baseUrl: 'https://provider.example', apiKey: 'sk-operator' }] as const;
  const engine = async () => Response.json({ id: 'x', usage: { prompt_tokens: 3, completion_tokens: 5 } });
  const asleep = sleeper({ accounts, engine, ...settings });
  const policy = 'fallback_provider: {engine: openai, model: target}';
  assert.equal((await asleep.site.admin('PUT', '/admin/policy', policy)).status, 200);
  return { ...asleep, asked: () => asleep.site.engineCalls.map(({ url }) => new URL(url).host) };
}

describe('the end of a hold before a provider', () => {
  it('is the answer of the policy’s provider, if it has one (R-140)', async () => {
    const { ask, held, timers, asked, outcomes } = await withProvider();
    const asking = ask();
    await held(1);
    timers.advance(119_900);
    assert.deepEqual(asked(), []);
    timers.advance(200);
    const response = await asking;
    assert.deepEqual([response.status, asked(), await outcomes()], [200, ['provider.example'], ['timeout 1']]);
    assert.match(`${response.headers.get('server-timing')}`, /^hold;dur=\d+$/);
  });

  it('comes before the provider, which is asked at once by who does not wait', async () => {
    const { ask, asked } = await withProvider();
    assert.equal(await outcomeOf(ask({ ...bearer('key-1'), 'x-hivenet-max-wait': '0s' })), '200');
    assert.deepEqual(asked(), ['provider.example']);
    const awake = await withProvider();
    const asking = awake.ask();
    await awake.held(1);
    awake.wake();
    assert.equal(await outcomeOf(asking), '200');
    assert.deepEqual(awake.asked(), ['10.0.0.1:8000']);
  });

  it('is 503 also with a provider, for what none has: embeddings', async () => {
    const map = mapOf([{ ...wakesAt(HERE), kind: 'embedding' }]);
    const { held, timers, site, asked } = await withProvider({ agents: [], map });
    const asking = site.ask('/v1/embeddings', { model: 'm', input: 'x' }, bearer('key-1'));
    await held(1);
    timers.advance(120_000);
    const response = await asking;
    assert.deepEqual([response.status, response.headers.get('retry-after'), asked()], [503, '5', []]);
  });

  it('is 401 for a key that is disabled meanwhile, and nothing for the provider', async () => {
    const { ask, held, timers, asked, outcomes, site } = await withProvider();
    const asking = ask();
    await held(1);
    await pushKey(site, { enabled: false });
    timers.advance(120_000);
    assert.equal(await outcomeOf(asking), '401 unauthorized');
    assert.deepEqual([asked(), await outcomes()], [[], ['revoked 1']]);
  });
});
