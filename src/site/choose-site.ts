// Where a request goes that this site does not serve: the five steps of "Choosing the site", from one map, so that every
// router computes the same choice; and, for those who ask, why each listed site was not taken.

import type { Kind } from './kind.ts';
import { homeSet, sessionOrder } from './rendezvous.ts';
import { type Scope, scopeIncludes } from './scope.ts';
import { areHintsFresh, type PlacedSite, type SiblingMap } from './sibling-map.ts';
import type { Site, SiteId } from './site.ts';

export interface SiteQuestion {
  readonly map: SiblingMap;
  /** The site of this router. */
  readonly here: SiteId;
  /** Where the request first arrived, if it was redirected here. */
  readonly origin: SiteId | undefined;
  readonly kind: Kind;
  /** The concrete model, after alias resolution. */
  readonly model: string;
  readonly scope: Scope;
  /** Empty in auth mode `none` (D-30). */
  readonly keyId: string;
  /** The raw bytes of `X-Session-ID`, empty without it (D-12). */
  readonly session: Uint8Array;
  /** Whether this router could hold the request while the model wakes (D-05). */
  readonly canHold: boolean;
  readonly nowMs: number;
}

export type SiteChoice =
  | { readonly kind: 'redirect'; readonly site: Site }
  | { readonly kind: 'here'; readonly reason: 'no_candidate' | 'wake_here' };

/** Why a site is no candidate: it is this one, or the one where the request first arrived, or outside the scope. */
type Exclusion = 'self' | 'origin' | 'scope';

/**
 * Why a site was not chosen. `cold`: without scale from zero, or beside a warm choice, or left asleep because the model
 * wakes here.
 */
type PassedOverReason = Exclusion | 'not_home' | 'full' | 'cold' | 'later_in_session_order';

export interface PassedOver {
  readonly site: SiteId;
  readonly reason: PassedOverReason;
}

/** Chooses the site (product page, "Choosing the site"; redirect-requirements 5.5). */
export function chooseSite(question: SiteQuestion): SiteChoice {
  return chooseFrom(findHome(question), question);
}

/** Why each site with a placement of the model and kind was not chosen, in map order. For diagnosis: it chooses anew. */
export function explainChoice(question: SiteQuestion): readonly PassedOver[] {
  const home = findHome(question);
  const choice = chooseFrom(home, question);
  const chosen = home.find(({ site }) => choice.kind === 'redirect' && choice.site === site);
  const reasonFor = (placed: PlacedSite): PassedOverReason => {
    const { site } = placed;
    const exclusion = excludedBy(question, site);
    if (exclusion !== undefined) return exclusion;
    if (!home.some((target) => target.site === site)) return 'not_home';
    if (!areHintsFresh(question.map, question.nowMs)) return 'later_in_session_order';
    const isColder = isCold(placed) && (chosen === undefined || !isCold(chosen));
    return hintAgainst(placed) ?? (isColder ? 'cold' : 'later_in_session_order');
  };
  return question.map
    .placedSites(question.model, question.kind)
    .filter(({ site }) => site !== chosen?.site)
    .map((placed) => ({ site: placed.site.id, reason: reasonFor(placed) }));
}

/** Steps 1 to 3: the candidates, of them the home set, in session order. */
function findHome(question: SiteQuestion): readonly PlacedSite[] {
  const { map, model, kind, keyId, session } = question;
  const placed = map.placedSites(model, kind);
  const candidates: SiteId[] = [];
  for (const { site } of placed) if (excludedBy(question, site) === undefined) candidates.push(site.id);
  const home: PlacedSite[] = [];
  for (const id of sessionOrder(keyId, session, homeSet(keyId, model, candidates))) {
    const found = placed.find(({ site }) => site.id === id);
    if (found !== undefined) home.push(found);
  }
  return home;
}

/** Steps 4 and 5: the hints, over the home set in session order. */
function chooseFrom(home: readonly PlacedSite[], question: SiteQuestion): SiteChoice {
  const [first] = home;
  if (first === undefined) return { kind: 'here', reason: 'no_candidate' };
  if (!areHintsFresh(question.map, question.nowMs)) return { kind: 'redirect', site: first.site };
  if (home.every(isCold) && canWakeHere(question)) return { kind: 'here', reason: 'wake_here' };
  const chosen = home.find(isWarmAndUsable) ?? home.find(isUsable) ?? first;
  return { kind: 'redirect', site: chosen.site };
}

function excludedBy({ here, origin, scope }: SiteQuestion, site: Site): Exclusion | undefined {
  if (site.id === here) return 'self';
  if (site.id === origin) return 'origin';
  return scopeIncludes(scope, site) ? undefined : 'scope';
}

/** A cold sibling is no faster than this site, so that the request may as well stay where it landed. */
function canWakeHere({ map, model, kind, here, canHold }: SiteQuestion): boolean {
  return canHold && map.placement(model, kind, here)?.scaleFromZero === true;
}

function isWarmAndUsable(placed: PlacedSite): boolean {
  return !isCold(placed) && isUsable(placed);
}

function isUsable(placed: PlacedSite): boolean {
  return hintAgainst(placed) === undefined;
}

/** Why fresh hints skip a site, unless they skip all. `busy` is no reason (D-14). */
function hintAgainst(placed: PlacedSite): 'full' | 'cold' | undefined {
  if (placed.placement.hint?.load === 'full') return 'full';
  return isCold(placed) && !placed.placement.scaleFromZero ? 'cold' : undefined;
}

function isCold({ placement }: PlacedSite): boolean {
  return placement.hint?.warm === false;
}
