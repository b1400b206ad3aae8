// Who is asking. A redirect token is checked before and after the body is read; when it is refused, the request may
// still enter on its own key, as a new one that can never loop (product page, "The redirect token").

import {
  authenticate,
  authenticateFallback,
  type Caller,
  callerOfKey,
  mayUseModel,
  tokenKeyMatches,
} from '../auth/authenticate.ts';
import type { Credentials } from '../auth/credentials.ts';
import { RouterError } from '../errors.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import type { RedirectClaims } from '../redirect/claims.ts';
import { fallbackPassage, type Passage, passageOf } from '../redirect/next-hop.ts';
import { type Refusal, verifyBeforeBody, verifyBody } from '../redirect/verify.ts';
import { NEW_PASSAGE } from '../routing/decide-route.ts';
import type { Endpoint } from '../routing/endpoint.ts';
import { ownScope, parseScope, type Scope } from '../site/scope.ts';
import type { SiblingMap } from '../site/sibling-map.ts';
import type { RequestRecord } from '../telemetry/request-record.ts';
import { readMaxWait } from './max-wait.ts';
import type { ReceivedBody } from './received-body.ts';
import { requestIds } from './record-request.ts';
import type { RedirectSite, RouterPorts } from './router-ports.ts';

/** One text for every reason, so that nobody learns which check failed (E2, R-119, R-126). */
const TOKEN_REFUSED = 'unauthorized: the redirect was not accepted. Repeat the request at the original URL.';

/** One request as it arrived, with the only sibling map it will ever see. */
export interface Arrival {
  readonly endpoint: Endpoint;
  readonly headers: Headers;
  readonly credentials: Credentials;
  readonly record: RequestRecord;
  readonly map: SiblingMap;
}

/** A request that may go on. `claims` is present when it entered on a token, which is then used up. */
export interface Admitted {
  readonly caller: Caller;
  readonly passage: Passage;
  readonly scope: Scope | undefined;
  /** How long its client would wait here for the model to wake; undefined: as long as it takes. */
  readonly maxWaitMs: number | undefined;
  readonly claims: RedirectClaims | undefined;
}

/** What is known before the body: a token that passed checks 1 to 6, or a request that is new here. */
export type Entrance =
  | {
      readonly kind: 'token';
      readonly redirect: RedirectSite;
      readonly claims: RedirectClaims;
      readonly maxWaitMs: number | undefined;
    }
  | { readonly kind: 'new'; readonly admitted: Admitted };

/**
 * Checks 1 to 6 or the API key, then the scope header of a new request, then how long it would wait. Throws 401 or 400
 * (D-02, R-113).
 */
export function enter(ports: RouterPorts, arrival: Arrival): Entrance {
  const { redirect } = ports;
  if (redirect === undefined || arrival.credentials.tokens.length === 0) {
    const caller = authenticate(ports.auth, arrival.credentials, ports.nowMs());
    if (caller === undefined) throw new RouterError('unauthorized', 'unauthorized');
    return { kind: 'new', admitted: newRequest(ports, arrival, { caller, passage: NEW_PASSAGE }) };
  }
  const verdict = verifyBeforeBody(arrival.credentials.tokens, redirect.keyring, {
    siteId: redirect.siteId,
    endpoint: arrival.endpoint.path,
    ownSite: arrival.map.sites.get(redirect.siteId),
    arrivedMs: arrival.record.arrivedMs,
    startedMs: ports.restoredAtMs,
    keyMatches: tokenKeyMatches(ports.auth, arrival.credentials, ports.nowMs()),
  });
  if (!verdict.ok) return { kind: 'new', admitted: enterOnOwnKey(ports, arrival, verdict.fault) };
  adoptClaims(arrival.record, verdict.value);
  return { kind: 'token', redirect, claims: verdict.value, maxWaitMs: readMaxWait(arrival.headers) };
}

/** Check 7: how a request goes on whose body its token was not issued for; undefined for any other. Throws 401, 400. */
export function refuseBody(
  ports: RouterPorts,
  arrival: Arrival,
  entrance: Entrance,
  body: ReceivedBody,
): Admitted | undefined {
  if (entrance.kind === 'new') return undefined;
  const verdict = verifyBody(entrance.claims, body.hash());
  return verdict.ok ? undefined : enterOnOwnKey(ports, arrival, verdict.fault);
}

/** Check 8, the allowlist and the mark for a token; nothing more for a new request. Throws 401, 400 or 403. */
export function finishEntrance(ports: RouterPorts, arrival: Arrival, entrance: Entrance): Admitted {
  if (entrance.kind === 'new') return entrance.admitted;
  const { redirect, claims } = entrance;
  const caller = useToken(ports, redirect, claims);
  if (!caller.ok) return enterOnOwnKey(ports, arrival, caller.fault);
  return {
    caller: caller.value,
    passage: passageOf(claims),
    scope: claims.scope,
    maxWaitMs: entrance.maxWaitMs,
    claims,
  };
}

/**
 * Check 8, the allowlist here (A5) and the mark. No await in between, or two requests could both pass the look-up before
 * either marks.
 */
function useToken(ports: RouterPorts, redirect: RedirectSite, claims: RedirectClaims): Result<Caller, Refusal> {
  const nowMs = ports.nowMs();
  const spent = redirect.ledger.check(claims, nowMs);
  if (spent !== undefined) {
    if (redirect.ledger.isFull)
      ports.log.rarely('ledger_full', 'Refusing every redirect token: the ledger of used token IDs is full');
    return fault({ reason: spent, authentic: claims });
  }
  const caller = callerOfKey(ports.auth, claims.keyId, nowMs);
  if (caller === undefined) return fault({ reason: 'key', authentic: claims });
  if (!mayUseModel(caller, claims.model)) throw forbidden(claims.model);
  redirect.ledger.markUsed(claims, nowMs);
  return ok(caller);
}

/** The key may not use the model: the request ends here and is never redirected. */
export function forbidden(model: string): RouterError {
  return new RouterError('model_forbidden', `The API key may not use the model "${model}".`);
}

/** After a refusal, counted once whatever follows: the request's own key, or 401. */
function enterOnOwnKey(ports: RouterPorts, arrival: Arrival, refusal: Refusal): Admitted {
  ports.metrics.redirect?.refused(refusal.reason);
  arrival.record.refusalReason = refusal.reason;
  forgetClaims(ports, arrival);
  const caller = authenticateFallback(ports.auth, arrival.credentials, ports.nowMs());
  if (caller === undefined) throw new RouterError('token_refused', TOKEN_REFUSED);
  return newRequest(ports, arrival, { caller, passage: fallbackPassage(refusal) });
}

/** From check 6 on the request is that of the token's chain, also when it ends early. */
function adoptClaims(record: RequestRecord, claims: RedirectClaims): void {
  record.keyId = claims.keyId;
  record.requestId = claims.requestId;
  record.clientRequestId = claims.clientRequestId;
  record.originSite = claims.origin;
  record.hop = claims.hop;
}

/** A refused token leaves nothing behind: no claim comes back, and a fallback has an ID of its own. */
function forgetClaims(ports: RouterPorts, arrival: Arrival): void {
  const own = { keyId: undefined, originSite: undefined, hop: undefined, ...requestIds(ports, arrival.headers) };
  Object.assign(arrival.record, own);
}

function newRequest(ports: RouterPorts, arrival: Arrival, entry: Pick<Admitted, 'caller' | 'passage'>): Admitted {
  arrival.record.keyId = entry.caller.keyId;
  const scope = readScope(ports, arrival);
  const maxWaitMs = ports.redirect === undefined ? undefined : readMaxWait(arrival.headers);
  return { ...entry, scope, maxWaitMs, claims: undefined };
}

/** The scope asked for, else this site's country from the map; never widened. */
function readScope(ports: RouterPorts, arrival: Arrival): Scope | undefined {
  if (ports.redirect === undefined) return undefined;
  const header = arrival.headers.get('x-hivenet-scope');
  if (header === null) return ownScope(arrival.map.sites.get(ports.redirect.siteId));
  const scope = parseScope(header);
  if (scope === undefined) {
    throw new RouterError(
      'request_invalid',
      'X-Hivenet-Scope must be "all", "EU" or "country:XX" with an uppercase ISO 3166-1 code, such as "country:FR".',
    );
  }
  return scope;
}
