// The searches of `make check-model`, and the small ones of `make test`.

import { ALL_CLIENTS, plainClients, TWO_CLIENTS } from './clients.ts';
import type { Universe } from './events.ts';
import { combinations, type Fixed, type Space } from './spaces.ts';
import { KEY_IDS } from './world.ts';

const SOUND: Fixed = { secrets: 'old', auth: 'keys' };
const MISTYPED: Fixed = { secrets: 'mistyped', auth: 'keys' };
const KEYLESS: Fixed = { secrets: 'old', auth: 'no keys' };
const NEITHER: Fixed = { secrets: 'mistyped', auth: 'no keys' };
const ALL_FIXED = [SOUND, MISTYPED, KEYLESS, NEITHER];

const STRAIGHT = [[0, 1, 2, 3]];
/** Every way in which three URLs can lead to three routers. */
const ANYWHERE = [...combinations([0, 1, 2].map(() => [0, 1, 2]))];

/** The first world of 6.2: 1,572,864 cases. */
export const THREE_SITES: Space = {
  name: 'three sites, any maps, agents, secrets and keys',
  patterns: [...combinations([ALL_FIXED, ALL_FIXED, ALL_FIXED])],
  routes: STRAIGHT,
  clients: TWO_CLIENTS,
};

/** The second world of 6.2: 3,981,312 cases. */
export const MISROUTED: Space = {
  name: 'three sites, any maps and agents, every URL leading anywhere',
  patterns: [
    [SOUND, SOUND, SOUND],
    [MISTYPED, SOUND, SOUND],
    [SOUND, MISTYPED, SOUND],
    [KEYLESS, SOUND, SOUND],
    [KEYLESS, MISTYPED, SOUND],
    [MISTYPED, KEYLESS, SOUND],
  ],
  routes: ANYWHERE,
  clients: TWO_CLIENTS,
};

/** The third world of 6.2, once for each of the keys that together reach every candidate: 8,388,608 cases. */
const FOUR_SITES: Space = {
  name: 'four sites, any maps and agents',
  patterns: [[SOUND, SOUND, SOUND, SOUND]],
  routes: STRAIGHT,
  clients: plainClients(({ shows, repeats }) => shows === 'nothing' && !repeats),
};

/** Every scope, with sites in two countries, one of them outside the EU. */
export const SCOPES: Space = {
  name: 'three sites, any maps and agents, every scope',
  patterns: [[SOUND, SOUND, SOUND]],
  routes: STRAIGHT,
  clients: ALL_CLIENTS.filter(
    ({ keyId, shows, changesBody, repeats }) => keyId === KEY_IDS[0] && shows === 'nothing' && !changesBody && !repeats,
  ),
};

/** Clients that 6.2 does not have: they repeat requests, and show their key or another in every way. */
const OTHER_CLIENTS: Space = {
  name: 'three sites, any maps and agents, one stray secret or key, every client',
  patterns: [
    [SOUND, SOUND, SOUND],
    [MISTYPED, SOUND, SOUND],
    [KEYLESS, SOUND, SOUND],
  ],
  routes: STRAIGHT,
  clients: ALL_CLIENTS.filter(({ keyId }) => keyId === KEY_IDS[0]),
};

/** Where some client can loop once the fallback is taken literally. In the third world of 6.2 it shows no key: 401. */
export const LOOPING: readonly Space[] = [THREE_SITES, MISROUTED, OTHER_CLIENTS];

export const SPACES: readonly Space[] = [THREE_SITES, MISROUTED, FOUR_SITES, OTHER_CLIENTS];

/** Clients without repeats take no chain that one with repeats does not take too. */
const REPEATING = ALL_CLIENTS.filter(({ repeats }) => repeats);

const ANY_EVENT = {
  locals: ['healthy', 'unhealthy', 'none'],
  secrets: ['old', 'added', 'moved', 'removed', 'mistyped'],
  auths: ['keys', 'no keys', 'open'],
  clocksMs: [0, 600_000],
} as const;

export const UNIVERSES: readonly Universe[] = [
  {
    name: 'three sites, any events, every scope',
    sites: 3,
    ...ANY_EVENT,
    clients: REPEATING.filter(({ keyId }) => keyId === KEY_IDS[0]),
  },
  {
    name: 'four sites, any events',
    sites: 4,
    ...ANY_EVENT,
    clients: REPEATING.filter(({ scope }) => scope === 'all'),
  },
];

export const SMALL_UNIVERSE: Universe = {
  name: 'three sites, some events',
  sites: 3,
  locals: ['healthy', 'none'],
  secrets: ['old', 'moved', 'mistyped'],
  auths: ['keys', 'no keys'],
  clocksMs: [0, 600_000],
  clients: REPEATING.filter(
    ({ keyId, shows, scope, changesBody }) =>
      keyId === KEY_IDS[0] && scope === 'all' && !changesBody && (shows === 'nothing' || shows === 'Authorization'),
  ),
};
