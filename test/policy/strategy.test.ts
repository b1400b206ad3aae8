import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { homeAgent } from '../../src/policy/affinity.ts';
import { mayServe } from '../../src/policy/gates.ts';
import { RECORD_FRESH_MS } from '../../src/policy/metric.ts';
import { PLAIN_STEP, STRATEGIES, type Strategy } from '../../src/policy/policy.ts';
import type { PolicyAgent } from '../../src/policy/policy-agent.ts';
import { choose } from '../../src/policy/strategy.ts';
import { agent, NOW_MS, record } from './agents.ts';

const LOOK = { failed: new Set<string>(), nowMs: NOW_MS };

function chosen(strategy: Strategy, agents: readonly PolicyAgent[], session?: string): string | undefined {
  const step = { ...PLAIN_STEP, strategy };
  const candidates = agents.filter((each) => mayServe(step, each, LOOK));
  const bytes = session === undefined ? undefined : Buffer.from(session);
  return choose({ step, agents, candidates, session: bytes, nowMs: NOW_MS })?.id;
}

/** `id active/capacity`, and what else matters. */
const busy = (id: string, active: number, capacity = 10, fields: Partial<PolicyAgent> = {}) =>
  agent({ id, active, capacity, ...fields });
const quick = (id: string, srttMs: number | undefined, active = 0, ageMs = 0) =>
  busy(id, active, 10, { record: record({ srttMs }, ageMs) });

describe('choose() least-loaded', () => {
  it('takes the smallest share of slots in use, not the smallest number', () => {
    assert.equal(chosen('least-loaded', [busy('a', 2, 4), busy('b', 4, 10)]), 'b');
    assert.equal(chosen('least-loaded', [busy('a', 1), busy('b', 0)]), 'b');
  });

  it('takes turns among equals (E7)', () => {
    let agents = [busy('a', 0), busy('b', 0), busy('c', 0)];
    const turns: (string | undefined)[] = [];
    for (let turn = 1; turn <= 6; turn += 1) {
      const id = chosen('least-loaded', agents);
      turns.push(id);
      agents = agents.map((each) => (each.id === id ? { ...each, lastTaken: turn } : each));
    }
    assert.deepEqual(turns, ['a', 'b', 'c', 'a', 'b', 'c']);
  });

  it('takes none of none', () => {
    assert.equal(chosen('least-loaded', []), undefined);
    assert.equal(chosen('least-loaded', [busy('a', 1, 1)]), undefined);
  });
});

describe('choose() lowest-latency', () => {
  it('takes the quickest of equally loaded agents', () => {
    assert.equal(chosen('lowest-latency', [quick('a', 300), quick('b', 200)]), 'b');
  });

  it('gives an agent that is twice as quick twice the load', () => {
    const slow = quick('slow', 200, 2);
    assert.equal(chosen('lowest-latency', [slow, quick('quick', 100, 4)]), 'quick');
    assert.equal(chosen('lowest-latency', [slow, quick('quick', 100, 6)]), 'slow');
  });

  it('counts load by capacity', () => {
    const small = busy('small', 1, 2, { record: record({ srttMs: 100 }) });
    const large = busy('large', 5, 20, { record: record({ srttMs: 100 }) });
    assert.equal(chosen('lowest-latency', [small, large]), 'large');
  });

  it('counts an agent without a fresh latency as quick as the quickest', () => {
    const unknown = (active: number) => [quick('a', 100, 1), quick('b', 900), quick('new', undefined, active)];
    assert.equal(chosen('lowest-latency', unknown(0)), 'new');
    assert.equal(chosen('lowest-latency', unknown(2)), 'a');
    assert.equal(chosen('lowest-latency', [quick('a', 100), quick('b', 900, 0, RECORD_FRESH_MS + 1)]), 'a');
    const stale = { ...quick('b', 900, 0, RECORD_FRESH_MS + 1), id: '0' };
    assert.equal(chosen('lowest-latency', [quick('a', 100), stale]), '0');
  });

  it('is least-loaded where no latency is known', () => {
    assert.equal(chosen('lowest-latency', [quick('a', undefined, 2), quick('b', undefined, 1)]), 'b');
  });

  it('sees the load of an agent that answers within the clock’s resolution', () => {
    assert.equal(chosen('lowest-latency', [quick('a', 0, 5), quick('b', 0, 4)]), 'b');
  });
});

describe('choose() session-affinity', () => {
  const agents = ['a', 'b', 'c', 'd'].map((id) => busy(id, 0));
  const home = homeAgent(Buffer.from('conv'), agents)?.id;
  const changed = (fields: Partial<PolicyAgent>) =>
    agents.map((each) => (each.id === home ? { ...each, ...fields } : each));

  it('takes the home agent of the session, however loaded it is while it has a slot', () => {
    assert.equal(chosen('session-affinity', changed({ active: 9, lastTaken: 9 }), 'conv'), home);
  });

  it('takes the least loaded while the home agent is full, and comes back', () => {
    const others = changed({ active: 10 }).map((each) => (each.id === home ? each : { ...each, active: 5 }));
    const idle = others.map((each, index) => (index === (home === 'a' ? 1 : 0) ? { ...each, active: 1 } : each));
    assert.equal(chosen('session-affinity', idle, 'conv'), home === 'a' ? 'b' : 'a');
    assert.equal(chosen('session-affinity', changed({ active: 9 }), 'conv'), home);
  });

  it('moves only the sessions of an agent that is unhealthy or outside the step', () => {
    for (const fields of [{ isHealthy: false }, { isCapable: false }]) {
      for (let index = 0; index < 50; index += 1) {
        const session = `conv-${index}`;
        const before = chosen('session-affinity', agents, session);
        const after = chosen('session-affinity', changed(fields), session);
        const others = agents.filter(({ id }) => id !== home);
        if (before === home) assert.equal(after, homeAgent(Buffer.from(session), others)?.id);
        else assert.equal(after, before);
      }
    }
  });

  it('is least-loaded without a session', () => {
    for (const session of [undefined, '']) {
      assert.equal(
        chosen('session-affinity', changed({ active: 1 }), session),
        agents.find(({ id }) => id !== home)?.id,
      );
    }
  });
});

describe('choose()', () => {
  const fleets = fc.uniqueArray(
    fc.record({
      id: fc.string({ minLength: 1, maxLength: 3 }),
      active: fc.nat({ max: 2 }),
      lastTaken: fc.nat({ max: 2 }),
      srttMs: fc.constantFrom(undefined, 0, 100, 200),
    }),
    { minLength: 1, maxLength: 8, selector: ({ id }) => id },
  );

  for (const strategy of STRATEGIES) {
    it(`${strategy} does not depend on the order of the agents, and takes one whenever one is free`, () =>
      fc.assert(
        fc.property(fleets, fc.nat(), fc.string(), (fleet, turn, session) => {
          const agents = fleet.map(({ id, active, lastTaken, srttMs }) =>
            agent({ id, active, lastTaken, capacity: 2, record: record({ srttMs }) }),
          );
          const at = turn % agents.length;
          const shuffled = [...agents.slice(at), ...agents.slice(0, at)].toReversed();
          const id = chosen(strategy, agents, session);
          assert.equal(chosen(strategy, shuffled, session), id);
          assert.equal(
            id !== undefined,
            agents.some(({ active }) => active < 2),
          );
        }),
      ));
  }
});

describe('choose() by standing, whatever the strategy', () => {
  const failing = (id: string, standing: PolicyAgent['standing'], active = 0) => busy(id, active, 10, { standing });

  for (const strategy of STRATEGIES) {
    it(`gives a trial first and passes over until nobody else has a slot: ${strategy}`, () => {
      const over = failing('a', 'passed_over');
      assert.equal(chosen(strategy, [over, busy('b', 9)]), 'b');
      assert.equal(chosen(strategy, [over, busy('b', 10)]), 'a');
      assert.equal(chosen(strategy, [over, busy('b', 0), failing('c', 'trial', 9)]), 'c');
      assert.equal(chosen(strategy, [failing('a', 'trial', 2), failing('c', 'trial', 1)]), 'c', 'then as usual');
    });
  }

  it('draws no session away from home for a trial, but sends it from a home that is passed over', () => {
    const ids = ['a', 'b', 'c'];
    const home = homeAgent(
      Buffer.from('conv'),
      ids.map((id) => ({ id })),
    )?.id;
    const [other, third] = ids.filter((id) => id !== home);
    assert.ok(home !== undefined && other !== undefined && third !== undefined);
    const among = (...agents: readonly PolicyAgent[]) => chosen('session-affinity', agents, 'conv');
    assert.equal(among(busy(home, 9), failing(other, 'trial'), busy(third, 0)), home);
    assert.equal(among(failing(home, 'trial', 9), busy(other, 0), busy(third, 0)), home);
    assert.equal(among(failing(home, 'passed_over'), busy(other, 9), busy(third, 8)), third);
    assert.equal(among(failing(home, 'passed_over', 9), failing(other, 'passed_over'), busy(third, 10)), home);
  });
});
