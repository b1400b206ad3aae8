// What changes while requests are held: the map, and the key that one was sent with.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, placement, type TestRouter } from '../support/test-router.ts';
import { HERE, mapOf, pushKey, SIBLING, sleeper, wakesAt } from './hold-fixture.ts';
import { claimsOf, follow, outcomeOf, siteB, TOKEN_REQUEST_ID, tokenForB } from './redirect-fixture.ts';

const ASLEEP = '503 no_agents_available';

async function pushMap(site: TestRouter, placements: readonly object[], more: object = {}): Promise<void> {
  const response = await site.admin('POST', '/admin/sibling-map', mapOf(placements, { version: 2, ...more }));
  assert.equal(response.status, 200);
}

/** A request that came to B by a token and is held there. */
async function heldAtB(hop: 1 | 2) {
  const map = mapOf([wakesAt(SIBLING)]);
  const site = siteB({ agents: [{ models: ['m'], down: true }], map });
  const token = tokenForB({ hop, scope: { kind: 'eu' } });
  const asking = site.ask(
    `/v1/chat/completions?rt=${token}`,
    '{"model":"m","messages":[{"role":"user","content":"hi"}]}',
  );
  while (!site.ports.holds.isHolding) await new Promise((resolve) => setImmediate(resolve));
  return { site, token, asking };
}

describe('a map that is pushed while requests are held', () => {
  it('sends them at once to the sibling that has the model now', async () => {
    const { ask, held, site, outcomes } = sleeper();
    const asking = ask();
    await held(1);
    await pushMap(site, [placement('m', 'chat', SIBLING)]);
    const response = await asking;
    assert.deepEqual(
      [claimsOf(response).target, claimsOf(response).hop, await outcomes()],
      [SIBLING, 1, ['redirected 1']],
    );
    assert.equal(await site.metric(`hivenet_redirects_total{model="m",site="${SIBLING}",hop="1"}`), 1);
    const line = site.accessLines.find(({ path }) => path === '/v1/chat/completions');
    assert.deepEqual([line?.['status_code'], line?.['redirect_site']], [307, SIBLING]);
    assert.equal(site.silence.at(-1), 'end');
  });

  it('leaves those who go nowhere to the usual error: 503 when agents are down, 404 when there are none', async () => {
    for (const [agents, error] of [
      [[{ models: ['m'], down: true }], ASLEEP],
      [[], '404 model_not_found'],
    ] as const) {
      const { ask, held, site, outcomes } = sleeper({ agents });
      const asking = ask();
      await held(1);
      await pushMap(site, [{ ...wakesAt(HERE), scale_from_zero: false }]);
      assert.equal(await outcomeOf(asking), error);
      assert.deepEqual(await outcomes(), ['unplaced 1']);
    }
  });

  it('redirects once more what came by one redirect, with its IDs, and never back to the origin (R-038, R-088)', async () => {
    const { site, asking } = await heldAtB(1);
    await pushMap(site, [placement('m', 'chat', 'site-de-1'), placement('m', 'chat', HERE)]);
    const { target, hop, origin, requestId } = claimsOf(await asking);
    assert.deepEqual([target, hop, origin, requestId], ['site-de-1', 2, HERE, TOKEN_REQUEST_ID]);
  });

  it('redirects nothing that came by two, and its token stays used (R-025, R-140)', async () => {
    const { site, asking, token } = await heldAtB(2);
    await pushMap(site, [placement('m', 'chat', 'site-de-1')]);
    assert.equal(await outcomeOf(asking), ASLEEP);
    assert.equal(await outcomeOf(follow(site, token)), '401 unauthorized');
  });

  it('moves nobody by its hints', async () => {
    const { ask, held, site, wake } = sleeper();
    const asking = ask();
    await held(1);
    const hints = { hint: { warm: true, load: 'full' } };
    await pushMap(site, [wakesAt(HERE, hints)], { hints_expire_at: '2026-11-03T12:01:00Z' });
    await held(1);
    wake();
    assert.equal(await outcomeOf(asking), '200');
  });

  it('counts another budget from the start of the hold', async () => {
    const { ask, held, site, timers } = sleeper();
    const asking = ask();
    await held(1);
    timers.advance(60_000);
    await pushMap(site, [wakesAt(HERE, { hold_budget: '61s' })]);
    timers.advance(900);
    await held(1);
    timers.advance(100);
    assert.equal(await outcomeOf(asking), ASLEEP);
  });

  it('leaves a request its place that waits for a slot of an agent that is awake, whatever the queue’s bound', async () => {
    const { ask, held, site, wake, outcomes } = sleeper();
    const agent = site.ports.agents.get('agent-1');
    const asking = ask();
    await held(1);
    const releases = Array.from({ length: 4 }, () => agent?.take());
    wake();
    await held(1);
    await pushMap(site, [placement('m', 'chat', SIBLING)]);
    assert.equal(await outcomeOf(ask()), '503 no_capacity', 'a newcomer has none');
    await held(1);
    releases[0]?.();
    assert.deepEqual([await outcomeOf(asking), await outcomes()], ['200', ['served 1']]);
  });

  it('ends that request at the request timeout as any that waits for a slot', async () => {
    const { ask, held, site, wake, timers, outcomes } = sleeper();
    const asking = ask();
    await held(1);
    const agent = site.ports.agents.get('agent-1');
    for (let count = 0; count < 4; count += 1) agent?.take();
    wake();
    await pushMap(site, [placement('m', 'chat', SIBLING)]);
    timers.advance(600_000);
    assert.deepEqual([await outcomeOf(asking), await outcomes()], ['504 request_timeout', ['timeout 1']]);
  });
});

describe('a key that is replaced while its request is held', () => {
  for (const [what, fields, refusal] of [
    ['disabled', { enabled: false }, '401 unauthorized'],
    ['gone', undefined, '401 unauthorized'],
    ['kept from the model', { allowed_models: ['other'] }, '403 model_forbidden'],
  ] as const) {
    it(`is ${what}: refused where it would go on, by no agent, and the slot goes to the next`, async () => {
      const { ask, held, site, wake, outcomes } = sleeper();
      const asking = ask();
      await held(1);
      await pushKey(site, fields);
      await held(1);
      wake();
      assert.equal(await outcomeOf(asking), refusal);
      assert.deepEqual([site.engineCalls.length, await outcomes()], [0, ['revoked 1']]);
      assert.equal(site.ports.agents.get('agent-1')?.active, 0);
      assert.equal(site.silence.at(-1), 'end');
    });
  }

  it('expires: refused where it would go on, and served up to then', async () => {
    for (const [afterMs, outcome] of [
      [999, '200'],
      [1_000, '401 unauthorized'],
    ] as const) {
      const { ask, held, site, wake } = sleeper();
      await pushKey(site, { expires_at: new Date(site.nowMs + 1_000).toISOString() });
      const asking = ask();
      await held(1);
      site.nowMs += afterMs;
      wake();
      assert.equal(await outcomeOf(asking), outcome);
    }
  });

  it('is not redirected either', async () => {
    const { ask, held, site } = sleeper();
    const asking = ask();
    await held(1);
    await pushKey(site, { enabled: false });
    await pushMap(site, [placement('m', 'chat', SIBLING)]);
    assert.equal(await outcomeOf(asking), '401 unauthorized');
  });

  it('is pushed as it was: served', async () => {
    const { ask, held, site, wake } = sleeper();
    const asking = ask(bearer('key-1'));
    await held(1);
    await pushKey(site, {});
    wake();
    assert.equal(await outcomeOf(asking), '200');
  });

  it('has used its token up', async () => {
    const { site, asking, token } = await heldAtB(1);
    await pushKey(site, { enabled: false });
    site.ports.agents.get('agent-1')?.reportProbe({ ok: true, value: ['m'] }, true);
    assert.equal(await outcomeOf(asking), '401 unauthorized');
    await pushKey(site, {});
    assert.equal(await outcomeOf(follow(site, token)), '401 unauthorized');
  });
});
