import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { RedirectClaims } from '../../src/redirect/claims.ts';
import {
  REFUSAL_REASONS,
  type RefusalReason,
  type TargetFacts,
  verifyBeforeBody,
  verifyBody,
} from '../../src/redirect/verify.ts';
import { claims, keyring, NOW_MS, scope, site, siteId, token, tokenId } from './builders.ts';
import { requestWith } from './refusals.ts';
import { facts, presented, Target } from './target.ts';
import { NEGATIVE } from './vectors.ts';

const KEYRING = keyring();

/** The verdict of checks 1 to 6: `accepted` or the reason. */
function verdict(change: Partial<RedirectClaims>, factsChange: Partial<TargetFacts> = {}): RefusalReason | 'accepted' {
  const checked = verifyBeforeBody([token(change)], KEYRING, facts(factsChange));
  return checked.ok ? 'accepted' : checked.fault.reason;
}

/** Whether a refusal for the reason still tells which request it was (D-33). */
const IS_AUTHENTIC = {
  malformed: false,
  signature: false,
  expired: true,
  clock: true,
  site: true,
  path: true,
  scope: true,
  key: true,
  body: true,
  replay: true,
} satisfies Record<RefusalReason, boolean>;

/** `expired` and `clock` exclude each other; every other set of reasons can hold at once. */
function canHoldTogether(reasons: readonly RefusalReason[]): boolean {
  return !(reasons.includes('expired') && reasons.includes('clock'));
}

describe('the eight checks', () => {
  it('accept a request that passes them all', () => {
    const target = new Target();
    assert.equal(target.take(requestWith([], target, tokenId(1))), undefined);
  });

  for (const reason of REFUSAL_REASONS) {
    it(`refuse for ${reason}, and leave the right request its token (R-114)`, () => {
      const target = new Target();
      const refusal = target.take(requestWith([reason], target, tokenId(1)));
      assert.equal(refusal?.reason, reason);
      assert.equal(refusal?.authentic?.tokenId, IS_AUTHENTIC[reason] ? tokenId(1) : undefined);
      const right = requestWith([], target, tokenId(reason === 'replay' ? 2 : 1));
      assert.equal(target.take(right), undefined);
    });
  }

  it('come in the order of the product page: the first that fails names the reason (R-112)', () => {
    let pairs = 0;
    for (const earlier of REFUSAL_REASONS) {
      for (const later of REFUSAL_REASONS.slice(REFUSAL_REASONS.indexOf(earlier) + 1)) {
        if (!canHoldTogether([earlier, later])) continue;
        const target = new Target();
        assert.equal(target.take(requestWith([later, earlier], target, tokenId(1)))?.reason, earlier, later);
        pairs += 1;
      }
    }
    assert.equal(pairs, 44);
  });

  it('name the first of any set of faults (P-04)', () =>
    fc.assert(
      fc.property(fc.subarray([...REFUSAL_REASONS]).filter(canHoldTogether), (reasons) => {
        const target = new Target();
        assert.equal(target.take(requestWith(reasons, target, tokenId(1)))?.reason, reasons[0]);
      }),
      { numRuns: 500 },
    ));

  it('accept the same requests however many refused ones come between (P-06)', () => {
    const refusable = REFUSAL_REASONS.filter((reason) => reason !== 'replay');
    const trace = fc.array(fc.tuple(fc.nat({ max: 5 }), fc.option(fc.constantFrom(...refusable))), { maxLength: 30 });
    const isUndisturbed = (requests: readonly (readonly [id: number, reason: RefusalReason | null])[]) => {
      const [mixed, sound] = [new Target(), new Target()];
      return requests.every(([id, reason]) => {
        const isAccepted = mixed.take(requestWith(reason === null ? [] : [reason], mixed, tokenId(id))) === undefined;
        const wouldBe = reason === null && sound.take(requestWith([], sound, tokenId(id))) === undefined;
        return isAccepted === wouldBe;
      });
    };
    return fc.assert(fc.property(trace, isUndisturbed), { numRuns: 100 });
  });
});

describe('verifyBeforeBody()', () => {
  const startedMs = claims().issuedMs - 5_000;

  it('refuses as expired what was issued before a start with keys or a map of before, or up to 5 s after it (A15)', () => {
    assert.equal(verdict({}, { startedMs }), 'accepted');
    assert.equal(verdict({}, { startedMs: startedMs + 1 }), 'expired');
    assert.equal(verdict({}, { startedMs: undefined }), 'accepted');
  });

  it('judges that as part of check 1, before all others (A15, R-112)', () => {
    const restarted = { startedMs: startedMs + 1, keyMatches: () => false };
    // A clock that stepped back after the start.
    assert.equal(verdict({}, { ...restarted, arrivedMs: claims().issuedMs - 5_001 }), 'expired');
    assert.equal(verdict({ target: siteId('other') }, restarted), 'expired');
    assert.equal(verdict({ target: siteId('other') }, { ...restarted, startedMs }), 'site');
  });

  for (const { name, reason, text } of NEGATIVE) {
    it(`refuses as ${reason}: ${name} (R-093–R-095)`, () => {
      assert.deepEqual(verifyBeforeBody([text], KEYRING, facts()), {
        ok: false,
        fault: { reason, authentic: undefined },
      });
    });
  }

  it('refuses no token, an empty one and more than one as malformed, even if all are good (R-093, D-25)', () => {
    for (const shown of [[], [''], ['', token()], [token(), ''], [token(), token()], [token(), token(), token()]]) {
      const checked = verifyBeforeBody(shown, KEYRING, facts());
      assert.equal(checked.ok ? 'accepted' : checked.fault.reason, 'malformed');
    }
  });

  it('accepts up to 5 s after expiry (R-098, D-41)', () => {
    const expiryMs = NOW_MS + 60_000;
    for (const [late, expected] of [
      [0, 'accepted'],
      [5_000, 'accepted'],
      [5_001, 'expired'],
      [86_400_000, 'expired'],
    ] as const) {
      assert.equal(verdict({}, { arrivedMs: expiryMs + late }), expected, String(late));
    }
  });

  it('accepts a token issued up to 5 s ahead of this clock (R-099, D-41)', () => {
    for (const [ahead, expected] of [
      [-5_000, 'accepted'],
      [5_000, 'accepted'],
      [5_001, 'clock'],
      [86_400_000, 'clock'],
    ] as const) {
      assert.equal(verdict({ issuedMs: NOW_MS + ahead }), expected, String(ahead));
    }
  });

  it('refuses a token for another site, by exact bytes (R-100)', () => {
    assert.equal(verdict({}, { siteId: siteId('site-fr-3') }), 'site');
    assert.equal(verdict({ target: siteId('SITE-fr-2') }), 'site');
  });

  it('refuses a token for another endpoint (R-101)', () => {
    for (const endpoint of ['/v1/messages', '/v1/messages/count_tokens', '/v1/embeddings', '/v1/rerank'] as const) {
      assert.equal(verdict({}, { endpoint }), 'path');
      assert.equal(verdict({ endpoint }, { endpoint }), 'accepted');
    }
  });

  it('refuses a token whose scope leaves this site out, by its own map entry (R-102, R-103, D-23)', () => {
    const german = site('site-fr-2', 'DE', true);
    const swiss = site('site-fr-2', 'CH', false);
    for (const [asked, ownSite, expected] of [
      ['country:DE', german, 'accepted'],
      ['country:FR', german, 'scope'],
      ['EU', german, 'accepted'],
      ['EU', swiss, 'scope'],
      ['country:CH', swiss, 'accepted'],
      ['all', swiss, 'accepted'],
      ['all', undefined, 'accepted'],
      ['EU', undefined, 'scope'],
      ['country:FR', undefined, 'scope'],
    ] as const) {
      assert.equal(verdict({ scope: scope(asked) }, { ownSite }), expected, `${asked} at ${ownSite?.country}`);
    }
  });

  it("asks about the token's key, once, and only when all else is right (R-104–R-107)", () => {
    const asked: string[] = [];
    const keyMatches = (keyId: string) => asked.push(keyId) > 0;
    assert.equal(verdict({}, { keyMatches }), 'accepted');
    assert.equal(verdict({ keyId: '' }, { keyMatches }), 'accepted');
    assert.equal(verdict({}, { keyMatches, ownSite: undefined }), 'scope');
    assert.deepEqual(asked, ['key-abc123', '']);
    assert.equal(verdict({}, { keyMatches: () => false }), 'key');
  });

  it('gives the claims of the token that it accepts', () => {
    assert.deepEqual(verifyBeforeBody([token()], KEYRING, facts()), { ok: true, value: claims() });
  });
});

describe('verifyBody()', () => {
  it('accepts the hash of the very body, and no other (R-108)', () => {
    const { bodyHash } = claims();
    assert.deepEqual(verifyBody(claims(), bodyHash), { ok: true, value: claims() });
    for (const other of ['', '0'.repeat(64), bodyHash.slice(1), `${bodyHash}0`, bodyHash.replace(/.$/, '0')]) {
      assert.deepEqual(verifyBody(claims(), other), {
        ok: false,
        fault: { reason: 'body', authentic: claims() },
      });
    }
  });
});

describe('single use', () => {
  it('accepts a token once (R-110)', () => {
    const target = new Target();
    const request = presented([token()]);
    assert.equal(target.take(request), undefined);
    for (let times = 0; times < 3; times += 1) assert.equal(target.take(request)?.reason, 'replay');
  });

  it('goes by token ID alone: another token of the same request ID and body is another use (R-115)', () => {
    const target = new Target();
    assert.equal(target.take(presented([token({ tokenId: tokenId(1), keyId: 'key-abc123' })])), undefined);
    assert.equal(target.take(presented([token({ tokenId: tokenId(2), keyId: 'key-abc123' })])), undefined);
  });
});
