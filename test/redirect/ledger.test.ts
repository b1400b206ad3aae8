import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lastValidMs, type RedirectClaims } from '../../src/redirect/claims.ts';
import { UsedTokenLedger } from '../../src/redirect/ledger.ts';
import { claims, NOW_MS, tokenId } from './builders.ts';

/** Claims of token `number` that may be accepted until `endMs`. */
function ending(endMs: number, number: number): RedirectClaims {
  return claims({ tokenId: tokenId(number), lifetimeMs: 60_000, issuedMs: endMs - 65_000 });
}

function use(ledger: UsedTokenLedger, token: RedirectClaims, nowMs: number): 'expired' | 'replay' | undefined {
  const reason = ledger.check(token, nowMs);
  if (reason === undefined) ledger.markUsed(token, nowMs);
  return reason;
}

/** A whole second, so that the bucket of a token that ends here holds this second and the 999 ms after it. */
const END_MS = NOW_MS + 65_000;

describe('UsedTokenLedger', () => {
  it('remembers a used token until it can no longer be presented (R-110, R-116)', () => {
    const ledger = new UsedTokenLedger();
    const token = claims();
    assert.equal(use(ledger, token, NOW_MS), undefined);
    for (const nowMs of [NOW_MS, NOW_MS + 1, NOW_MS + 60_000, lastValidMs(token)]) {
      assert.equal(ledger.check(token, nowMs), 'replay');
    }
  });

  it('keeps IDs 60 s longer than their tokens, for slow bodies, and drops them by the second (D-42, R-117)', () => {
    for (const endMs of [END_MS, END_MS + 1, END_MS + 999]) {
      const ledger = new UsedTokenLedger();
      const token = ending(endMs, 1);
      use(ledger, token, NOW_MS);
      assert.equal(ledger.check(token, END_MS + 60_999), 'replay');
      assert.equal(ledger.size, 1);
      assert.equal(ledger.check(token, END_MS + 61_000), 'expired');
      assert.equal(ledger.size, 0);
    }
  });

  it('accepts a first use whose body ends up to 60 s after the token did', () => {
    for (const endMs of [END_MS, END_MS + 999]) {
      const ledger = new UsedTokenLedger();
      use(ledger, ending(endMs, 1), NOW_MS);
      assert.equal(use(ledger, ending(endMs, 2), endMs + 60_000), undefined);
    }
  });

  it('refuses as expired whatever ended in or before a second it has dropped, and nothing after (D-42)', () => {
    const ledger = new UsedTokenLedger();
    use(ledger, ending(END_MS, 1), NOW_MS);
    const nowMs = END_MS + 61_000;
    assert.equal(ledger.check(ending(END_MS - 1, 2), nowMs), 'expired');
    assert.equal(ledger.check(ending(END_MS, 2), nowMs), 'expired');
    assert.equal(ledger.check(ending(END_MS + 999, 2), nowMs), 'expired');
    assert.equal(ledger.check(ending(END_MS + 1_000, 2), nowMs), undefined);
  });

  it('refuses a used token after the clock ran ahead and came back (R-116, T-09)', () => {
    const ledger = new UsedTokenLedger();
    const token = claims();
    use(ledger, token, NOW_MS);
    assert.equal(ledger.check(token, NOW_MS + 600_000), 'expired');
    assert.equal(ledger.size, 0);
    assert.equal(ledger.check(token, NOW_MS + 1), 'expired');
  });

  it('keeps its floor when an older second is dropped after a newer one (P-07)', () => {
    const ledger = new UsedTokenLedger();
    use(ledger, ending(END_MS + 300_000, 1), NOW_MS);
    use(ledger, ending(END_MS, 2), NOW_MS);
    ledger.check(claims(), NOW_MS + 600_000);
    assert.equal(ledger.size, 0);
    for (const number of [1, 3]) assert.equal(ledger.check(ending(END_MS + 300_000, number), NOW_MS), 'expired');
  });

  it('goes on dropping after the clock came back', () => {
    const ledger = new UsedTokenLedger();
    ledger.check(claims(), NOW_MS + 600_000);
    use(ledger, ending(END_MS, 1), NOW_MS);
    ledger.check(claims(), END_MS + 61_000);
    assert.equal(ledger.size, 0);
  });

  it('drops everything that ended during a quiet time at once', () => {
    const ledger = new UsedTokenLedger();
    for (let number = 0; number < 100; number += 1) use(ledger, ending(END_MS + number * 500, number), NOW_MS);
    assert.equal(ledger.size, 100);
    ledger.check(claims(), END_MS + 24_000 + 61_000);
    assert.equal(ledger.size, 50);
    ledger.check(claims(), END_MS + 3_600_000);
    assert.equal(ledger.size, 0);
  });

  it('refuses new tokens when full, and never drops a live one (R-118, D-43)', () => {
    const ledger = new UsedTokenLedger(3);
    for (const number of [1, 2, 3]) {
      assert.equal(ledger.isFull, false);
      assert.equal(use(ledger, ending(END_MS, number), NOW_MS), undefined);
    }
    assert.equal(ledger.isFull, true);
    assert.equal(use(ledger, ending(END_MS, 4), NOW_MS), 'replay');
    for (const number of [1, 2, 3]) assert.equal(ledger.check(ending(END_MS, number), END_MS), 'replay');
    assert.equal(ledger.size, 3);
    assert.equal(use(ledger, ending(END_MS + 61_000, 4), END_MS + 61_000), undefined);
    assert.deepEqual([ledger.size, ledger.isFull], [1, false]);
  });

  it('takes a token that it had no room for once there is some: it was never used (S61)', () => {
    const ledger = new UsedTokenLedger(1);
    const later = ending(END_MS + 120_000, 2);
    use(ledger, ending(END_MS, 1), NOW_MS);
    assert.equal(use(ledger, later, NOW_MS), 'replay');
    assert.equal(use(ledger, later, END_MS + 61_000), undefined);
    assert.equal(use(ledger, later, END_MS + 61_000), 'replay');
  });

  it('holds 1,048,576 live IDs unless told otherwise (D-43)', { timeout: 60_000 }, () => {
    const ledger = new UsedTokenLedger();
    for (let number = 0; number < 1_048_576; number += 1) ledger.markUsed(ending(END_MS, number), NOW_MS);
    assert.equal(ledger.check(ending(END_MS, 1_048_576), NOW_MS), 'replay');
    assert.equal(ledger.size, 1_048_576);
  });

  it('does not take a mark for a token that it refuses', () => {
    const ledger = new UsedTokenLedger(1);
    ledger.markUsed(claims(), NOW_MS);
    assert.throws(() => ledger.markUsed(claims(), NOW_MS), /^Error: Cannot mark token as used: replay$/);
    assert.throws(() => ledger.markUsed(ending(END_MS, 2), NOW_MS), /replay/);
    assert.throws(() => ledger.markUsed(claims(), NOW_MS + 600_000), /expired/);
    assert.equal(ledger.size, 0);
  });

  it('accepts exactly one of 100 requests that finish together with one token (R-111)', async () => {
    const ledger = new UsedTokenLedger();
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        for (let turn = 0; turn < index % 7; turn += 1) await Promise.resolve();
        return use(ledger, claims(), NOW_MS);
      }),
    );
    assert.equal(outcomes.filter((reason) => reason === undefined).length, 1);
    assert.equal(outcomes.filter((reason) => reason === 'replay').length, 99);
  });
});
