// The 307 to a sibling site: a signed token in an absolute URL made of the map's origin, one of five constant paths
// and the client's own query (product page, "The redirect token"; clients.md section 7, point 7).

import type { Caller } from '../auth/authenticate.ts';
import { queryParts, splitTarget } from '../lib/query.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import type { RedirectClaims } from '../redirect/claims.ts';
import { nextClaims } from '../redirect/next-hop.ts';
import { mintToken } from '../redirect/token.ts';
import type { RedirectDecision } from '../routing/decide-route.ts';
import type { Site } from '../site/site.ts';
import { ANY_ORIGIN } from './cors.ts';
import type { Admitted, Arrival } from './entrance.ts';
import type { ReceivedBody } from './received-body.ts';
import { errorBody, JSON_HEADERS } from './respond.ts';
import type { RedirectSite, RouterPorts } from './router-ports.ts';

/** To be copied as a whole, which costs less than to check each name and value anew. */
const REDIRECT_HEADERS = new Headers({
  ...JSON_HEADERS,
  ...ANY_ORIGIN,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
});

/** Longest Location; clients and proxies cut headers beyond. */
const LOCATION_MAX = 4096;
/** Characters of an overlong key ID that the warning repeats. */
const KEY_ID_SHOWN_MAX = 64;
/** What a query must be made of: all else in a Location is, by the rules of map and token. */
const QUERY_FORM = /^[\x21-\x7e]*$/;

/** One redirect that was decided: for whom, of which model, with which bytes. */
export interface RedirectOrder {
  readonly decision: RedirectDecision;
  readonly admitted: Admitted;
  readonly model: string;
  readonly received: ReceivedBody;
}

/**
 * The 307, counted and recorded; undefined when no token or Location within its bounds can be made, in
 * which case the request is handled here.
 */
export function redirectResponse(
  ports: RouterPorts,
  redirect: RedirectSite,
  arrival: Arrival,
  order: RedirectOrder,
): Response | undefined {
  const claims = claimsOf(ports, redirect, arrival, order);
  const token = claims === undefined ? undefined : mintToken(claims, redirect.keyring);
  const location = token === undefined ? undefined : locationOf(order.decision.target, arrival, token);
  if (claims === undefined || location === undefined) {
    warnUnredirectable(ports, arrival, order.admitted.caller);
    return undefined;
  }
  const { target, hop, model } = claims;
  ports.metrics.redirect?.redirected({ model, site: target, hop });
  arrival.record.redirectSite = target;
  arrival.record.originSite = claims.origin;
  arrival.record.hop = hop;
  const body = JSON.stringify(redirectBody(order.decision.target, claims));
  const response = new Response(body, { status: 307, headers: REDIRECT_HEADERS });
  response.headers.set('location', location);
  return response;
}

/** A second redirect carries the first router's IDs and hash on: the record and the claims hold them. */
function claimsOf(
  ports: RouterPorts,
  redirect: RedirectSite,
  arrival: Arrival,
  order: RedirectOrder,
): RedirectClaims | undefined {
  const { record, endpoint } = arrival;
  const { decision, admitted, model } = order;
  const carried = {
    endpoint: endpoint.path,
    scope: decision.scope,
    bodyHash: admitted.claims?.bodyHash ?? order.received.hash(),
    requestId: record.requestId,
    clientRequestId: record.clientRequestId,
    keyId: admitted.caller.keyId,
    model,
  };
  return nextClaims(carried, admitted.passage, {
    here: redirect.siteId,
    target: decision.target.id,
    nowMs: ports.nowMs(),
    lifetimeMs: redirect.tokenTtlMs,
    random: ports.random,
  });
}

/** Never from `Host`, the scheme of this request or its target: only from the map and from constants. */
function locationOf(site: Site, arrival: Arrival, token: string): string | undefined {
  const kept = keptQuery(arrival.record.target);
  const location = `${site.url}${arrival.endpoint.path}?${kept}rt=${token}`;
  return location.length <= LOCATION_MAX && QUERY_FORM.test(kept) ? location : undefined;
}

/** The parts of the query but its tokens, each with a `&` behind it. */
function keptQuery(target: string): string {
  const { query } = splitTarget(target);
  if (query === '') return '';
  return queryParts(query)
    .filter(({ name }) => name !== 'rt')
    .map(({ raw }) => `${raw}&`)
    .join('');
}

function redirectBody(site: Site, claims: RedirectClaims): object {
  const message =
    `The model "${claims.model}" is served at site "${site.id}": repeat this request, with the same body, at the URL ` +
    'in the Location header. This client did not follow the redirect; enable it, for example curl -L or httpx ' +
    'follow_redirects=True.';
  return errorBody({ type: 'api_error', code: 'model_redirected', source: 'router' }, message, {
    site: site.id,
    country: site.country,
    expires_at: formatTimestamp(claims.issuedMs + claims.lifetimeMs),
  });
}

function warnUnredirectable(ports: RouterPorts, arrival: Arrival, caller: Caller): void {
  const message = 'Cannot redirect: the key ID or the query is too long for a redirect URL; handled here';
  ports.log.rarely('cannot_redirect', message, {
    request_id: arrival.record.requestId,
    key_id: caller.keyId.slice(0, KEY_ID_SHOWN_MAX),
  });
}
