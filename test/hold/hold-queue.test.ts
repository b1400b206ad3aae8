import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { settled } from '../dispatch/streaming.ts';
import { endpointOf } from '../dispatch/test-site.ts';
import { endOf, holding, mapWith, placed, releaseSeat } from './hold-fixture.ts';

const TICK_MS = 100;

describe('HoldQueue.hold()', () => {
  it('waits until a healthy agent is there, and then has a slot of it in the same turn (R-030)', async () => {
    const { ask, wake } = holding();
    const asked = ask('m');
    await settled();
    assert.equal(endOf(asked), 'waits');
    const agent = wake(1);
    assert.equal(agent.active, 1, 'nobody can get between');
    await settled();
    assert.equal(endOf(asked), 'ready');
    releaseSeat(asked);
    assert.equal(agent.active, 0);
  });

  it('has no time beside that of the hold before, and ends at once where that is over', async () => {
    const { ask, timers, wakes } = holding();
    timers.advance(130_000);
    const [over, left] = [
      ask('m', { since: { startedMs: 10_000, place: 1 } }),
      ask('m', { since: { startedMs: 10_100, place: 2 } }),
    ];
    await settled();
    assert.deepEqual([endOf(over), endOf(left), wakes.length], ['timeout', 'waits', 2]);
    timers.advance(TICK_MS);
    await settled();
    assert.equal(endOf(left), 'timeout');
  });

  it('has a slot at once that came free since the request was to be held', async () => {
    const { ask, wake, timers } = holding();
    const agent = wake(1);
    const asked = ask('m');
    await settled();
    assert.deepEqual([endOf(asked), agent.active, timers.pending], ['ready', 1, 0]);
  });

  it('lets 100 in to an agent of capacity 4 in the order of their arrival, never more than 4 at a time', async () => {
    const { ask, wake, holds } = holding();
    const all = Array.from({ length: 100 }, () => ask('m'));
    await settled();
    const agent = wake(4);
    for (let done = 0; done < all.length; done += 1) {
      await settled();
      const ready = all.map(endOf).lastIndexOf('ready') + 1;
      assert.equal(ready, Math.min(done + 4, 100), 'in order, and no slot is left');
      assert.ok(all.slice(0, ready).every((asked) => endOf(asked) === 'ready'));
      assert.ok(agent.active <= 4);
      releaseSeat(all[done] ?? assert.fail());
    }
    assert.deepEqual([holds.isHolding, agent.active], [false, 0]);
  });

  it('is before newcomers, who find the agent awake and queue behind', async () => {
    const { ask, wake, seats } = holding();
    const [first, second] = [ask('m'), ask('m')];
    const agent = wake(1);
    await settled();
    let newcomer: { release(): void } | undefined;
    const search = {
      model: 'm',
      capability: 'llm',
      choose: () => (agent.active < 1 ? { agent, step: {} } : 'full'),
      mayUse: () => agent.active < 1,
      freeAgents: () => (agent.active < 1 ? [agent] : []),
    } as unknown as Parameters<typeof seats.take>[0];
    void Promise.resolve(seats.take(search, new AbortController().signal)).then((seat) => {
      newcomer = seat;
    });
    await settled();
    releaseSeat(first);
    await settled();
    assert.deepEqual([endOf(second), newcomer], ['ready', undefined]);
    releaseSeat(second);
    await settled();
    assert.ok(newcomer !== undefined);
  });

  it('is 503 for the 101st of a model, and lets one more in for each that leaves', async () => {
    const { ask } = holding({ maxBytes: 10_000 });
    const all = Array.from({ length: 100 }, () => ask('m'));
    const [oneMore, other] = [ask('m'), ask('n')];
    await settled();
    assert.deepEqual([...new Set(all.map(endOf))], ['waits']);
    assert.equal(endOf(oneMore), 'full');
    assert.equal(endOf(other), 'waits', 'each model has a bound of its own');
    all[50]?.client.abort();
    const [next, afterIt] = [ask('m'), ask('m')];
    await settled();
    assert.deepEqual([endOf(next), endOf(afterIt)], ['waits', 'full']);
  });

  it('bounds the bytes of all models together, to the last one', async () => {
    const { ask } = holding({ maxBytes: 1_000 });
    const first = ask('m', { bytes: 600 });
    const [tooMuch, rest, none] = [ask('n', { bytes: 401 }), ask('n', { bytes: 400 }), ask('m', { bytes: 1 })];
    await settled();
    assert.deepEqual([first, tooMuch, rest, none].map(endOf), ['waits', 'full', 'waits', 'full']);
    first.client.abort();
    const again = ask('m', { bytes: 600 });
    await settled();
    assert.equal(endOf(again), 'waits');
  });

  it('knows kinds apart that have one name', async () => {
    const { ask, site, holds } = holding({ maxPerModel: 1 });
    site.map = mapWith(placed('m', { kind: 'embedding' }));
    const chat = ask('m');
    const embeddings = ask('m', { endpoint: endpointOf('/v1/embeddings') });
    await settled();
    assert.deepEqual([endOf(chat), endOf(embeddings)], ['unplaced', 'waits']);
    assert.deepEqual(holds.counts(), [{ model: 'm', held: 1 }]);
  });

  it('has no client waiting that has left, and leaves no listener behind', async () => {
    const { ask, holds, timers } = holding();
    const [leaver, other] = [ask('m'), ask('m')];
    await settled();
    leaver.client.abort();
    assert.deepEqual(holds.counts(), [{ model: 'm', held: 1 }], 'at once');
    await settled();
    assert.deepEqual([endOf(leaver), endOf(other)], ['client_gone', 'waits']);
    other.client.abort();
    await settled();
    assert.deepEqual(getEventListeners(other.client.signal, 'abort'), []);
    assert.deepEqual([holds.counts(), timers.pending], [[], 0]);
    const gone = new AbortController();
    gone.abort();
    const late = ask('m', { clientGone: gone.signal });
    await settled();
    assert.equal(endOf(late), 'client_gone');
  });

  it('ends within a tick of its time, by one timer for all (R-196)', async () => {
    const { ask, timers, site } = holding();
    site.map = mapWith(placed('m'), placed('n', { hold_budget: '2s' }));
    timers.advance(30);
    const byDefault = [ask('m'), ask('m', { maxWaitMs: 3_600_000 })];
    const sooner = ask('m', { maxWaitMs: 5_000 });
    const byMap = ask('n');
    await settled();
    assert.equal(timers.pending, 2, 'one for the holds, one for the seats');
    const endsAt = async (asked: typeof sooner, ms: number, more: number) => {
      timers.advance(ms - timers.monotonicMs() - 1);
      await settled();
      assert.equal(endOf(asked), 'waits');
      timers.advance(1 + more);
      await settled();
      assert.equal(endOf(asked), 'timeout');
    };
    await endsAt(byMap, 2_030, TICK_MS);
    await endsAt(sooner, 5_030, TICK_MS);
    await endsAt(byDefault[0] ?? sooner, 120_030, TICK_MS);
    assert.deepEqual([byDefault.map(endOf), timers.pending], [['timeout', 'timeout'], 0]);
  });

  it('holds nobody without a budget, as the map of now has it (D-05)', async () => {
    const { ask } = holding({ defaultHoldMs: 0 });
    const [none, noWait] = [ask('m'), ask('n', { maxWaitMs: 0 })];
    await settled();
    assert.deepEqual([endOf(none), endOf(noWait)], ['unplaced', 'unplaced']);
  });

  it('goes on without a slot when agents are there of which its policy takes none', async () => {
    const { ask, registry, timers, seats } = holding();
    const counting = ask('m', { endpoint: endpointOf('/v1/messages/count_tokens') });
    const fixed = { capability: 'llm', backendUrl: 'http://engine', models: ['m'], capacity: 1 } as const;
    const agent = registry.add({ ...fixed, id: 'ollama', engine: 'ollama' });
    agent.reportProbe({ ok: true, value: ['m'] });
    timers.advance(1_000);
    await settled();
    assert.ok(counting.end?.kind === 'ready' && counting.end.held === undefined);
    assert.deepEqual(seats.depths(), [{ model: 'm', depth: 0 }]);
  });

  it('waits on when the agent is lost again before there was a slot', async () => {
    const { ask, wake, timers } = holding();
    const [first, second] = [ask('m'), ask('m')];
    const agent = wake(1);
    agent.reportConnectionRefused();
    await settled();
    timers.advance(10_000);
    await settled();
    assert.deepEqual([endOf(first), endOf(second)], ['ready', 'waits']);
    releaseSeat(first);
    await settled();
    assert.equal(endOf(second), 'waits');
    agent.reportProbe({ ok: true, value: ['m'] }, true);
    await settled();
    assert.equal(endOf(second), 'ready');
  });
});
