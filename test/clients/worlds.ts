// The worlds that a client may land in, as data: which models make them (see `Country`), and how a client of which kind
// must come out of them. The letters are the sites: A, where every client begins, B, C, and S with another secret.

import { TAP_FAILURE } from '../support/tap.ts';
import type { CallName } from './calls.ts';
import type { Client } from './clients.ts';

/** How one call must end. */
export interface Ending {
  /** What the sites' access logs say of it, in the order A, B, C, S: site and status, e.g. `A307 B200`. */
  readonly path: string;
  /** What the client ends with; undefined when nobody answered it. */
  readonly status: number | undefined;
  /** What its user reads; a served call is held against the answer of its kind instead. */
  readonly says?: RegExp;
}

export interface World {
  readonly name: string;
  readonly calls: readonly (readonly [CallName, model: string])[];
  /** Why tokens are refused here, as the logs say; absent where none is. */
  readonly refuses?: string;
  /** For clients that drop the key when the host changes. */
  readonly dropped: Ending;
  /** For clients that keep it; as `dropped` if absent. */
  readonly kept?: Ending;
  /** For clients that repeat what failed; as for the others if absent. */
  readonly repeated?: Ending;
}

/** Attempts of a client that starts again at the original URL: both SDKs make two more. */
const ATTEMPTS = 3;

const REFUSED = { status: 401, says: /Repeat the request at the original URL/ };
const TOLD: Ending = { path: 'A307', status: 307, says: /curl -L/ };

const served = (path: string): Ending => ({ path, status: 200 });
const notFound = (path: string, model: string): Ending => ({
  path,
  status: 404,
  says: new RegExp(`model .?"${model}`),
});
const chatAndMessages = (model: string): World['calls'] => [
  ['chat', model],
  ['messages', model],
];

/** The third site answers through a tap, which fails each request the first time. */
function failing(name: string, model: string, ending: Omit<Ending, 'path'>): World {
  return {
    name,
    calls: chatAndMessages(model),
    dropped: { path: 'A307', ...ending },
    repeated: served('A307 A307 C200'),
  };
}

export const WORLDS: readonly World[] = [
  {
    name: 'a healthy fleet',
    calls: [
      ['chat', 'm'],
      ['streamed chat', 'm'],
      ['chat of 2 MB', 'm'],
      ['messages', 'm'],
      ['beta messages', 'm'],
      ['streamed messages', 'm'],
      ['count tokens', 'm'],
      ['embeddings', 'emb'],
      ['rerank', 'rr'],
    ],
    dropped: served('A307 B200'),
  },
  {
    name: 'a stale map',
    calls: [
      ['chat', 'moved'],
      ['streamed chat', 'moved'],
      ['chat of 2 MB', 'moved'],
      ['beta messages', 'moved'],
      ['count tokens', 'moved'],
    ],
    dropped: served('A307 B307 C200'),
  },
  {
    name: 'maps that name each other, and no agent anywhere',
    calls: chatAndMessages('nowhere'),
    dropped: notFound('A307 B307 C404', 'nowhere'),
  },
  {
    name: 'a map that knows the model only where the request came from',
    calls: chatAndMessages('back'),
    dropped: notFound('A307 B404', 'back'),
  },
  {
    name: 'a site with another secret that has nothing either',
    calls: chatAndMessages('lost'),
    refuses: 'signature',
    dropped: { path: 'A307 S401', ...REFUSED },
    kept: notFound('A307 S404', 'lost'),
  },
  {
    name: 'a site with another secret that has the model',
    calls: chatAndMessages('at-stranger'),
    refuses: 'signature',
    dropped: { path: 'A307 S401', ...REFUSED },
    kept: served('A307 S200'),
  },
  {
    name: 'a site with another secret at the second redirect',
    calls: chatAndMessages('lost-later'),
    refuses: 'signature',
    dropped: { path: 'A307 B307 S401', ...REFUSED },
    kept: notFound('A307 B307 S404', 'lost-later'),
  },
  {
    name: 'a URL that leads to another router',
    calls: chatAndMessages('misrouted'),
    refuses: 'site',
    dropped: { path: 'A307 C401', ...REFUSED },
    kept: served('A307 C307 B200'),
  },
  failing('a site that answers 500 once', 'flaky-500', { status: 500, says: new RegExp(TAP_FAILURE) }),
  failing('a site that answers 429 once', 'flaky-429', { status: 429, says: new RegExp(TAP_FAILURE) }),
  failing('a site that closes the connection once', 'flaky-close', { status: undefined, says: /./ }),
];

/** How a call of `client` must end in `world`. */
export function endingOf(world: World, client: Pick<Client, 'follows' | 'keepsKey' | 'repeats'>): Ending {
  if (!client.follows) return TOLD;
  if (client.repeats !== 'nothing' && world.repeated !== undefined) return world.repeated;
  const ending = (client.keepsKey ? world.kept : undefined) ?? world.dropped;
  const isRepeated = ending.status === 401 && client.repeats === 'failures and refused tokens';
  return isRepeated ? { ...ending, path: Array.from({ length: ATTEMPTS }, () => ending.path).join(' ') } : ending;
}
