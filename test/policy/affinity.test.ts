import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { homeAgent } from '../../src/policy/affinity.ts';
import vectors from '../vectors/agent-session.json' with { type: 'json' };

const named = (...ids: readonly string[]) => ids.map((id) => ({ id }));
const lists = fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 2, maxLength: 12 });
const sessions = Array.from({ length: 40 }, (_, index) => Buffer.from(`conv-${index}`));

describe('homeAgent()', () => {
  for (const { session, agents, home } of vectors.cases) {
    it(`agrees with the vector of session ${session.slice(0, 16)} over ${agents.length} agents`, () => {
      assert.equal(homeAgent(Buffer.from(session, 'hex'), named(...agents))?.id, home);
    });
  }

  it('is none without agents', () => {
    assert.equal(homeAgent(Buffer.from('s'), []), undefined);
  });

  it('does not depend on the order of the agents', () =>
    fc.assert(
      fc.property(lists, fc.uint8Array(), fc.nat(), (ids, session, turn) => {
        const rotated = [...ids.slice(turn % ids.length), ...ids.slice(0, turn % ids.length)].toReversed();
        assert.equal(homeAgent(session, named(...rotated))?.id, homeAgent(session, named(...ids))?.id);
      }),
    ));

  it('moves the sessions of an agent that goes, and no others; and gives an agent that comes only its own', () =>
    fc.assert(
      fc.property(lists, fc.nat(), (ids, index) => {
        const gone = ids[index % ids.length];
        const left = named(...ids.filter((id) => id !== gone));
        for (const session of sessions) {
          const home = homeAgent(session, named(...ids))?.id;
          if (home !== gone) assert.equal(homeAgent(session, left)?.id, home);
        }
      }),
    ));

  it('spreads sessions evenly', () => {
    const agents = named(...Array.from({ length: 5 }, (_, index) => `agent-${index}`));
    const counts = new Map<string, number>();
    for (let index = 0; index < 5_000; index += 1) {
      const id = homeAgent(Buffer.from(`session-${index}`), agents)?.id ?? '';
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    for (const agent of agents) {
      const count = counts.get(agent.id) ?? 0;
      assert.ok(count > 850 && count < 1_150, `${agent.id}: ${count}`); // 1,000 ± 5 standard deviations
    }
  });
});
