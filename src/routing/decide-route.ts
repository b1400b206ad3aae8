// Where a request is handled: here, at a sibling site, or nowhere. Pure: everything it needs is in the facts, so that
// the same decision serves requests, tests and the model check (product page, "How a request is handled").

import type { Passage } from '../redirect/next-hop.ts';
import { chooseSite } from '../site/choose-site.ts';
import type { Kind } from '../site/kind.ts';
import type { Scope } from '../site/scope.ts';
import type { SiblingMap } from '../site/sibling-map.ts';
import type { Site, SiteId } from '../site/site.ts';

/** What this site's agents say of the model: one serves it, all that list it are down, or none lists it. */
export type LocalPresence = 'healthy' | 'unhealthy' | 'none';

/** A request that arrived here first. */
export const NEW_PASSAGE: Passage = { hops: 0, origin: undefined };

export interface RouteFacts {
  readonly local: LocalPresence;
  /** A provider outside may answer for this model and endpoint: it comes after the siblings. */
  readonly hasLastResort: boolean;
  readonly model: string;
  readonly kind: Kind;
  /** Empty in auth mode `none` (D-30). */
  readonly keyId: string;
  /** Raw bytes of `X-Session-ID`; empty when absent (D-12). */
  readonly session: Uint8Array;
  readonly passage: Passage;
  /** Undefined: the request asked for none, and this site has no country in the map. */
  readonly scope: Scope | undefined;
  /** This site and the one map this request sees; undefined when cross-site redirect is off. */
  readonly here: { readonly siteId: SiteId; readonly map: SiblingMap } | undefined;
}

export interface RedirectDecision {
  readonly kind: 'redirect';
  readonly target: Site;
  /** What the token says: the scope of a second redirect is that of the first. */
  readonly scope: Scope;
}

/** What is left when the request stays: an answer from here, 503 for agents that are all down, or 404. */
export type StayDecision = { readonly kind: 'serve' } | { readonly kind: 'noAgents' } | { readonly kind: 'notFound' };

export type RouteDecision = StayDecision | RedirectDecision;

/**
 * The four steps of the product page. A redirect never replaces a working local agent, never follows two
 * others, and never leaves the scope.
 */
export function decideRoute(facts: RouteFacts, nowMs: number): RouteDecision {
  return facts.local === 'healthy' ? { kind: 'serve' } : (decideRedirect(facts, nowMs) ?? stay(facts));
}

/** The decision when no redirect is possible or its token cannot be made. */
export function stay({ local, hasLastResort }: Pick<RouteFacts, 'local' | 'hasLastResort'>): StayDecision {
  if (hasLastResort) return { kind: 'serve' };
  switch (local) {
    case 'healthy':
      return { kind: 'serve' };
    case 'unhealthy':
      return { kind: 'noAgents' };
    case 'none':
      return { kind: 'notFound' };
  }
}

function decideRedirect(facts: RouteFacts, nowMs: number): RedirectDecision | undefined {
  const { here, passage, scope } = facts;
  if (here === undefined || scope === undefined || passage.hops === 2) return undefined;
  const choice = chooseSite({
    map: here.map,
    here: here.siteId,
    origin: passage.origin,
    kind: facts.kind,
    model: facts.model,
    scope,
    keyId: facts.keyId,
    session: facts.session,
    canHold: false,
    nowMs,
  });
  return choice.kind === 'here' ? undefined : { kind: 'redirect', target: choice.site, scope };
}
