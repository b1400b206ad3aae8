// The checks on a token, in the order of the product page; the first that fails names the reason. Checks 1 to 6 need no
// body, so a refusal never waits for one. Check 8 is the ledger's.

import { fault, ok, type Result } from '../lib/result.ts';
import { type Scope, scopeIncludes } from '../site/scope.ts';
import type { Site, SiteId } from '../site/site.ts';
import { CLOCK_GRACE_MS, type EndpointPath, lastValidMs, type RedirectClaims } from './claims.ts';
import type { Keyring } from './keyring.ts';
import { mayPredateStart } from './restart.ts';
import { openToken } from './token.ts';

/** Why a token is refused, in the order of the checks; also the label of `hivenet_redirect_rejections_total`. */
export const REFUSAL_REASONS = [
  'malformed',
  'signature',
  'expired',
  'clock',
  'site',
  'path',
  'scope',
  'key',
  'body',
  'replay',
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];

export interface Refusal {
  /** For logs and metrics; the client never learns it. */
  readonly reason: RefusalReason;
  /** The claims when their MAC verified: a fallback then inherits hop and origin, else it is not redirected (D-33). */
  readonly authentic: RedirectClaims | undefined;
}

/** What the target knows without the body. */
export interface TargetFacts {
  readonly siteId: SiteId;
  readonly endpoint: EndpointPath;
  /** This site's entry in its own map; undefined before the first push. */
  readonly ownSite: Site | undefined;
  /** Unix ms, when the head of the request arrived (A8). */
  readonly arrivedMs: number;
  /** Unix ms at which this router started with keys or a map of before; undefined: it restored none (A15). */
  readonly startedMs: number | undefined;
  /** Check 6: the key is usable here, and every credential that was sent belongs to it (E1). Called at most once. */
  readonly keyMatches: (keyId: string) => boolean;
}

/** Checks 1 to 6. `shown` is every value of `rt`: any number but one is `malformed` (D-25). */
export function verifyBeforeBody(
  shown: readonly string[],
  keyring: Keyring,
  facts: TargetFacts,
): Result<RedirectClaims, Refusal> {
  const [text] = shown;
  if (text === undefined || shown.length > 1) return fault({ reason: 'malformed', authentic: undefined });
  const opened = openToken(text, keyring);
  if (!opened.ok) return fault({ reason: opened.fault, authentic: undefined });
  const claims = opened.value;
  const reason = firstFailing(claims, facts);
  return reason === undefined ? ok(claims) : fault({ reason, authentic: claims });
}

/** Check 7, for the SHA-256 (64 lower-case hex digits) of the body as on the wire, before any quota. */
export function verifyBody(claims: RedirectClaims, bodyHash: string): Result<RedirectClaims, Refusal> {
  return claims.bodyHash === bodyHash ? ok(claims) : fault({ reason: 'body', authentic: claims });
}

function firstFailing(claims: RedirectClaims, facts: TargetFacts): RefusalReason | undefined {
  if (facts.arrivedMs > lastValidMs(claims)) return 'expired';
  if (mayPredateStart(claims.issuedMs, facts.startedMs)) return 'expired';
  // This clock is behind: the token would live longer than its issuer meant.
  if (claims.issuedMs > facts.arrivedMs + CLOCK_GRACE_MS) return 'clock';
  if (claims.target !== facts.siteId) return 'site';
  if (claims.endpoint !== facts.endpoint) return 'path';
  if (!isInScope(claims.scope, facts.ownSite)) return 'scope';
  if (!facts.keyMatches(claims.keyId)) return 'key';
  return undefined;
}

/** A site without a map does not know its country, so only `all` certainly includes it (D-23). */
function isInScope(scope: Scope, ownSite: Site | undefined): boolean {
  return ownSite === undefined ? scope.kind === 'all' : scopeIncludes(scope, ownSite);
}
