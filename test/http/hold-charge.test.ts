// What a request that is held costs: one request of the key's quota from the start of its hold, and its tokens when it goes
// to an agent. Whatever never reaches one is given back (decisions.md, "Hold at zero").

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUILT_IN_POLICY } from '../../src/policy/policy.ts';
import { bearer, placement, type TestRouterSettings } from '../support/test-router.ts';
import { mapOf, SIBLING, sleeper, wakesAt } from './hold-fixture.ts';
import { ASK, toldOf } from './limits-fixture.ts';
import { outcomeOf } from './redirect-fixture.ts';

const LIMITED = '429 rate_limit_exceeded';

/** A sleeper with a key that may send one request a minute. */
function limited(quota: object = { requests_per_minute: 1 }, settings: TestRouterSettings = {}) {
  const extraKeys = [{ id: 'limited', secret: 'sk-limited', owner: 'acme', quota }];
  const site = sleeper({ extraKeys, ...settings });
  /** Whether the key may send a request now; it is held, and its client leaves. */
  async function isOneLeft(): Promise<boolean> {
    const client = new AbortController();
    const asking = outcomeOf(site.ask(ASK, { signal: client.signal }));
    if ((await Promise.race([asking, site.held(1)])) !== undefined) return false;
    client.abort();
    await asking;
    return true;
  }
  return { ...site, isOneLeft };
}

describe('a request that is held, with a key that may send one a minute', () => {
  it('is charged when the hold begins, before any agent is there', async () => {
    const { ask, held, wake } = limited();
    const first = toldOf(ask(ASK));
    await held(1);
    assert.equal(await outcomeOf(ask(ASK)), LIMITED);
    wake();
    assert.deepEqual(await first, { status: 200, requests: '0' });
    assert.equal(await outcomeOf(ask(ASK)), LIMITED);
  });

  it('counts one replica of a limit for each of them', async () => {
    const { ask, held, wake } = limited({
      per_model: { m: { requests_per_minute_per_replica: 1, tokens_per_day: 0 } },
    });
    const first = outcomeOf(ask(ASK));
    await held(1);
    assert.equal(await outcomeOf(ask(ASK)), LIMITED);
    wake();
    assert.equal(await first, '200');
  });

  const endings: readonly (readonly [string, (site: ReturnType<typeof limited>) => unknown])[] = [
    ['503 no_agents_available', ({ timers }) => timers.advance(120_000)],
    ['503 backend_unavailable', ({ site }) => site.ports.holds.stop()],
    ['307 model_redirected', ({ site }) => push(site, [placement('m', 'chat', SIBLING)])],
    ['503 no_agents_available', ({ site }) => push(site, [])],
  ];
  for (const [outcome, end] of endings) {
    it(`costs nothing when it ends as ${outcome}`, async () => {
      const site = limited();
      const asking = site.ask(ASK);
      await site.held(1);
      await end(site);
      const response = await asking;
      assert.equal(response.headers.get('x-ratelimit-remaining-requests'), null);
      assert.equal(await outcomeOf(Promise.resolve(response)), outcome);
      assert.equal(site.site.ports.quotas.requests.take('acme', { perMinute: 1, burst: 1 }, site.site.nowMs).ok, true);
    });
  }

  it('costs nothing when its client leaves', async () => {
    const site = limited();
    assert.deepEqual([await site.isOneLeft(), await site.isOneLeft()], [true, true]);
  });

  it('leaves its slot to the next when the tokens of the day are not there any more', async () => {
    const { ask, held, wake, site } = limited(
      { tokens_per_day: 1 },
      { agents: [{ models: ['m'], capacity: 1, down: true }] },
    );
    const first = outcomeOf(ask(ASK));
    await held(1);
    const second = outcomeOf(ask(bearer('key-1')));
    await held(2);
    wake();
    assert.deepEqual([await first, await second], ['429 token_limit_exceeded', '200']);
    assert.equal(site.ports.agents.get('agent-1')?.active, 0);
  });

  it('leaves its slot to the next when a gate refuses it', async () => {
    const policy = { ...BUILT_IN_POLICY, limits: { ...BUILT_IN_POLICY.limits, imagesMax: 0, maxInputTokens: 1 } };
    const { ask, held, wake, site } = limited({}, { policies: { global: policy, documents: new Map() } });
    const asking = outcomeOf(ask(ASK));
    await held(1);
    wake();
    assert.equal(await asking, '400 input_too_long');
    assert.equal(site.ports.agents.get('agent-1')?.active, 0);
  });
});

async function push(site: ReturnType<typeof limited>['site'], placements: readonly object[]): Promise<void> {
  const sleeping = placements.length === 0 ? [{ ...wakesAt('site-fr-1'), scale_from_zero: false }] : placements;
  const response = await site.admin('POST', '/admin/sibling-map', mapOf(sleeping, { version: 2 }));
  assert.equal(response.status, 200);
}
