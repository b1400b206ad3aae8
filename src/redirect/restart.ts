// A router that remembers its map or its keys over a restart has still forgotten which tokens were used. Apart from the
// ledger, which knows nothing of starts.

import { CLOCK_GRACE_MS } from './claims.ts';

/**
 * Whether a token issued at `issuedMs` may have been used on this router before it started at `startedMs` (both Unix
 * ms): it is refused as `expired` then, and its client gets a new one (A15). The grace is for an issuer whose clock is
 * ahead of ours. Undefined: nothing was restored, and without keys and map an old token passes no other check.
 */
export function mayPredateStart(issuedMs: number, startedMs: number | undefined): boolean {
  return startedMs !== undefined && issuedMs < startedMs + CLOCK_GRACE_MS;
}
