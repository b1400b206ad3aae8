import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Seat } from '../../src/dispatch/queue.ts';
import { ok } from '../../src/lib/result.ts';
import { PLAIN_STEP } from '../../src/policy/policy.ts';
import { queueBefore } from './queue-fixture.ts';
import { settled } from './streaming.ts';

/** A queue whose only agent is down, with `ask` for those who hold on and those who do not. */
function sleeping(capacity = 1, depth = 3) {
  const site = queueBefore([{ models: ['m'], capacity }], depth);
  const [agent = assert.fail()] = site.agents;
  agent.reportConnectionRefused();
  const turns: (Seat | undefined)[] = [];
  const hold = () => {
    // A search of its own, which the queue does not ask for a seat.
    const { search, client } = site.ask('m');
    client.abort();
    return site.queue.hold(search, (seat) => void turns.push(seat));
  };
  const wake = () => agent.reportProbe(ok(['m']), true);
  return { ...site, agent, turns, hold, wake };
}

describe('SeatQueue.hold()', () => {
  it('waits also while no agent is there, beyond the depth, and counts in no depth', async () => {
    const { hold, queue, turns, timers, wake, waits } = sleeping(10, 1);
    for (let count = 0; count < 3; count += 1) hold();
    timers.advance(10_000);
    assert.deepEqual([turns, queue.depths()], [[], [{ model: 'm', depth: 0 }]]);
    wake();
    assert.equal(turns.length, 3, 'in the turn in which the agent is there');
    assert.deepEqual(waits, [], 'which was no wait for a slot');
    assert.equal(timers.pending, 0);
  });

  it('shares one line, in the order of arrival, with those who wait for a slot', async () => {
    const { hold, ask, turns, wake, agent, timers } = sleeping(1, 1);
    hold();
    wake();
    const newcomer = ask('m');
    const refused = ask('m');
    await settled();
    assert.deepEqual([newcomer.outcome, refused.outcome], [undefined, { seat: undefined }]);
    hold();
    turns[0]?.release();
    await settled();
    assert.equal(newcomer.outcome?.seat?.agent, agent);
    assert.equal(turns.length, 1);
    newcomer.outcome?.seat?.release();
    assert.equal(turns.length, 2);
    assert.equal(timers.pending, 0);
  });

  it('lets no newcomer by who finds a free slot, should a vacancy have gone unsaid', async () => {
    const { hold, ask, turns, agent } = sleeping(1, 1);
    hold();
    Object.defineProperty(agent, 'state', { value: 'healthy' });
    const newcomer = ask('m');
    await settled();
    assert.deepEqual([turns.length, newcomer.outcome], [1, undefined]);
  });

  it('is no wait any more once it is ended', () => {
    const { hold, turns, wake, timers, agent } = sleeping();
    const { stop } = hold();
    stop();
    stop();
    wake();
    timers.advance(1_000);
    assert.deepEqual([turns, agent.active, timers.pending], [[], 0, 0]);
  });

  it('ends without a slot, within a second, where agents are there that its policy does not take', () => {
    const { queue, turns, timers, wake, ask } = sleeping();
    const picky = ask('m', [], { match: { ...PLAIN_STEP.match, region: 'nowhere' } });
    picky.client.abort();
    queue.hold(picky.search, (seat) => void turns.push(seat));
    timers.advance(5_000);
    assert.deepEqual(turns, []);
    wake();
    assert.deepEqual(turns, []);
    timers.advance(1_000);
    assert.deepEqual([turns, timers.pending], [[undefined], 0]);
  });

  it('asks for its pass once an agent is there, has no slot before it, and gives it back when none is there', async () => {
    const { queue, turns, timers, wake, ask, agent } = sleeping(1);
    const said: string[] = [];
    let grant: (() => void) | undefined;
    const pass = {
      isGranted: false,
      ask: (onGranted: () => void) => {
        grant ??= onGranted;
        said.push('ask');
      },
      giveBack: () => void said.push('give back'),
    };
    const { search, client } = ask('m');
    client.abort();
    queue.hold(search, (seat) => void turns.push(seat), { pass });
    agent.take()?.();
    timers.advance(1_000);
    assert.deepEqual(said.splice(0), ['give back'], 'a slot of who is down is none');
    wake();
    timers.advance(1_000);
    assert.deepEqual([turns, agent.active, new Set(said.splice(0))], [[], 0, new Set(['ask'])]);
    agent.reportConnectionRefused();
    timers.advance(1_000);
    assert.deepEqual(said.splice(0), ['give back']);
    wake();
    pass.isGranted = true;
    grant?.();
    assert.deepEqual([turns.length, turns[0]?.agent], [1, agent]);
  });

  it('has the place that it had before', () => {
    const { queue, hold, ask, wake, turns } = sleeping(1);
    const first = hold();
    first.stop();
    hold();
    const { search, client } = ask('m');
    client.abort();
    const again: unknown[] = [];
    const { place } = queue.hold(search, (seat) => void again.push(seat), { place: first.place });
    wake();
    assert.deepEqual([place, again.length, turns.length], [first.place, 1, 0]);
  });
});
