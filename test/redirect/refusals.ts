// For each reason one way to bring it about. Every one changes another part of the request, so that they combine: what
// a request with several faults is refused for shows the order of the checks.

import { mintToken } from '../../src/redirect/token.ts';
import type { RefusalReason } from '../../src/redirect/verify.ts';
import { claims, keyring, NOW_MS, present, site, siteId } from './builders.ts';
import { facts, type Presented, presented, type Target } from './target.ts';

/** A request before its token is minted. */
interface Draft {
  readonly claims: ReturnType<typeof claims>;
  readonly secret: string;
  readonly shownTwice: boolean;
  readonly facts: ReturnType<typeof facts>;
  readonly bodyHash: string;
  readonly isUsed: boolean;
}

const LIFETIME_MS = 60_000;
const GRACE_MS = 5_000;

const CAUSE = {
  malformed: (draft) => ({ ...draft, shownTwice: true }),
  signature: (draft) => ({ ...draft, secret: 'k1:not-the-secret-that-the-target-has' }),
  expired: (draft) => ({
    ...draft,
    claims: { ...draft.claims, issuedMs: NOW_MS - LIFETIME_MS - GRACE_MS - 1 },
  }),
  clock: (draft) => ({ ...draft, claims: { ...draft.claims, issuedMs: NOW_MS + GRACE_MS + 1 } }),
  site: (draft) => ({ ...draft, facts: { ...draft.facts, siteId: siteId('site-fr-3') } }),
  path: (draft) => ({ ...draft, facts: { ...draft.facts, endpoint: '/v1/messages' } }),
  scope: (draft) => ({ ...draft, facts: { ...draft.facts, ownSite: site('site-fr-2', 'DE', true) } }),
  key: (draft) => ({ ...draft, facts: { ...draft.facts, keyMatches: () => false } }),
  body: (draft) => ({ ...draft, bodyHash: '0'.repeat(64) }),
  replay: (draft) => ({ ...draft, isUsed: true }),
} satisfies Record<RefusalReason, (draft: Draft) => Draft>;

/** The request to present to `target`, with a fault for each of `reasons`; no reason, no fault. */
export function requestWith(reasons: readonly RefusalReason[], target: Target, tokenId: string): Presented {
  const sound: Draft = {
    claims: claims({ tokenId, lifetimeMs: LIFETIME_MS }),
    secret: '',
    shownTwice: false,
    facts: facts(),
    bodyHash: claims().bodyHash,
    isUsed: false,
  };
  const draft = reasons.reduce<Draft>((before, reason) => CAUSE[reason](before), sound);
  if (draft.isUsed) target.ledger.markUsed(draft.claims, NOW_MS);
  const text = present(mintToken(draft.claims, draft.secret === '' ? keyring() : keyring(draft.secret)));
  const shown = draft.shownTwice ? [text, text] : [text];
  return presented(shown, { facts: draft.facts, bodyHash: draft.bodyHash });
}
