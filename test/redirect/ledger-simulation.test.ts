import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lastValidMs, type RedirectClaims } from '../../src/redirect/claims.ts';
import { UsedTokenLedger } from '../../src/redirect/ledger.ts';
import { claims, NOW_MS, token, tokenId } from './builders.ts';
import { facts, presented, Target } from './target.ts';

// The simulation of redirect-requirements 6.3 in small: tokens presented again and again around their end, bodies that
// trickle, a clock that steps. Beside it runs the ledger that suggests itself, to show that the traces would find it out.

interface World {
  readonly name: string;
  /** One body in five takes up to this long. */
  readonly slowBodyMs: number;
  /** The target's clock jumps by up to this much, either way. */
  readonly clockStepMs: number;
  /** Whether this is ordinary traffic, of which no first use may be refused. */
  readonly isOrdinary: boolean;
}

const WORLDS: readonly World[] = [
  { name: 'steady clock, bodies under 0.5 s', slowBodyMs: 500, clockStepMs: 0, isOrdinary: true },
  { name: 'steady clock, bodies up to 60 s', slowBodyMs: 60_000, clockStepMs: 0, isOrdinary: true },
  { name: 'steady clock, bodies up to 200 s', slowBodyMs: 200_000, clockStepMs: 0, isOrdinary: false },
  { name: 'clock steps of 10 min, bodies under 0.5 s', slowBodyMs: 500, clockStepMs: 600_000, isOrdinary: false },
  { name: 'clock steps of 1 h, bodies up to 200 s', slowBodyMs: 200_000, clockStepMs: 3_600_000, isOrdinary: false },
];

const TRACES = 120;
const TOKENS = 20;

interface Ledger {
  check(claims: RedirectClaims, nowMs: number): string | undefined;
  markUsed(claims: RedirectClaims, nowMs: number): void;
}

/** Forgets an ID as soon as its token has ended by the clock: what D-42 is there to prevent. */
class ForgetfulLedger implements Ledger {
  readonly #endMs = new Map<string, number>();

  check({ tokenId }: RedirectClaims, nowMs: number): string | undefined {
    for (const [id, endMs] of this.#endMs) if (nowMs > endMs) this.#endMs.delete(id);
    return this.#endMs.has(tokenId) ? 'replay' : undefined;
  }

  markUsed(token: RedirectClaims): void {
    this.#endMs.set(token.tokenId, lastValidMs(token));
  }
}

/** Whole numbers below `bound`, the same for the same seed (a linear congruential generator, Numerical Recipes). */
function chance(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

interface Presentation {
  readonly token: RedirectClaims;
  readonly arrivedMs: number;
  readonly completeMs: number;
}

/** What the target's clock shows at a time: that time, or every 30 s another step away from it. */
function targetClock(world: World, random: (bound: number) => number): (timeMs: number) => number {
  const steps = Array.from({ length: 40 }, () =>
    random(2) === 0 ? 0 : random(2 * world.clockStepMs + 1) - world.clockStepMs,
  );
  return (timeMs) => timeMs + (steps[Math.floor((timeMs - NOW_MS) / 30_000)] ?? 0);
}

/** Every token one to four times, mostly near its end. Half of the issuers have the clock that the target has. */
function presentationsOf(
  world: World,
  random: (bound: number) => number,
  clock: (timeMs: number) => number,
): readonly Presentation[] {
  const presentations = Array.from({ length: TOKENS }, (_, number) => {
    const mintedMs = NOW_MS + random(240_000);
    const lifetimeMs = 1_000 + random(60_000);
    const issuedMs = random(2) === 0 ? mintedMs : clock(mintedMs);
    const token = claims({ tokenId: tokenId(number), issuedMs, lifetimeMs });
    return Array.from({ length: 1 + random(4) }, () => {
      const afterMs = random(4) === 0 ? random(500) : Math.max(0, lifetimeMs + 5_000 - random(3_000));
      const bodyMs = random(random(5) === 0 ? world.slowBodyMs : 500);
      return { token, arrivedMs: mintedMs + afterMs, completeMs: mintedMs + afterMs + bodyMs };
    });
  });
  return presentations.flat().sort((one, other) => one.completeMs - other.completeMs);
}

/** Runs one trace, and counts what must not happen. */
function run(world: World, seed: number, ledger: Ledger) {
  const random = chance(seed);
  const clock = targetClock(world, random);
  const presentations = presentationsOf(world, random, clock);
  const counts = { acceptedTwice: 0, firstUseRefused: 0, acceptedAfterRefusal: 0 };
  const accepted = new Set<string>();
  const refused = new Set<string>();
  for (const { token, arrivedMs, completeMs } of presentations) {
    const head = clock(arrivedMs);
    if (head > lastValidMs(token) || token.issuedMs > head + 5_000) continue; // checks 2 and 3
    const nowMs = clock(completeMs);
    const { tokenId } = token;
    if (ledger.check(token, nowMs) === undefined) {
      ledger.markUsed(token, nowMs);
      if (accepted.has(tokenId)) counts.acceptedTwice += 1;
      if (refused.has(tokenId)) counts.acceptedAfterRefusal += 1;
      accepted.add(tokenId);
    } else {
      if (!accepted.has(tokenId)) counts.firstUseRefused += 1;
      refused.add(tokenId);
    }
  }
  return counts;
}

function total(world: World, newLedger: () => Ledger) {
  const sum = { acceptedTwice: 0, firstUseRefused: 0, acceptedAfterRefusal: 0 };
  for (let seed = 1; seed <= TRACES; seed += 1) {
    const counts = run(world, seed, newLedger());
    sum.acceptedTwice += counts.acceptedTwice;
    sum.firstUseRefused += counts.firstUseRefused;
    sum.acceptedAfterRefusal += counts.acceptedAfterRefusal;
  }
  return sum;
}

describe('UsedTokenLedger in the simulation of 6.3', () => {
  for (const world of WORLDS) {
    it(`accepts no token twice, nor after refusing it: ${world.name} (P-05, P-07)`, () => {
      const sum = total(world, () => new UsedTokenLedger());
      assert.deepEqual([sum.acceptedTwice, sum.acceptedAfterRefusal], [0, 0]);
      assert.equal(sum.firstUseRefused === 0, world.isOrdinary);
    });

    it(`would be found out if it forgot at the end of a token: ${world.name}`, () => {
      assert.ok(total(world, () => new ForgetfulLedger()).acceptedTwice > 0);
    });
  }
});

describe('a body that comes slowly', () => {
  it('cannot use a token again once its ID may be forgotten, 61 s after its end (R-117, T-08)', () => {
    const target = new Target();
    const text = token();
    const endMs = lastValidMs(claims());
    const slow = (completeMs: number) => presented([text], { facts: facts({ arrivedMs: endMs }), completeMs });
    assert.equal(target.take(presented([text])), undefined);
    assert.equal(target.take(slow(endMs + 60_000))?.reason, 'replay');
    assert.equal(target.take(slow(endMs + 90_000))?.reason, 'expired');
  });
});
