// Requests that are held for a model whose policy lets in less than its agents could take: they wait for both
// (decisions.md, "Hold at zero"; docs/admission.md).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reading } from '../agents/readings.ts';
import { bearer, type TestRouterSettings } from '../support/test-router.ts';
import { pushKey, sleeper } from './hold-fixture.ts';
import { ASK } from './limits-fixture.ts';
import { outcomeOf } from './redirect-fixture.ts';

/** A sleeper whose policy has these limits, and an engine whose answers the test lets go. */
async function gated(limits: string, capacity: number, settings: TestRouterSettings = {}) {
  const order: number[] = [];
  const running = new Set<() => void>();
  const asleep = sleeper({
    agents: [{ models: ['m'], capacity, down: true }],
    ...settings,
    engine: async (_url, init) => {
      const { user } = JSON.parse(new TextDecoder().decode(init.body as Uint8Array<ArrayBuffer>)) as { user: number };
      order.push(user);
      await new Promise<void>((resolve) => running.add(resolve));
      return Response.json({});
    },
  });
  const policy = `${limits}\nrouting_policy: {strategy: least-loaded}`;
  assert.equal((await asleep.site.admin('PUT', '/admin/policy', policy)).status, 200);
  let count = 0;
  /** The next request, as its place in the order of all of them; `size` is that of its prompt. */
  const ask = (size = 4, headers: Record<string, string> = bearer('key-1')) => {
    const body = JSON.stringify({ model: 'm', user: count, messages: [{ content: 'x'.repeat(size) }] });
    count += 1;
    return asleep.ask(headers, { body });
  };
  /** Ends the oldest answer that runs. */
  const finish = (): void => {
    const [first] = running;
    if (first === undefined) throw new Error('Nothing runs');
    running.delete(first);
    first();
  };
  const until = async (isSo: () => boolean): Promise<void> => {
    const startedMs = performance.now();
    while (!isSo()) {
      if (performance.now() - startedMs > 10_000) throw new Error(`${running.size} run, ${order.length} were sent`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const runs = (expected: number) => until(() => running.size === expected);
  const room = () => asleep.site.ports.gates.occupancy.held()[0]?.requests ?? 0;
  return { ...asleep, ask, finish, runs, until, order, room };
}

describe('requests that are held before gates', () => {
  for (const parkMs of [0, 250]) {
    it(`are released as agents and gates allow, in order, however short others park (${parkMs} ms)`, async () => {
      const { ask, held, wake, finish, runs, order, room, site } = await gated('max_inflight: 4', 10, { parkMs });
      const all: Promise<Response>[] = [];
      for (let count = 1; count <= 100; count += 1) {
        all.push(ask());
        await held(count);
      }
      assert.equal(room(), 0, 'who waits for a sleeping model takes the room of nobody');
      wake();
      for (let left = 100; left > 0; left -= 1) {
        await runs(Math.min(4, left));
        assert.ok((site.ports.agents.get('agent-1')?.active ?? 0) <= 4, 'nor a slot that it cannot use');
        finish();
      }
      const statuses = await Promise.all(all.map(async (asking) => (await asking).status));
      assert.deepEqual(new Set(statuses), new Set([200]));
      assert.deepEqual(
        order,
        all.map((_asking, index) => index),
      );
      assert.deepEqual([room(), site.ports.agents.get('agent-1')?.active], [0, 0]);
    });
  }

  it('leave the room that they had when a limit of meanwhile refuses them', async () => {
    const { ask, held, wake, site, room } = await gated('max_inflight: 4', 10);
    const asking = outcomeOf(ask(1_000));
    await held(1);
    const policy = 'max_inflight: 4\nmax_input_tokens: 1\nrouting_policy: {strategy: least-loaded}';
    assert.equal((await site.admin('PUT', '/admin/policy', policy)).status, 200);
    wake();
    assert.equal(await asking, '400 input_too_long');
    assert.deepEqual([room(), site.ports.agents.get('agent-1')?.active], [0, 0]);
  });

  it('are before newcomers, also while there is no slot for them yet', async () => {
    const { ask, held, wake, finish, runs, until, order } = await gated('max_inflight: 2', 1, { queueDepth: 10 });
    const all = [ask()];
    await held(1);
    all.push(ask());
    await held(2);
    wake();
    await runs(1);
    assert.equal(await outcomeOf(ask()), '429 concurrency_limit_exceeded', 'the second has its room');
    finish();
    await until(() => order.length === 2);
    finish();
    for (const asking of all) assert.equal(await outcomeOf(asking), '200');
    assert.deepEqual(order, [0, 1]);
  });

  it('are not passed by smaller ones for which there would be room', async () => {
    const { ask, held, wake, finish, runs, until, order } = await gated('admit_budget_tokens: 100', 10);
    const all = [ask(160)];
    await held(1);
    all.push(ask(240));
    await held(2);
    all.push(ask(32));
    await held(3);
    wake();
    await runs(1);
    finish();
    await until(() => order.length === 3);
    finish();
    finish();
    for (const asking of all) assert.equal(await outcomeOf(asking), '200');
    assert.deepEqual(order, [0, 1, 2]);
  });

  it('are refused where they go on for what no wait will change', async () => {
    const { ask, held, wake, site } = await gated('admit_budget_tokens: 100', 10);
    const asking = ask(4_000);
    await held(1);
    wake();
    const response = await asking;
    assert.deepEqual([response.status, response.headers.get('retry-after')], [429, '60']);
    assert.equal(site.ports.agents.get('agent-1')?.active, 0);
  });

  it('wait while the engines’ own figures keep newcomers out (gate b3)', async () => {
    const shedding = 'shed_if: {waiting_requests: {gt: 10}}';
    const { ask, held, wake, site, order, finish, runs } = await gated(shedding, 10);
    const agent = site.ports.agents.get('agent-1');
    const asking = ask();
    await held(1);
    agent?.reportMetrics(reading({ waitingRequests: 11 }), site.nowMs);
    wake();
    await held(1);
    assert.deepEqual([order, agent?.active], [[], 0]);
    agent?.reportMetrics(reading({ waitingRequests: 10 }), site.nowMs);
    wake();
    await runs(1);
    finish();
    assert.equal(await outcomeOf(asking), '200');
  });

  it('have no room of before at the end of their time, which gate b3 judges as any other request', async () => {
    const accounts = [{ dialect: 'openai', baseUrl: 'https://provider.example', apiKey: 'sk-operator' }] as const;
    const limits = 'shed_if: {waiting_requests: {gt: 10}}\nfallback_provider: {engine: openai, model: target}';
    const { ask, held, wake, timers, room, site } = await gated(limits, 4, { accounts });
    site.ports.agents.get('agent-1')?.reportMetrics(reading({ waitingRequests: 11 }), site.nowMs);
    const asking = ask();
    await held(1);
    wake();
    assert.equal(room(), 1);
    timers.advance(120_000);
    assert.deepEqual([await outcomeOf(asking), room()], ['429 concurrency_limit_exceeded', 0]);
  });

  it('leave their place in the line for room when their time is over', async () => {
    const { ask, held, wake, room, finish, runs, until, order, timers } = await gated('max_inflight: 1', 4);
    const all = [ask()];
    await held(1);
    const late = ask(4, { ...bearer('key-1'), 'x-hivenet-max-wait': '1s' });
    await held(2);
    all.push(ask());
    await held(3);
    wake();
    await runs(1);
    timers.advance(1_000);
    assert.equal(await outcomeOf(late), '503 no_agents_available');
    finish();
    await until(() => order.length === 2);
    finish();
    for (const asking of all) assert.equal(await outcomeOf(asking), '200');
    assert.deepEqual([order, room()], [[0, 2], 0]);
  });

  it('leave that place also on their way to a provider, and their room when their key is revoked', async () => {
    const accounts = [{ dialect: 'openai', baseUrl: 'https://provider.example', apiKey: 'sk-operator' }] as const;
    const limits = 'max_inflight: 1\nfallback_provider: {engine: openai, model: target}';
    const { ask, held, wake, room, finish, runs, timers, site } = await gated(limits, 4, { accounts });
    const first = ask();
    await held(1);
    const late = ask(4, { ...bearer('key-1'), 'x-hivenet-max-wait': '1s' });
    await held(2);
    wake();
    await runs(1);
    timers.advance(1_000);
    assert.equal(await outcomeOf(late), '429 concurrency_limit_exceeded', 'gates come before providers');
    finish();
    assert.deepEqual([await outcomeOf(first), room()], ['200', 0]);
    site.ports.agents.get('agent-1')?.reportConnectionRefused();
    const revoked = ask();
    await held(1);
    await pushKey(site, { enabled: false });
    wake();
    assert.deepEqual([await outcomeOf(revoked), room()], ['401 unauthorized', 0]);
  });

  it('leave no room behind: out of time, gone, refused', async () => {
    const extraKeys = [{ id: 'limited', secret: 'sk-limited', owner: 'acme', quota: { tokens_per_day: 1 } }];
    const { ask, held, wake, room, finish, runs, timers, site } = await gated('max_inflight: 4', 1, { extraKeys });
    const poor = ask(4, ASK);
    await held(1);
    const first = ask();
    await held(2);
    const late = ask();
    await held(3);
    wake();
    assert.equal(await outcomeOf(poor), '429 token_limit_exceeded');
    await runs(1);
    assert.equal(room(), 2, 'one runs, one waits for a slot');
    timers.advance(120_000);
    assert.equal(await outcomeOf(late), '503 no_agents_available');
    assert.equal(room(), 1);
    finish();
    assert.equal(await outcomeOf(first), '200');
    assert.deepEqual([room(), site.ports.agents.get('agent-1')?.active], [0, 0]);
  });
});
