// What a modelled fleet is made of: sites, what can differ between their routers, and the clients that ask them. This
// folder mirrors no room: it searches fleets of routers, each made of the real functions of the core rooms.

import type { LocalPresence } from '../../src/routing/decide-route.ts';
import { siteId } from '../redirect/builders.ts';

/** Two in one country, one outside the EU. `letter` names the site in maps of a trace. */
export const SITES = [
  { id: siteId('site-a'), letter: 'a', country: 'FR', eu: true },
  { id: siteId('site-b'), letter: 'b', country: 'FR', eu: true },
  { id: siteId('site-c'), letter: 'c', country: 'US', eu: false },
  { id: siteId('site-d'), letter: 'd', country: 'DE', eu: true },
] as const;

/** The rotation of the product page, and a site whose operator mistyped the secret. Lines of a secrets file. */
export const SECRETS = {
  old: ['k1:the-first-secret-of-the-whole-fleet'],
  added: ['k1:the-first-secret-of-the-whole-fleet', 'k2:the-second-secret-of-the-whole-fleet'],
  moved: ['k2:the-second-secret-of-the-whole-fleet', 'k1:the-first-secret-of-the-whole-fleet'],
  removed: ['k2:the-second-secret-of-the-whole-fleet'],
  mistyped: ['k1:not-the-secret-of-the-whole-fleet!!'],
} as const;

export type Secrets = keyof typeof SECRETS;

/** Which keys a router knows: every client's, none (a restart, a push that it missed), or it asks for none. */
export type Auth = 'keys' | 'no keys' | 'open';

/** All that can differ between two routers, or change in one between two requests. */
export interface RouterState {
  /** Index into `SITES`. */
  readonly site: number;
  /** Bit n: its map places the model at site n. Undefined: no map since the router started. */
  readonly view: number | undefined;
  readonly local: LocalPresence;
  readonly secrets: Secrets;
  readonly auth: Auth;
  /** What its clock shows beside the right time. */
  readonly clockMs: number;
}

/** What a client shows to a site to which it was redirected; where it starts it shows its key. */
export type Shown = 'nothing' | 'Authorization' | 'x-api-key' | 'another key' | 'an unknown key';

export interface Client {
  /** Its place in the list of clients, below `CLIENTS_MAX`. */
  readonly id: number;
  readonly keyId: string;
  readonly shows: Shown;
  /** `X-Hivenet-Scope`; undefined without it. */
  readonly scope: 'all' | 'EU' | 'country:FR' | undefined;
  /** Whether it sends other bytes after a redirect. */
  readonly changesBody: boolean;
  /** Whether it sends every request that a token let in a second time, and follows both answers. */
  readonly repeats: boolean;
}

export const CLIENTS_MAX = 256;

/** Of the four sites these two rank the best last: with both of them every candidate is in some home set. */
export const KEY_IDS = ['key-14', 'key-27'] as const;

/** A third key, for clients that show another one than the token's. */
export const OTHER_KEY_ID = 'key-1';

/** Enough for both orders of every home set; a test holds it. */
export const SESSIONS = ['', 's-1', 's-2', 's-3', 's-4', 's-5'].map((text) => new TextEncoder().encode(text));

/** One line of a trace. */
export function describeState({ site, view, local, secrets, auth, clockMs }: RouterState): string {
  const places = view === undefined ? 'no map' : `map: m at ${lettersOf(view) || 'no site'}`;
  const clock = clockMs === 0 ? 'clock right' : `clock off by ${clockMs / 1_000} s`;
  return `${SITES[site]?.id}  ${places}; agent: ${local}; secrets: ${secrets}; ${auth}; ${clock}`;
}

export function describeClient({ keyId, shows, scope, changesBody, repeats }: Client): string {
  const body = changesBody ? ', sends another body' : '';
  const again = repeats ? ', repeats its requests' : '';
  return `client  ${keyId}, scope ${scope ?? 'not sent'}; once redirected it shows ${shows}${body}${again}`;
}

function lettersOf(view: number): string {
  return SITES.flatMap(({ letter }, index) => ((view >> index) & 1 ? letter : [])).join(' ');
}
