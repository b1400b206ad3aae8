import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lastValidMs, type RedirectClaims } from '../../src/redirect/claims.ts';
import { UsedTokenLedger } from '../../src/redirect/ledger.ts';
import { claims, token } from './builders.ts';
import { LEDGER_WORLDS, simulateLedger } from './ledger-traces.ts';
import { facts, presented, Target, type TokenLedger } from './target.ts';

// The simulation of 6.3 in small; `make check-model` runs it in full. Beside our ledger runs the one that suggests
// itself, to show that the traces would find it out.

const SMALL = { seed: 1, traces: 60 };

/** Forgets an ID as soon as its token has ended by the clock: what D-42 is there to prevent. */
class ForgetfulLedger implements TokenLedger {
  readonly #endMs = new Map<string, number>();

  check({ tokenId }: RedirectClaims, nowMs: number): 'replay' | undefined {
    for (const [id, endMs] of this.#endMs) if (nowMs > endMs) this.#endMs.delete(id);
    return this.#endMs.has(tokenId) ? 'replay' : undefined;
  }

  markUsed(used: RedirectClaims): void {
    this.#endMs.set(used.tokenId, lastValidMs(used));
  }
}

describe('UsedTokenLedger in the simulation of 6.3', () => {
  for (const world of LEDGER_WORLDS) {
    it(`accepts no token twice, nor after check 8 refused it: ${world.name} (P-05, P-07)`, () => {
      const counts = simulateLedger(world, SMALL, () => new UsedTokenLedger());
      assert.deepEqual([counts.acceptedTwice, counts.acceptedAfterCheck8], [0, 0], `${counts.story}`);
      assert.equal(counts.firstUseRefused === 0, world.isOrdinary);
      // What a clock that ran ahead took for expired was never used: it is good for one use once the clock is right.
      assert.equal(counts.acceptedAfterCheck2 > 0, world.clockStepMs > 0);
    });

    it(`would be found out if it forgot at the end of a token: ${world.name}`, () => {
      assert.ok(simulateLedger(world, SMALL, () => new ForgetfulLedger()).acceptedTwice > 0);
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
