import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { budgetOf, inflightMaxOf, Pool, type PoolRoom, type Verdict } from '../../src/admission/pool.ts';
import { footprint } from './door.ts';

const ROOM: PoolRoom = { replicas: 1, budgetTokens: 1_000, maxInflight: 0 };

function verdictOf(pool: Pool, tokens: number, room: PoolRoom, share = 0): Verdict {
  return pool.verdict(footprint(tokens, { share }), room, 1);
}

/** A pool in which key `k` holds so many tokens. */
function poolWith(...weights: readonly number[]): Pool {
  const pool = new Pool();
  for (const weight of weights) pool.reserve(footprint(weight), () => undefined);
  return pool;
}

describe('budgetOf() and inflightMaxOf()', () => {
  for (const [name, room, fraction, budget] of [
    ['a fraction, rounded down', { ...ROOM, budgetTokens: 1_001 }, 0.9, 900],
    ['every agent', { ...ROOM, replicas: 3 }, 0.9, 2_700],
    ['one agent when none is healthy (T5)', { ...ROOM, replicas: 0 }, 0.9, 900],
    ['at least 1', { ...ROOM, budgetTokens: 1 }, 0.5, 1],
    ['no limit for 0', { ...ROOM, budgetTokens: 0 }, 0.9, undefined],
  ] as const) {
    it(`give out ${name}`, () => assert.equal(budgetOf(room, fraction), budget));
  }

  it('count requests of every agent, at least one', () => {
    const room = { ...ROOM, maxInflight: 4 };
    assert.deepEqual(
      [0, 1, 3].map((replicas) => inflightMaxOf({ ...room, replicas })),
      [4, 4, 12],
    );
    assert.equal(inflightMaxOf(ROOM), undefined);
  });
});

describe('Pool.verdict()', () => {
  for (const [name, held, tokens, room, verdict] of [
    ['lets in what fits to the token', [400], 600, ROOM, 'fits'],
    ['has no room for one token more', [400], 601, ROOM, 'full'],
    ['never takes what is larger than the budget', [], 1_001, ROOM, 'never'],
    ['lets in the last request', [1, 1], 1, { ...ROOM, maxInflight: 3 }, 'fits'],
    ['has no room for one request more', [1, 1, 1], 1, { ...ROOM, maxInflight: 3 }, 'full'],
    ['counts requests without a budget of tokens', [9e9], 9e9, { ...ROOM, budgetTokens: 0, maxInflight: 1 }, 'full'],
    ['has no limit when none is set', [9e9], 9e9, { ...ROOM, budgetTokens: 0 }, 'fits'],
    ['takes a request of nothing into a full budget', [1_000], 0, ROOM, 'fits'],
  ] as const) {
    it(name, () => assert.equal(verdictOf(poolWith(...held), tokens, room), verdict));
  }

  for (const [name, held, tokens, share, verdict] of [
    ['lets a key hold its share', [200], 100, 0.3, 'fits'],
    ['and not one token more', [200], 101, 0.3, 'share'],
    ['counts its first request too', [], 301, 0.3, 'share'],
    ['has no limit for a share of less than a token', [200], 500, 0.0009, 'fits'],
    ['says that the pool is full before it says that the share is', [900], 101, 0.3, 'full'],
  ] as const) {
    it(name, () => assert.equal(verdictOf(poolWith(...held), tokens, ROOM, share), verdict));
  }

  it('takes the share of the whole budget, without the fraction, and of each key alone', () => {
    const pool = poolWith(100);
    const verdicts = [400, 401].map((tokens) => pool.verdict(footprint(tokens, { share: 0.5 }), ROOM, 0.9));
    assert.deepEqual(verdicts, ['fits', 'share']);
    assert.equal(pool.verdict(footprint(401, { keyId: 'other', share: 0.5 }), ROOM, 0.9), 'fits');
  });

  it('has no share without a budget', () => {
    assert.equal(verdictOf(poolWith(500), 500, { ...ROOM, budgetTokens: 0, maxInflight: 9 }, 0.1), 'fits');
  });
});

describe('Pool.reserve()', () => {
  function reserved(promptTokens: number, declaredOutputTokens = 0) {
    const pool = new Pool();
    const freed = { count: 0 };
    const onFreed = (): void => {
      freed.count += 1;
    };
    return { pool, freed, reservation: pool.reserve(footprint(promptTokens, { declaredOutputTokens }), onFreed) };
  }

  it('holds prompt and declared output until it is released, once', () => {
    const { pool, freed, reservation } = reserved(100, 50);
    assert.deepEqual([pool.tokens, pool.requests], [150, 1]);
    for (let count = 0; count < 3; count += 1) reservation.release();
    assert.deepEqual([pool.tokens, pool.requests, freed.count], [0, 0, 1]);
  });

  it('grows with the output that was not declared, and never shrinks by it', () => {
    const { pool, reservation } = reserved(100);
    reservation.grow(7);
    reservation.grow(12);
    reservation.grow(3);
    assert.equal(pool.tokens, 112);
  });

  it('does not grow when the output was declared', () => {
    const { pool, reservation } = reserved(100, 50);
    reservation.grow(70);
    assert.equal(pool.tokens, 150);
  });

  it('is corrected by the exact prompt, up or down, and tells of room only when there is more', () => {
    const { pool, freed, reservation } = reserved(100, 50);
    reservation.correct(130);
    assert.deepEqual([pool.tokens, freed.count], [180, 0]);
    reservation.correct(90);
    assert.deepEqual([pool.tokens, freed.count], [140, 1]);
    reservation.correct(90);
    assert.deepEqual([pool.tokens, freed.count], [140, 1]);
  });

  it('changes nothing after its release, and gives back exactly what it holds', () => {
    const { pool, reservation } = reserved(100);
    const other = pool.reserve(footprint(10, { keyId: 'other' }), () => undefined);
    reservation.grow(30);
    reservation.correct(5);
    assert.equal(pool.tokens, 45);
    reservation.release();
    reservation.grow(500);
    reservation.correct(500);
    assert.deepEqual([pool.tokens, pool.requests, pool.keys], [10, 1, 1]);
    other.release();
    assert.deepEqual([pool.tokens, pool.requests, pool.keys], [0, 0, 0]);
  });
});
