// Where a request is charged: at the site that serves it, by the quotas that its key has there, and nowhere else.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reading } from '../agents/readings.ts';
import { FIXTURE_MAP, type TestRouterSettings } from '../support/test-router.ts';
import { ASK, limitedSite, toldOf } from './limits-fixture.ts';
import { CHAT, CHAT_BODY, locationOf, outcomeOf, rejections } from './redirect-fixture.ts';

/** With an agent for `local`; `m` is at the other one. */
const FIRST: TestRouterSettings = { siteId: 'site-fr-1', map: FIXTURE_MAP, agents: [{ models: ['local'] }] };
const SECOND: TestRouterSettings = { siteId: 'site-fr-2', map: FIXTURE_MAP };
const LOCAL = { model: 'local' };

/** Everything that a quota or a gate could have noted. */
function counters({ ports }: ReturnType<typeof limitedSite>) {
  const { quotas, gates } = ports;
  const sizes = [quotas.requests, quotas.tokens, gates.inputRates, gates.outputRates];
  return [...sizes.map((store) => (store as unknown as { size: number }).size), gates.occupancy.held().length];
}

describe('a redirect', () => {
  it('charges, admits and queues nothing: after 50 of them the only request of the minute is left (R-027)', async () => {
    const quota = { requests_per_minute: 1, tokens_per_day: 50, input_tokens_per_minute: 50 };
    const site = limitedSite(quota, FIRST);
    await site.admin(
      'PUT',
      '/admin/policy',
      'mode: serverless\nadmit_budget_tokens: 9\nmax_inflight: 1\nrouting_policy: {}',
    );
    for (let count = 0; count < 50; count += 1) {
      assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, ASK)), '307 model_redirected');
    }
    assert.deepEqual(counters(site), [0, 0, 0, 0, 0]);
    assert.deepEqual(await toldOf(site.ask(CHAT, LOCAL, ASK)), { status: 200, requests: '0', tokens: '35' });
  });

  it('happens although every quota here is used up (R-028)', async () => {
    const site = limitedSite({ requests_per_minute: 1, tokens_per_day: 1 }, FIRST);
    await site.ask(CHAT, LOCAL, ASK);
    assert.equal(await outcomeOf(site.ask(CHAT, LOCAL, ASK)), '429 rate_limit_exceeded');
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, ASK)), '307 model_redirected');
  });

  it('is no way out of a gate that is shut: a shed request is a 429 here (R-022)', async () => {
    const site = limitedSite({}, { ...FIRST, agents: [{ models: ['m'] }] });
    await site.admin('PUT', '/admin/policy', 'shed_if: {waiting_requests: {gt: 5}}\nrouting_policy: {}');
    site.ports.agents.all()[0]?.reportMetrics(reading({ waitingRequests: 6 }), site.nowMs);
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, ASK)), '429 concurrency_limit_exceeded');
    assert.deepEqual(await site.family('hivenet_redirects_total'), []);
  });
});

describe('a request that came by a redirect', () => {
  const follow = async (first: ReturnType<typeof limitedSite>, second: ReturnType<typeof limitedSite>) => {
    const { pathname, search } = locationOf(await first.ask(CHAT, CHAT_BODY, ASK));
    return { url: pathname + search, answer: await second.ask(pathname + search, CHAT_BODY) };
  };

  it("is charged once, here, by this site's quotas of the key (R-127, R-132)", async () => {
    const first = limitedSite({ requests_per_minute: 1 }, FIRST);
    const second = limitedSite({ requests_per_minute: 2, tokens_per_day: 100 }, SECOND);
    const { answer } = await follow(first, second);
    assert.deepEqual(await toldOf(answer), { status: 200, requests: '1', tokens: '85' });
    assert.deepEqual(counters(first), [0, 0, 0, 0, 0]);
    assert.deepEqual(await toldOf(second.ask(CHAT, CHAT_BODY, ASK)), { status: 200, requests: '0', tokens: '70' });
  });

  it('has used its token when the quota here refuses it (R-133)', async () => {
    const first = limitedSite({}, FIRST);
    const second = limitedSite({ requests_per_minute: 1 }, SECOND);
    await second.ask(CHAT, CHAT_BODY, ASK);
    const { url, answer } = await follow(first, second);
    assert.deepEqual(await toldOf(answer), {
      status: 429,
      code: 'rate_limit_exceeded',
      requests: '0',
      retryAfter: '60',
    });
    second.nowMs += 60_000 - 1;
    assert.equal(await outcomeOf(second.ask(url, CHAT_BODY)), '401 unauthorized');
    assert.equal((await rejections(second)).replay, 1);
  });

  it('costs nothing where its token is refused (R-132)', async () => {
    const first = limitedSite({}, FIRST);
    const second = limitedSite({ requests_per_minute: 9, tokens_per_day: 100 }, SECOND);
    const { pathname, search } = locationOf(await first.ask(CHAT, CHAT_BODY, ASK));
    assert.equal(await outcomeOf(second.ask(pathname + search, `${CHAT_BODY} `)), '401 unauthorized');
    assert.deepEqual(counters(second), [0, 0, 0, 0, 0]);
  });
});
