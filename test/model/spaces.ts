// Whole spaces of fleets, to be walked without leaving one out (redirect-requirements 6.2): every sibling map, every set
// of agents, and the secrets, keys and misrouted URLs that a space names.

import type { ModelRouter } from './router.ts';
import type { RouterSet } from './router-set.ts';
import { type Fleet, type Journey, REDIRECTS_FOLLOWED, type Verdict, Walk } from './walk.ts';
import type { Auth, Client, RouterState, Secrets } from './world.ts';

/** What a router has for good in a fleet, beside its map and agents. */
export interface Fixed {
  readonly secrets: Secrets;
  readonly auth: Auth;
}

export interface Space {
  readonly name: string;
  /** For every fleet of a pattern one `Fixed` a site. */
  readonly patterns: readonly (readonly Fixed[])[];
  /** Each a `Fleet.leadsTo`. */
  readonly routes: readonly (readonly number[])[];
  readonly clients: readonly Client[];
}

export interface Findings {
  cases: number;
  /** At n: cases whose longest chain has n redirects. */
  readonly byRedirects: number[];
  /** Cases in which a redirect broke a promise. */
  violations: number;
  endless: number;
  /** Cases that the page promises an agent within one redirect, or within two. */
  promised: number;
  /** The first violation, made as small as it gets. */
  trace: string | undefined;
}

/** Walks every case of `space`; `report` hears of the cases so far, now and then. */
export function search(routers: RouterSet, space: Space, report: (cases: number) => void = () => undefined): Findings {
  const findings: Findings = { cases: 0, byRedirects: [], violations: 0, endless: 0, promised: 0, trace: undefined };
  for (const pattern of space.patterns) {
    for (const members of combinations(pattern.map((fixed, site) => variants(routers, site, pattern.length, fixed)))) {
      for (const leadsTo of space.routes) searchFleet(routers, { routers: members, leadsTo }, space, findings);
    }
    report(findings.cases);
  }
  return findings;
}

function searchFleet(routers: RouterSet, fleet: Fleet, space: Space, findings: Findings): void {
  for (let start = 0; start < fleet.routers.length; start += 1) {
    const allowed = promisedRedirects(fleet, start);
    for (const client of space.clients) {
      const journey = { client, start };
      const promise = isOrdinary(client) ? allowed : undefined;
      const verdict = new Walk(fleet, journey).run();
      findings.cases += 1;
      findings.byRedirects[verdict.redirects] = (findings.byRedirects[verdict.redirects] ?? 0) + 1;
      if (promise !== undefined) findings.promised += 1;
      if (verdict.redirects >= REDIRECTS_FOLLOWED) findings.endless += 1;
      if (!isBroken(verdict, promise)) continue;
      findings.violations += 1;
      findings.trace ??= smallestTrace(routers, fleet, journey, promise);
    }
  }
}

function isBroken(verdict: Verdict, promise: number | undefined): boolean {
  const isUnserved = promise !== undefined && (!verdict.isAlwaysServed || verdict.redirects > promise);
  return verdict.violation !== undefined || isUnserved;
}

function isOrdinary({ shows, changesBody, repeats, scope }: Client): boolean {
  return scope === 'all' && !changesBody && !repeats && ['nothing', 'Authorization', 'x-api-key'].includes(shows);
}

/**
 * Within how many redirects the page promises an agent: one when all maps are alike and name only sites that have one,
 * two when one map is stale (6.2, S75). Undefined: there is no promise, for a secret, key or URL is wrong, or nobody
 * knows of an agent where the request starts.
 */
function promisedRedirects({ routers, leadsTo }: Fleet, start: number): number | undefined {
  if (routers.some(({ state }) => state.secrets !== 'old' || state.auth !== 'keys')) return undefined;
  if (leadsTo.some((at, site) => at !== site)) return undefined;
  const views = routers.map(({ state }) => state.view ?? 0);
  const agents = routers.reduce((mask, { state }) => (state.local === 'healthy' ? mask | (1 << state.site) : mask), 0);
  const stale = views.flatMap((view, site) => (view === agents ? [] : site));
  if (agents === 0 || stale.length > 1) return undefined;
  if (stale.length === 0) return 1;
  const isLost = stale[0] === start && ((agents >> start) & 1) === 0 && ((views[start] ?? 0) & ~(1 << start)) === 0;
  return isLost ? undefined : 2;
}

/** Every map and agent bit of one site among `sites`. */
function variants(routers: RouterSet, site: number, sites: number, fixed: Fixed): readonly ModelRouter[] {
  return Array.from({ length: 2 << sites }, (_, number) =>
    routers.in({ site, view: number >> 1, local: number & 1 ? 'healthy' : 'none', clockMs: 0, ...fixed }),
  );
}

/** One of each list, in every way. */
export function* combinations<Value>(lists: readonly (readonly Value[])[]): Generator<readonly Value[]> {
  const [first, ...rest] = lists;
  if (first === undefined) return yield [];
  for (const others of combinations(rest)) for (const value of first) yield [value, ...others];
}

/** Takes away from the fleet whatever the violation does not need. */
function smallestTrace(routers: RouterSet, found: Fleet, journey: Journey, promise: number | undefined): string {
  const before = new Walk(found, journey).run();
  const isAlike = (fleet: Fleet) => {
    const verdict = new Walk(fleet, journey).run();
    return verdict.redirects === before.redirects && isBroken(verdict, promise);
  };
  let smallest = found;
  for (let next: Fleet | undefined = found; next !== undefined; next = simpler(routers, smallest).find(isAlike)) {
    smallest = next;
  }
  const walk = new Walk(smallest, journey);
  walk.run();
  return walk.trace();
}

function simpler(routers: RouterSet, { routers: members, leadsTo }: Fleet): readonly Fleet[] {
  const straight = leadsTo.flatMap((at, site) =>
    at === site ? [] : { routers: members, leadsTo: leadsTo.with(site, site) },
  );
  const plainer = members.flatMap(({ state }) =>
    simplerStates(state).map((plain) => ({ routers: members.with(state.site, routers.in(plain)), leadsTo })),
  );
  return [...straight, ...plainer];
}

function simplerStates(state: RouterState): readonly RouterState[] {
  const view = state.view ?? 0;
  const plainer: RouterState[] = [];
  if (state.local !== 'none') plainer.push({ ...state, local: 'none' });
  if (state.secrets !== 'old') plainer.push({ ...state, secrets: 'old' });
  if (state.auth !== 'keys') plainer.push({ ...state, auth: 'keys' });
  for (let bit = 1; bit <= view; bit <<= 1) if ((view & bit) !== 0) plainer.push({ ...state, view: view & ~bit });
  return plainer;
}
