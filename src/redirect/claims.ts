// What a redirect token says, and the bounds of every field: one list of rules, held by the writer of tokens and by
// their reader alike (claims-bytes.ts), so the two cannot disagree (T-16).

import { Buffer } from 'node:buffer';
import { isUuid } from '../lib/uuid.ts';
import type { Scope } from '../site/scope.ts';
import type { SiteId } from '../site/site.ts';

/** The paths that can redirect (product page, "How a request is handled"); on the wire, the place in this list from 1. */
export const ENDPOINT_PATHS = [
  '/v1/chat/completions',
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1/embeddings',
  '/v1/rerank',
] as const;

export type EndpointPath = (typeof ENDPOINT_PATHS)[number];

/** Longest life of a token: it bounds how long a used one must be remembered (D-44). The shortest is 1 ms. */
export const LIFETIME_MAX_MS = 3_600_000;

/** Allowed clock drift between two routers, at both ends of a token's life (product page, "The redirect token"). */
export const CLOCK_GRACE_MS = 5_000;

/** Everything that a token vouches for. All times are whole milliseconds. */
export interface RedirectClaims {
  readonly endpoint: EndpointPath;
  /** 1: the first redirect of a request; 2: the second and last. */
  readonly hop: 1 | 2;
  readonly scope: Scope;
  /** Unix time, 0 to 2^48 - 1. */
  readonly issuedMs: number;
  /** 1 to `LIFETIME_MAX_MS`. A lifetime, not an end: no token can expire before it was issued. */
  readonly lifetimeMs: number;
  /** 128 random bits, 32 lower-case hex digits. */
  readonly tokenId: string;
  /** SHA-256 of the body as on the wire (E5), 64 lower-case hex digits. */
  readonly bodyHash: string;
  /** UUID, verbatim (D-27). */
  readonly requestId: string;
  /** The client's own UUID, verbatim; undefined when it sent none. */
  readonly clientRequestId: string | undefined;
  /** Where the request first arrived. */
  readonly origin: SiteId;
  /** The only site that may accept the token; never the origin. */
  readonly target: SiteId;
  /** 0 to 255 bytes of UTF-8 (D-45); empty in auth mode `none` (D-30). */
  readonly keyId: string;
  /** The concrete model, 1 to 256 bytes of UTF-8. */
  readonly model: string;
}

/** The last millisecond at which a token is accepted: expiry and grace. */
export function lastValidMs(claims: RedirectClaims): number {
  return claims.issuedMs + claims.lifetimeMs + CLOCK_GRACE_MS;
}

const ISSUED_MAX_MS = 2 ** 48 - 1;
const KEY_ID_MAX_BYTES = 255;
const MODEL_MAX_BYTES = 256;

/**
 * Whether every field is within the bounds above (redirect-requirements 4.2), but for token ID and body hash: these fill
 * their bytes, so that no reader can find others, and their writer sees to it that they are hex digits. Not only for what
 * is read: a key ID may be longer than a token can carry (D-45). Request IDs go into headers and logs, so not even a
 * sibling is trusted (D-27).
 */
export function areWithinBounds(claims: RedirectClaims): boolean {
  return (
    isWhole(claims.issuedMs, 0, ISSUED_MAX_MS) &&
    isWhole(claims.lifetimeMs, 1, LIFETIME_MAX_MS) &&
    isUuid(claims.requestId) &&
    (claims.clientRequestId === undefined || isUuid(claims.clientRequestId)) &&
    claims.origin !== claims.target &&
    fitsBytes(claims.keyId, 0, KEY_ID_MAX_BYTES) &&
    fitsBytes(claims.model, 1, MODEL_MAX_BYTES)
  );
}

function isWhole(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

/**
 * `min`: 0 or 1. No character takes more than three bytes for each of its UTF-16 units, so that short texts are not
 * counted. Lone surrogates have no UTF-8: they would come back as another text, and two key IDs could become one.
 */
function fitsBytes(text: string, min: number, max: number): boolean {
  const isShort = 3 * text.length <= max || Buffer.byteLength(text) <= max;
  return text.length >= min && isShort && text.isWellFormed();
}
