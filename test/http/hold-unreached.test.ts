// A model that was stopped behind the router's back: its agent is healthy until the first request finds nobody there. That
// request goes the way of the next one (decisions.md, "Hold at zero"; R-030).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineFetch } from '../../src/agents/engine-fetch.ts';
import { placement, type TestRouterSettings } from '../support/test-router.ts';
import { HERE, mapOf, SIBLING, sleeper, wakesAt } from './hold-fixture.ts';
import { ASK, refusing, USED } from './limits-fixture.ts';
import { CHAT_BODY, claimsOf, errorOf, outcomeOf } from './redirect-fixture.ts';

const ASLEEP = '503 no_agents_available';

/** A site whose only agent is healthy still; its engine is down until the test says otherwise. */
function stopped(settings: TestRouterSettings = {}, quota: object = {}) {
  const state: { engine: EngineFetch } = { engine: refusing };
  const site = sleeper({
    agents: [{ models: ['m'], capacity: 1 }],
    extraKeys: [{ id: 'limited', secret: 'sk-limited', owner: 'acme', quota }],
    engine: (url, init) => state.engine(url, init),
    ...settings,
  });
  const start = (): void => {
    state.engine = async () => Response.json(USED);
    site.wake();
  };
  return { ...site, state, start };
}

describe('a request that finds the engine of a healthy agent gone', () => {
  it('is held, and served when the model is there again', async () => {
    const { ask, held, start, site, outcomes } = stopped();
    const asking = ask();
    await held(1);
    assert.equal(site.silence.at(-1), 'allow');
    start();
    const response = await asking;
    assert.match(`${response.headers.get('server-timing')}`, /^hold;dur=\d+$/);
    assert.deepEqual([response.status, await outcomes()], [200, ['served 1']]);
    await response.text();
    assert.equal(site.accessLines[0]?.['agent_id'], 'agent-1');
    assert.deepEqual([site.ports.bodies.budget.bytes, site.silence.at(-1)], [0, 'end']);
  });

  it('is charged once, and its tokens are taken where it is served', async () => {
    const { ask, held, start, site } = stopped({}, { requests_per_minute: 1, tokens_per_day: 10_000 });
    const asking = ask(ASK);
    await held(1);
    assert.equal(await outcomeOf(ask(ASK)), '429 rate_limit_exceeded');
    start();
    const response = await asking;
    await response.text();
    const left = ['requests', 'tokens'].map((what) => response.headers.get(`x-ratelimit-remaining-${what}`));
    assert.deepEqual([response.status, left, site.engineCalls.length], [200, ['0', '9985'], 2]);
  });

  it('is held again, in its old place and for what is left of its time, when that engine is gone at its release', async () => {
    const { ask, held, state, wake, timers, site } = stopped({ map: mapOf([wakesAt(HERE, { hold_budget: '10s' })]) });
    const seen: string[] = [];
    const bodyOf = (tag: string) => ({ body: CHAT_BODY.replace('{', `{"user":"${tag}",`) });
    const first = ask(undefined, bodyOf('first'));
    await held(1);
    const second = ask(undefined, bodyOf('second'));
    await held(2);
    timers.advance(6_000);
    site.monotonicMs = site.nowMs + 1_000;
    let tries = 0;
    state.engine = (url, init) => {
      tries += 1;
      return refusing(url, init);
    };
    wake();
    while (tries === 0) await new Promise((resolve) => setImmediate(resolve));
    await held(2);
    state.engine = async (_url, init) => {
      seen.push(`${/"user":"(\w+)"/.exec(new TextDecoder().decode(init.body as Uint8Array<ArrayBuffer>))?.[1]}`);
      return Response.json(USED);
    };
    timers.advance(3_900);
    await held(2);
    site.monotonicMs += 2_000;
    wake();
    assert.equal((await first).headers.get('server-timing'), 'hold;dur=3000', 'both holds');
    assert.deepEqual([await outcomeOf(first), await outcomeOf(second)], ['200', '200']);
    assert.deepEqual([seen, tries], [['first', 'second'], 1]);
    assert.equal(site.ports.agents.get('agent-1')?.active, 0);
  });

  it('has no time beside that of its first hold', async () => {
    const { ask, held, wake, timers, outcomes, state } = stopped({
      map: mapOf([wakesAt(HERE, { hold_budget: '10s' })]),
    });
    const asking = ask();
    await held(1);
    timers.advance(9_900);
    const answered = Promise.withResolvers<void>();
    state.engine = (url, init) => {
      timers.advance(99);
      answered.resolve();
      return refusing(url, init);
    };
    wake();
    await answered.promise;
    await held(1);
    timers.advance(101);
    assert.equal(await outcomeOf(asking), ASLEEP);
    assert.deepEqual(await outcomes(), ['served 1', 'timeout 1']);
  });

  it('goes to the sibling that has the model, and costs nothing here', async () => {
    const map = mapOf([wakesAt(HERE), placement('m', 'chat', SIBLING)]);
    const { ask, site } = stopped({ map }, { requests_per_minute: 1, tokens_per_day: 10_000 });
    const response = await ask(ASK);
    assert.deepEqual([response.status, claimsOf(response).target, claimsOf(response).hop], [307, SIBLING, 1]);
    assert.equal(response.headers.get('x-ratelimit-remaining-requests'), null);
    assert.equal(site.silence.at(-1), 'end');
    assert.equal(await outcomeOf(ask(ASK)), '307 model_redirected', 'the request came back');
  });

  it('waits before the provider is asked, and is that one’s without a hold', async () => {
    const accounts = [{ dialect: 'openai', baseUrl: 'https://provider.example', apiKey: 'sk-operator' }] as const;
    const policy = 'fallback_provider: {engine: openai, model: target}';
    const provided = async (more: TestRouterSettings) => {
      const site = stopped({ accounts, ...more });
      assert.equal((await site.site.admin('PUT', '/admin/policy', policy)).status, 200);
      site.state.engine = (url, init) =>
        url.startsWith('https://provider') ? Promise.resolve(Response.json(USED)) : refusing(url, init);
      return site;
    };
    const { ask, held, timers, outcomes } = await provided({});
    const asking = ask();
    await held(1);
    timers.advance(120_000);
    assert.deepEqual([await outcomeOf(asking), await outcomes()], ['200', ['timeout 1']]);
    for (const more of [{ hold: { defaultHoldMs: 0 } }, { siteId: '', map: undefined }]) {
      const now = await provided(more);
      assert.equal(await outcomeOf(now.ask()), '200');
      assert.deepEqual(
        now.site.engineCalls.map(({ url }) => new URL(url).host),
        ['10.0.0.1:8000', 'provider.example'],
      );
    }
  });

  it('is the usual error where nobody holds it, with and without the feature (R-001)', async () => {
    for (const more of [{ hold: { defaultHoldMs: 0 } }, { siteId: '', map: undefined }]) {
      const { ask, site } = stopped(more, { requests_per_minute: 1 });
      const { code, message } = await errorOf(await ask(ASK));
      const said =
        'siteId' in more ? 'No agent of the model "m" is available.' : 'No agent that serves the model "m" is healthy.';
      assert.deepEqual([code, message, site.engineCalls.length], ['no_agents_available', said, 1]);
      assert.deepEqual([await outcomeOf(ask(ASK)), site.silence.at(-1)], [ASLEEP, 'end'], 'the request came back');
    }
  });

  it('stays with the agent that is left', async () => {
    const agents = [{ models: ['m'] }, { models: ['m'] }];
    const { ask, state } = stopped({ agents });
    state.engine = (url, init) =>
      url.includes('10.0.0.1') ? refusing(url, init) : Promise.resolve(Response.json(USED));
    assert.equal(await outcomeOf(ask()), '200');
  });

  it('is decided no second time once an engine has had it', async () => {
    const { ask, state, site } = stopped();
    let calls = 0;
    state.engine = async (url, init) => {
      calls += 1;
      if (calls > 1) return refusing(url, init);
      throw Object.assign(new TypeError('reset'), { code: 'ECONNRESET' });
    };
    assert.equal(await outcomeOf(ask()), '502 backend_error');
    assert.equal(site.ports.holds.isHolding, false);
  });
});
