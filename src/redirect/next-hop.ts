// The claims for the next redirect of a request: what it keeps from where it came, and what is new for every token. The
// hop count lives in tokens alone, so no header or query can reset it.

import { Buffer } from 'node:buffer';
import type { RandomBytes } from '../lib/clock.ts';
import type { SiteId } from '../site/site.ts';
import type { RedirectClaims } from './claims.ts';
import type { Refusal } from './verify.ts';

/** What a redirect carries on. Of an accepted token: its claims as they are. */
export type CarriedClaims = Pick<
  RedirectClaims,
  'endpoint' | 'scope' | 'bodyHash' | 'requestId' | 'clientRequestId' | 'keyId' | 'model'
>;

/** How the request came here: redirects so far, and where it first arrived (undefined: here; D-32, D-33). */
export interface Passage {
  readonly hops: 0 | 1 | 2;
  readonly origin: SiteId | undefined;
}

/** The passage of a request that an authentic token brought here, accepted or not. */
export function passageOf(claims: RedirectClaims): Passage {
  return { hops: claims.hop, origin: claims.origin };
}

/**
 * The passage of a request that goes on with its own key after its token was refused. As a literally new request it
 * could be redirected for ever, between two sites of different secrets or where a site's URL leads back. So hops and
 * origin carry over from a token whose MAC verified, and without one there is no further redirect (A6, D-33, R-123).
 */
export function fallbackPassage({ authentic }: Refusal): Passage {
  return authentic === undefined ? { hops: 2, origin: undefined } : passageOf(authentic);
}

/** The redirect about to be made. */
export interface NextLeg {
  readonly here: SiteId;
  readonly target: SiteId;
  /** Unix ms, whole. */
  readonly nowMs: number;
  /** 1 to `LIFETIME_MAX_MS`. */
  readonly lifetimeMs: number;
  readonly random: RandomBytes;
}

const TOKEN_ID_BYTES = 16;

/**
 * Claims with hop 1 and this site as origin for a request that is new here, with hop 2 and the first origin for a
 * redirected one; issued now, with a fresh token ID. Undefined after two hops: there is no third.
 */
export function nextClaims(request: CarriedClaims, passage: Passage, leg: NextLeg): RedirectClaims | undefined {
  if (passage.hops === 2) return undefined;
  return {
    endpoint: request.endpoint,
    hop: passage.hops === 0 ? 1 : 2,
    scope: request.scope,
    issuedMs: leg.nowMs,
    lifetimeMs: leg.lifetimeMs,
    tokenId: Buffer.from(leg.random(TOKEN_ID_BYTES)).toString('hex'),
    bodyHash: request.bodyHash,
    requestId: request.requestId,
    clientRequestId: request.clientRequestId,
    origin: passage.origin ?? leg.here,
    target: leg.target,
    keyId: request.keyId,
    model: request.model,
  };
}
