import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { Agent } from '../../src/agents/agent.ts';
import type { Seat } from '../../src/dispatch/queue.ts';
import { ok } from '../../src/lib/result.ts';
import { PLAIN_STEP, type Step } from '../../src/policy/policy.ts';
import { reading } from '../agents/readings.ts';
import { type Asked, queueBefore, waiting } from './queue-fixture.ts';
import { settled } from './streaming.ts';

/** Steps of a day: who asks by which policy, which seat comes back, who leaves, which engine comes, goes or fills up. */
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ step: fc.constant('ask' as const), what: fc.nat(31), who: fc.nat(3) }) },
    {
      weight: 3,
      arbitrary: fc.record({ step: fc.constant('release' as const), what: fc.nat(20), who: fc.constant(0) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ step: fc.constant('figures' as const), what: fc.nat(1), who: fc.nat(2) }),
    },
    fc.record({
      step: fc.constantFrom('leave' as const, 'down' as const, 'up' as const),
      what: fc.nat(20),
      who: fc.nat(2),
    }),
  ),
  { maxLength: 60 },
);

const LOOK_MS = 1_000;

describe('SeatQueue over random traces', () => {
  const DEPTH = 3;

  it('is first in, first out, loses no wake-up, keeps its bound and every seat', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (trace) => {
        const site = queueBefore(
          [
            { models: ['m'], capacity: 1, region: 'north' },
            { models: ['m', 'n'], capacity: 2, region: 'south' },
            { models: ['n'], capacity: 1, region: 'north' },
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

/** Engines with more waiting requests than this are excluded by a policy with a gate. */
const WAITING_MAX = 5;

/** Bits of `number`: any region or one of two, with a gate or without. */
function policyStep(number: number): Partial<Step> {
  const region = [undefined, undefined, 'north', 'south'][number % 4];
  const gate = { metric: 'waiting_requests', operator: 'gt', value: WAITING_MAX } as const;
  return { match: { ...PLAIN_STEP.match, region }, excludeIf: number >= 4 ? [gate] : [] };
}

function play(
  { ask, all, agents, timers }: Site,
  { step, what, who }: { step: string; what: number; who: number },
): void {
  const agent = agents[who % agents.length];
  const held = all.filter(holdsSeat);
  switch (step) {
    case 'ask':
      ask(what % 2 === 0 ? 'm' : 'n', who === 3 || agent === undefined ? [] : [agent], policyStep(what >> 2));
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
    case 'figures':
      agent?.reportMetrics(reading({ waitingRequests: what % 2 === 0 ? 0 : WAITING_MAX + 1 }), timers.monotonicMs());
      // Nobody is told of figures: those who wait are looked at once a second.
      timers.advance(LOOK_MS);
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

/** Whether the gates of a request let it have a slot of the agent: written down anew, without the policy's code. */
function isMeantFor(agent: Agent, { search, excluded, step }: Asked, nowMs: number): boolean {
  const { region } = agent.setting;
  const wanted = step.match?.region;
  const isFresh = agent.metrics !== undefined && nowMs - agent.metrics.takenMs <= 10_000;
  const waits = isFresh ? (agent.metrics?.metrics.waitingRequests ?? 0) : 0;
  const isGated = step.excludeIf !== undefined && step.excludeIf.length > 0 && waits > WAITING_MAX;
  const isMatched = wanted === undefined || wanted === region;
  return agent.serves(search.model, 'llm') && isMatched && !isGated && !excluded.includes(agent);
}

function check({ all, agents, timers, queue }: Site, before: readonly Asked[], depth: number): void {
  const still = waiting(all);
  const nowMs = timers.monotonicMs();
  for (const asked of still) {
    const usable = agents.filter(
      (agent) => agent.state === 'healthy' && isMeantFor(agent, asked, nowMs) && agent.active < agent.setting.capacity,
    );
    assert.equal(usable.length, 0, 'nobody waits beside a slot that is free for it');
  }
  for (const asked of all) {
    const { outcome, excluded, step } = asked;
    const agent = outcome?.seat?.agent;
    if (agent === undefined) continue;
    const wanted = step.match?.region;
    assert.ok(!excluded.includes(agent) && (wanted ?? agent.setting.region) === agent.setting.region, 'not its agent');
  }
  for (const { number, outcome } of before) {
    const agent = outcome?.seat?.agent;
    const overtaken = still.filter(
      (waiter) => waiter.number < number && agent !== undefined && isMeantFor(agent, waiter, nowMs),
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
