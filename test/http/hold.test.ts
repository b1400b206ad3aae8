// Requests whose model is asleep here: who waits, and what becomes of them (decisions.md, "Hold at zero").

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { bearer, placement } from '../support/test-router.ts';
import { HERE, mapOf, SIBLING, sleeper, wakesAt } from './hold-fixture.ts';
import { CHAT, CHAT_BODY, errorOf, follow, outcomeOf, siteB, TOKEN_REQUEST_ID, tokenForB } from './redirect-fixture.ts';

const NOT_FOUND = '404 model_not_found';
const ASLEEP = '503 no_agents_available';
const COLD = { hint: { warm: false } };
const FRESH = { hints_expire_at: '2026-11-03T12:01:00Z' };

describe('a request whose model is asleep here', () => {
  it('waits until it wakes, is served, and told how long it has waited (R-030)', async () => {
    const { site, ask, held, wake, outcomes } = sleeper();
    const asking = ask();
    await held(1);
    assert.equal(await site.metric('hivenet_hold_requests{model="m"}'), 1);
    assert.deepEqual([site.engineCalls.length, site.silence.at(-1)], [0, 'allow']);
    site.monotonicMs = site.nowMs + 2_500;
    wake();
    const response = await asking;
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('server-timing'), 'hold;dur=2500');
    await response.text();
    assert.equal(new TextDecoder().decode(site.engineCalls[0]?.body), CHAT_BODY);
    const [line] = site.accessLines;
    assert.deepEqual([line?.['status_code'], line?.['hold_ms'], line?.['agent_id']], [200, 2_500, 'agent-1']);
    assert.deepEqual(await outcomes(), ['served 1']);
    assert.equal(await site.metric('hivenet_hold_requests{model="m"}'), 0);
    assert.equal(await site.metric('hivenet_hold_seconds_sum'), 2.5);
    assert.deepEqual(
      site.wakes.map(([what, { model, kind, held: count }]) => `${what} ${model} ${kind} ${count}`),
      ['wake_wanted m chat 1', 'call m chat 1', 'wake_done m chat 0'],
    );
    assert.equal(site.silence.at(-1), 'end');
  });

  it('waits also where no agent lists it yet', async () => {
    const { ask, held, site } = sleeper({ agents: [] });
    const asking = ask();
    await held(1);
    const fixed = { engine: 'vllm', capability: 'llm', backendUrl: 'http://10.0.0.1:8000', capacity: 1 } as const;
    const agent = site.ports.agents.add({ ...fixed, id: 'new', models: [] });
    agent.reportProbe({ ok: true, value: ['m'] });
    const response = await asking;
    assert.equal(response.status, 200);
    await response.text();
    const labels = 'region="Unknown",engine="vllm",model="m",tenant_id="owner-1"';
    assert.equal(await site.metric(`hivenet_routing_requests_routed_total{${labels}}`), 1);
  });

  it('does not wait where it is not woken: not placed, not from zero, of another kind (R-031, R-051)', async () => {
    const agents: never[] = [];
    for (const placements of [
      [],
      [{ ...wakesAt(HERE), scale_from_zero: false }],
      [{ ...wakesAt(HERE), kind: 'embedding' }],
      [{ ...wakesAt(HERE), model: 'other' }],
    ]) {
      const { ask, timers } = sleeper({ agents, map: mapOf(placements) });
      assert.equal(await outcomeOf(ask()), NOT_FOUND);
      assert.equal(timers.pending, 0);
    }
  });

  it('does not wait with the feature off, whatever header it has, which no engine sees (R-001)', async () => {
    const { ask, site } = sleeper({ siteId: '', map: undefined });
    assert.equal(await outcomeOf(ask({ ...bearer('key-1'), 'x-hivenet-max-wait': 'soon' })), ASLEEP);
    assert.deepEqual(await site.family('hivenet_hold_seconds_count'), []);
  });

  it('is redirected instead when a sibling has it (R-026)', async () => {
    const { ask } = sleeper({ map: mapOf([wakesAt(HERE), placement('m', 'chat', SIBLING)]) });
    assert.equal(await outcomeOf(ask()), '307 model_redirected');
  });

  it('waits here instead when every home site is cold, while hints are fresh (R-048, R-050)', async () => {
    const map = mapOf([wakesAt(HERE, COLD), wakesAt(SIBLING, COLD)], FRESH);
    const { ask, held, wake, site } = sleeper({ map });
    const asking = ask();
    await held(1);
    wake();
    assert.equal((await asking).status, 200);
    const later = sleeper({ map });
    later.site.nowMs += 60_000;
    assert.equal(await outcomeOf(later.ask()), '307 model_redirected');
    assert.equal(site.engineCalls.length, 1);
  });

  it('is redirected to the cold sibling when it cannot wait (D-05)', async () => {
    const map = mapOf([wakesAt(HERE, COLD), wakesAt(SIBLING, COLD)], FRESH);
    assert.equal(await outcomeOf(sleeper({ map, hold: { defaultHoldMs: 0 } }).ask()), '307 model_redirected');
    const headers = { ...bearer('key-1'), 'x-hivenet-max-wait': '0s' };
    assert.equal(await outcomeOf(sleeper({ map }).ask(headers)), '307 model_redirected');
  });

  it('waits here when the redirect cannot be written (R-091)', async () => {
    const { site, held } = sleeper({ map: mapOf([wakesAt(HERE), placement('m', 'chat', SIBLING)]) });
    const query = `${CHAT}?q=${'x'.repeat(4_096)}`;
    const asking = site.ask(query, CHAT_BODY, bearer('key-1'));
    await held(1);
    site.ports.holds.stop();
    assert.equal(await outcomeOf(asking), '503 backend_unavailable');
  });

  it('is refused when as many wait as may, and told when to ask again', async () => {
    const { ask, held, outcomes, site } = sleeper({ hold: { maxPerModel: 2 } });
    const all = [ask(), ask()];
    await held(2);
    const response = await ask();
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1']);
    assert.equal((await errorOf(response))['code'], 'queue_full');
    assert.equal(site.accessLines.at(-1)?.['hold_ms'], undefined);
    assert.deepEqual(await outcomes(), ['full 1']);
    site.ports.holds.stop();
    await Promise.all(all);
  });

  it('leaves the bodies that may be in flight to others, up to a bound of its own', async () => {
    const size = CHAT_BODY.length;
    const counted: number[] = [];
    const engine = async () => {
      counted.push(site.ports.bodies.budget.bytes);
      return Response.json({});
    };
    const { ask, held, site, wake } = sleeper({ bodyMemoryBytes: size, hold: { maxBytes: 2 * size }, engine });
    const declared = () => ask({ ...bearer('key-1'), 'content-length': `${size}` });
    const all = [declared()];
    await held(1);
    all.push(declared());
    await held(2);
    assert.equal(await outcomeOf(declared()), '503 queue_full');
    assert.equal(site.ports.bodies.budget.bytes, 0);
    wake();
    for (const asking of all) assert.equal(await outcomeOf(asking), '200');
    assert.equal(Math.max(...counted), 2 * size, 'while they are served they count as any others');
    assert.equal(site.ports.bodies.budget.bytes, 0);
  });

  it('counts a body with another name in it beside the one that came', async () => {
    const body = '{"model":"auto"}';
    const renamed = '{"model":"m"}';
    const settings = { aliases: { auto: ['m'] } };
    const headers = { ...bearer('key-1'), 'content-length': `${body.length}` };
    const bytes = body.length + renamed.length;
    const fits = sleeper({ ...settings, hold: { maxBytes: bytes } });
    const asking = fits.ask(headers, { body });
    await fits.held(1);
    fits.wake();
    assert.equal(await outcomeOf(asking), '200');
    const tooLarge = sleeper({ ...settings, hold: { maxBytes: bytes - 1 } });
    assert.equal(await outcomeOf(tooLarge.ask(headers, { body })), '503 queue_full');
  });

  it('counts what an encoded body decodes to, and no second time what an alias makes of that', async () => {
    for (const model of ['auto', 'm']) {
      const { ask, held, wake, site } = sleeper({ aliases: { auto: ['m'] } });
      const counted: number[] = [];
      const { budget } = site.ports.bodies;
      const setAside = budget.setAside.bind(budget);
      budget.setAside = (share) => {
        counted.push(setAside(share));
        return counted[0] ?? 0;
      };
      const hold = site.ports.holds.hold.bind(site.ports.holds);
      site.ports.holds.hold = (request) => {
        counted.push(request.bytes);
        return hold(request);
      };
      const body = gzipSync(JSON.stringify({ model, pad: 'x'.repeat(20_000 - model.length) }));
      const asking = ask({ ...bearer('key-1'), 'content-encoding': 'gzip' }, { body });
      await held(1);
      wake();
      assert.equal(await outcomeOf(asking), '200');
      const [ofBody = 0, ofHold] = counted;
      assert.ok(ofBody > 20_000);
      assert.equal(ofHold, ofBody, model);
    }
  });

  it('is gone at once when its client leaves (E7)', async () => {
    const { ask, held, outcomes, site } = sleeper();
    const client = new AbortController();
    const asking = ask(bearer('key-1'), { signal: client.signal });
    await held(1);
    client.abort();
    assert.deepEqual(site.ports.holds.counts(), []);
    await asking;
    assert.equal(await site.metric('hivenet_hold_requests{model="m"}'), 0);
    assert.deepEqual([site.accessLines[0]?.['status_code'], await outcomes()], [499, ['client_gone 1']]);
  });

  it('is told 503 at once, with a Retry-After, when the router stops', async () => {
    const { ask, held, outcomes, site } = sleeper();
    const asking = ask();
    await held(1);
    site.ports.holds.stop();
    const response = await asking;
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1']);
    assert.deepEqual(await outcomes(), ['shutdown 1']);
    assert.equal(await outcomeOf(ask()), '503 backend_unavailable', 'nor does a new one wait');
  });
});

describe('the end of a hold', () => {
  it('is 503 no_agents_available with Retry-After: 5, in time (R-196)', async () => {
    const { ask, held, timers, outcomes, site } = sleeper({ map: mapOf([wakesAt(HERE, { hold_budget: '2s' })]) });
    const asking = ask();
    await held(1);
    timers.advance(1_999);
    await held(1);
    timers.advance(101);
    const response = await asking;
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '5']);
    assert.deepEqual((await errorOf(response))['code'], 'no_agents_available');
    assert.deepEqual(await outcomes(), ['timeout 1']);
    const labels = 'region="",engine="",model="m",tenant_id="owner-1"';
    assert.equal(await site.metric(`hivenet_routing_requests_failed_total{${labels}}`), 1);
    assert.equal(site.accessLines[0]?.['error_code'], 'no_agents_available');
    assert.equal(site.silence.at(-1), 'end');
  });

  it('says that the agents are busy where they are, and not that they sleep', async () => {
    const { ask, held, timers, wake, site } = sleeper();
    const asking = ask();
    await held(1);
    const agent = site.ports.agents.get('agent-1');
    for (let count = 0; count < 4; count += 1) agent?.take();
    const sleeping = sleeper();
    const other = sleeping.ask();
    await sleeping.held(1);
    wake();
    timers.advance(120_000);
    sleeping.timers.advance(120_000);
    assert.match(`${(await errorOf(await asking))['message']}`, /agents of the model "m" are busy/);
    assert.match(`${(await errorOf(await other))['message']}`, /model "m" is asleep/);
  });

  for (const [what, placements] of [
    ['the default', [wakesAt(HERE)]],
    ['the hold_budget of this site', [wakesAt(HERE, { hold_budget: '240s' })]],
  ] as const) {
    it(`comes as the client asked, but not after ${what} (R-196)`, async () => {
      const { ask, held, timers } = sleeper({ map: mapOf(placements) });
      const [soon, late] = [
        ask({ ...bearer('key-1'), 'x-hivenet-max-wait': '20s' }),
        ask({ ...bearer('key-1'), 'x-hivenet-max-wait': '1h' }),
      ];
      await held(2);
      timers.advance(20_100);
      assert.equal(await outcomeOf(soon), ASLEEP);
      await held(1);
      timers.advance(220_000);
      assert.equal(await outcomeOf(late), ASLEEP);
    });
  }
});

describe('a held request that came by a token', () => {
  const settings = { agents: [{ models: ['m'], down: true }], map: mapOf([wakesAt(SIBLING)]) };

  it('keeps its request ID and its key, whatever hop it came by (R-136, R-140)', async () => {
    for (const hop of [1, 2] as const) {
      const site = siteB(settings);
      const asking = follow(site, tokenForB({ hop }));
      while (!site.ports.holds.isHolding) await new Promise((resolve) => setImmediate(resolve));
      site.ports.agents.get('agent-1')?.reportProbe({ ok: true, value: ['m'] }, true);
      const response = await asking;
      assert.deepEqual([response.status, response.headers.get('x-request-id')], [200, TOKEN_REQUEST_ID]);
      const [line] = site.accessLines;
      assert.deepEqual([line?.['key_id'], line?.['hop'], typeof line?.['hold_ms']], ['key-1', hop, 'number']);
    }
  });

  it('has used its token up, also when it was held in vain (R-133)', async () => {
    const site = siteB({ ...settings, hold: { defaultHoldMs: 1 } });
    const token = tokenForB();
    assert.equal(await outcomeOf(follow(site, token)), ASLEEP);
    assert.equal(await outcomeOf(follow(site, token)), '401 unauthorized');
  });
});
