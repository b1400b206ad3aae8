import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { json, silent, startEngine, stopEngines } from './engines.ts';
import { settled } from './streaming.ts';
import { failureOf, REQUEST_TIMEOUT_MS, responseOf, slots, testSite } from './test-site.ts';

afterEach(stopEngines);

/** A site with one agent of one slot, which is taken; `free` gives it back. */
async function fullSite(queueDepth: number) {
  const engine = await startEngine(json(200, { id: 'x' }));
  const site = testSite([engine.url], { capacity: 1, queueDepth });
  const free = site.agents[0]?.take() ?? (() => undefined);
  return { site, engine, free };
}

describe('dispatch() before full agents', () => {
  it('waits for a slot and is served, first come first', async () => {
    const { site, engine, free } = await fullSite(2);
    const ended: string[] = [];
    const asking = ['1', '2'].map(async (requestId) => {
      const outcome = await site.ask({ requestId });
      ended.push(requestId);
      return responseOf(outcome).text();
    });
    await settled();
    assert.deepEqual([engine.seen.length, ...slots(site)], [0, 1]);
    site.timers.advance(500);
    free();
    assert.deepEqual(await Promise.all(asking), ['{"id":"x"}', '{"id":"x"}']);
    assert.deepEqual(ended, ['1', '2']);
    assert.deepEqual(
      engine.seen.map(({ headers }) => headers['x-request-id']),
      ['1', '2'],
    );
    assert.deepEqual(site.waits, [
      ['m', 0.5],
      ['m', 0.5],
    ]);
    assert.deepEqual([...slots(site), site.timers.pending], [0, 0]);
  });

  it('is no_capacity beyond the queue’s depth', async () => {
    const { site } = await fullSite(1);
    const waiting = site.ask();
    assert.deepEqual(await failureOf(site.ask()), ['no_capacity', 'All agents of the model "m" are busy.']);
    site.client.abort();
    assert.equal((await failureOf(waiting))[0], 'client_gone');
    assert.equal(site.timers.pending, 0);
  });

  it('is request_timeout when none came free in time, and sends nothing (E9)', async () => {
    const { site, engine, free } = await fullSite(1);
    const asking = site.ask();
    site.timers.advance(REQUEST_TIMEOUT_MS);
    const message = 'No agent of the model "m" was free within the request timeout.';
    assert.deepEqual(await failureOf(asking), ['request_timeout', message]);
    free();
    await settled();
    assert.deepEqual([engine.seen.length, site.agents[0]?.record.failures, ...slots(site)], [0, 0, 0]);
  });

  it('counts the wait into the request timeout (E9)', async () => {
    const engine = await startEngine(silent);
    const site = testSite([engine.url], { capacity: 1, queueDepth: 1 });
    const free = site.agents[0]?.take();
    const asking = site.ask();
    site.timers.advance(REQUEST_TIMEOUT_MS - 1);
    free?.();
    await engine.nextRequest();
    site.timers.advance(1);
    assert.deepEqual(await failureOf(asking), ['request_timeout', 'No complete answer within the request timeout.']);
  });

  it('is shutting_down for those who wait when the grace is over (E13)', async () => {
    const { site } = await fullSite(1);
    const asking = site.ask();
    site.shutdown.abort();
    assert.deepEqual(await failureOf(asking), ['shutting_down', 'The router is shutting down.']);
  });

  it('is no_agents_available for those who wait once the last agent is down', async () => {
    const { site } = await fullSite(1);
    const asking = site.ask();
    site.agents[0]?.reportConnectionRefused();
    site.timers.advance(1_000);
    assert.equal((await failureOf(asking))[0], 'no_agents_available');
  });

  it('waits for an agent that has not failed it yet, or until that one is down', async () => {
    for (const [happens, expected] of [
      ['free', 'other'],
      ['down', 'backend_error: x'],
    ] as const) {
      const engine = await startEngine(json(500, { error: 'x' }));
      const other = await startEngine(json(200, { id: 'other' }));
      const site = testSite([engine.url, other.url], { capacity: 1, queueDepth: 1 });
      const free = site.agents[1]?.take();
      const asking = site.ask();
      while (site.failedTries.length === 0) await settled();
      await settled();
      if (happens === 'free') free?.();
      else site.agents[1]?.reportConnectionRefused();
      site.timers.advance(1_000);
      const outcome = await asking;
      const told =
        outcome.kind === 'failed' ? `${outcome.code}: ${outcome.message}` : outcome.by === site.agents[1] && 'other';
      assert.equal(told, expected);
    }
  });

  it('frees a slot that was handed to a client which leaves in that turn', async () => {
    const { site, engine, free } = await fullSite(2);
    const asking = site.ask();
    await settled();
    free();
    site.client.abort();
    assert.equal((await failureOf(asking))[0], 'client_gone');
    assert.deepEqual([engine.seen.length, ...slots(site), site.timers.pending], [0, 0, 0]);
  });
});
