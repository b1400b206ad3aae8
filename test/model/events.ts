// Fleets that change while a request is on its way: between two redirects, any number of map pushes, key pushes, restarts,
// secret rotations, clock steps, agents that come and go, and URLs that lead anywhere. After such events the request may
// meet any router in any state, so it is sent to all of them: what holds here holds for every order of events, and for
// fleets of any size. Any router may also hold a request that it has let in: then the same site decides again, in whatever
// state it is by then, for a request that was admitted in the state before.

import type { LocalPresence } from '../../src/routing/decide-route.ts';
import type { Exit, ModelRouter } from './router.ts';
import type { RouterSet } from './router-set.ts';
import type { Admitted, Entry, Token } from './token-desk.ts';
import { REDIRECTS_FOLLOWED, type Violation, violationOf } from './walk.ts';
import { type Auth, type Client, describeClient, describeState, type RouterState, type Secrets } from './world.ts';

/** Every value that an event can give to a part of a router's state, and the clients that meet such routers. */
export interface Universe {
  readonly name: string;
  readonly sites: number;
  readonly locals: readonly LocalPresence[];
  readonly secrets: readonly Secrets[];
  readonly auths: readonly Auth[];
  readonly clocksMs: readonly number[];
  readonly clients: readonly Client[];
}

/** A request between two routers. */
interface OnTheWay {
  readonly client: Client;
  readonly start: number;
  readonly redirects: number;
  readonly token: Token | undefined;
  /** Undefined where the client starts. */
  readonly sentBy: { readonly router: ModelRouter; readonly entry: Entry; readonly before: OnTheWay } | undefined;
}

export interface EventFindings {
  /** Pairs of a request on its way and a router that it meets. */
  meetings: number;
  /** Pairs of a request that a site has let in, and a state in which the site decides again after a hold. */
  holds: number;
  /** At n: requests with n redirects behind them. */
  readonly byRedirects: number[];
  violation: Violation | undefined;
  trace: string | undefined;
}

/** What a request is after a hold: what it was, or what a test has it be. */
export type HoldRule = (admitted: Admitted) => Admitted;

/** Sends every client to every router, with every token that it can come to hold. Stops at the first violation. */
export function searchEvents(
  routers: RouterSet,
  universe: Universe,
  report: Report = () => undefined,
  rule: HoldRule = (admitted) => admitted,
): EventFindings {
  const findings: EventFindings = { meetings: 0, holds: 0, byRedirects: [], violation: undefined, trace: undefined };
  const all = statesOf(universe).map((state) => routers.in(state));
  let onTheWay = startsOf(universe);
  while (onTheWay.length > 0 && findings.violation === undefined) {
    const redirects = onTheWay[0]?.redirects ?? 0;
    findings.byRedirects[redirects] = onTheWay.length;
    report(redirects, onTheWay.length);
    const next = new Map<string, OnTheWay>();
    for (const request of onTheWay) meetAll(request, all, { findings, next, rule });
    onTheWay = redirects < REDIRECTS_FOLLOWED ? [...next.values()] : [];
  }
  return findings;
}

/** Hears of the requests that are on their way after so many redirects. */
type Report = (redirects: number, requests: number) => void;

function startsOf({ clients, sites }: Universe): readonly OnTheWay[] {
  const numbers = Array.from({ length: sites }, (_, site) => site);
  return clients.flatMap((client) =>
    numbers.map((start) => ({ client, start, redirects: 0, token: undefined, sentBy: undefined })),
  );
}

function statesOf({ sites, locals, secrets, auths, clocksMs }: Universe): readonly RouterState[] {
  const views = [undefined, ...Array.from({ length: 1 << sites }, (_, view) => view)];
  const numbers = Array.from({ length: sites }, (_, site) => site);
  return numbers.flatMap((site) =>
    views.flatMap((view) =>
      locals.flatMap((local) =>
        secrets.flatMap((secret) =>
          auths.flatMap((auth) => clocksMs.map((clockMs) => ({ site, view, local, secrets: secret, auth, clockMs }))),
        ),
      ),
    ),
  );
}

/** What a search has found, whom it sends on next, and its rule. */
interface Searching {
  readonly findings: EventFindings;
  readonly next: Map<string, OnTheWay>;
  readonly rule: HoldRule;
}

function meetAll(request: OnTheWay, routers: readonly ModelRouter[], searching: Searching): void {
  const { findings, next, rule } = searching;
  const { client, token, start } = request;
  const letIn = new Map<string, LetIn>();
  for (const router of routers) {
    if (token === undefined && router.state.site !== start) continue;
    findings.meetings += 1;
    for (const isRepeat of client.repeats ? [false, true] : [false]) {
      const entry = router.enter({ client, token, isRepeat });
      for (const exit of router.exits(entry)) go({ request, router, entry, exit }, findings, next);
      const { site } = router.state;
      const { admitted } = entry;
      if (admitted === undefined) continue;
      letIn.set(`${site} ${admitted.id}`, { site, entry: { ...entry, admitted: rule(admitted) } });
    }
  }
  for (const held of letIn.values()) decideAgain(request, held, routers, searching);
}

/** A request that a site has let in, in some state of which it keeps no more. */
interface LetIn {
  readonly site: number;
  readonly entry: Entry;
}

function decideAgain(
  request: OnTheWay,
  { site, entry }: LetIn,
  routers: readonly ModelRouter[],
  { findings, next }: Searching,
): void {
  for (const router of routers) {
    if (router.state.site !== site) continue;
    findings.holds += 1;
    for (const exit of router.exits(entry)) go({ request, router, entry, exit }, findings, next);
  }
}

interface Departure {
  readonly request: OnTheWay;
  readonly router: ModelRouter;
  readonly entry: Entry;
  readonly exit: Exit;
}

function go({ request, router, entry, exit }: Departure, findings: EventFindings, next: Map<string, OnTheWay>): void {
  if (exit.kind !== 'redirect') return;
  const { client, start } = request;
  const { token } = exit;
  const key = `${client.id} ${start} ${token.id}`;
  if (next.has(key)) return;
  const sent = { client, start, redirects: request.redirects + 1, token, sentBy: { router, entry, before: request } };
  next.set(key, sent);
  const violation = violationOf(token, sent.redirects, { client, start });
  if (violation === undefined || findings.violation !== undefined) return;
  findings.violation = violation;
  findings.trace = [`${violation}:`, describeClient(client), ...pathTo(sent)].join('\n  ');
}

/** The routers that the request met, each in the state in which it met it. */
function pathTo({ sentBy, token }: OnTheWay): readonly string[] {
  if (sentBy === undefined) return [];
  const { router, entry, before } = sentBy;
  const refused = entry.refusal === undefined ? '' : `token refused as ${entry.refusal}; `;
  const claims = token?.claims;
  return [...pathTo(before), describeState(router.state), `  ${refused}307 to ${claims?.target}, hop ${claims?.hop}`];
}
