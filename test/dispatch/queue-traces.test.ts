import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { Seat } from '../../src/dispatch/queue.ts';
import { ok } from '../../src/lib/result.ts';
import { type Asked, queueBefore, waiting } from './queue-fixture.ts';
import { settled } from './streaming.ts';

/** Steps of a day: who asks, which seat comes back, who leaves, which engine comes and goes. */
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ step: fc.constant('ask' as const), what: fc.nat(3), who: fc.nat(3) }) },
    {
      weight: 3,
      arbitrary: fc.record({ step: fc.constant('release' as const), what: fc.nat(20), who: fc.constant(0) }),
    },
    fc.record({
      step: fc.constantFrom('leave' as const, 'down' as const, 'up' as const),
      what: fc.nat(20),
      who: fc.nat(2),
    }),
  ),
  { maxLength: 60 },
);

describe('SeatQueue over random traces', () => {
  const DEPTH = 3;

  it('is first in, first out, loses no wake-up, keeps its bound and every seat', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (trace) => {
        const site = queueBefore(
          [
            { models: ['m'], capacity: 1 },
            { models: ['m', 'n'], capacity: 2 },
            { models: ['n'], capacity: 1 },
          ],
          DEPTH,
        );
        for (const step of trace) {
          const before = waiting(site.all);
          play(site, step);
          await settled();
          check(site, before, DEPTH);
        }
      }),
      { numRuns: 300 },
    );
  });
});

type Site = ReturnType<typeof queueBefore>;

function play({ ask, all, agents }: Site, { step, what, who }: { step: string; what: number; who: number }): void {
  const agent = agents[who % agents.length];
  const held = all.filter(holdsSeat);
  switch (step) {
    case 'ask':
      ask(what % 2 === 0 ? 'm' : 'n', who === 3 || agent === undefined ? [] : [agent]);
      break;
    case 'release':
      giveBack(held[what % held.length]);
      break;
    case 'leave':
      waiting(all)[what % waiting(all).length]?.client.abort();
      break;
    case 'down':
      agent?.reportConnectionRefused();
      break;
    case 'up':
      for (let probe = 0; probe < 2; probe += 1) agent?.reportProbe(ok(agent.models));
  }
}

const released = new WeakSet<Seat>();

const holdsSeat = ({ outcome }: Asked) => outcome?.seat !== undefined && !released.has(outcome.seat);

function giveBack(asked: Asked | undefined): void {
  const seat = asked?.outcome?.seat;
  if (seat === undefined) return;
  released.add(seat);
  seat.release();
}

function check({ all, agents, registry, queue }: Site, before: readonly Asked[], depth: number): void {
  const still = waiting(all);
  for (const { search, excluded } of still) {
    const usable = registry
      .candidates(search.model, 'llm')
      .filter((agent) => !excluded.includes(agent) && agent.active < agent.setting.capacity);
    assert.equal(usable.length, 0, 'nobody waits beside a slot that is free for it');
  }
  for (const { number, outcome } of before) {
    const agent = outcome?.seat?.agent;
    const overtaken = still.filter(
      (waiter) =>
        waiter.number < number &&
        agent?.serves(waiter.search.model, 'llm') === true &&
        !waiter.excluded.includes(agent),
    );
    assert.equal(overtaken.length, 0, 'nobody is overtaken for a slot that it could use');
  }
  for (const { model, depth: waiters } of queue.depths()) {
    assert.equal(waiters, still.filter(({ search }) => search.model === model).length);
    assert.ok(waiters <= depth, 'no line is longer than its bound');
  }
  for (const agent of agents) {
    const seats = all.filter((asked) => holdsSeat(asked) && asked.outcome?.seat?.agent === agent);
    assert.equal(agent.active, seats.length, 'every slot in use is somebody’s');
    assert.ok(agent.active <= agent.setting.capacity);
  }
}
