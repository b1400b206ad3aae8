// The clients that the searches send out, and what each of them sends.

import type { Credentials } from '../../src/auth/credentials.ts';
import { type Client, KEY_IDS, OTHER_KEY_ID, type Shown } from './world.ts';

const SHOWN: readonly Shown[] = ['nothing', 'Authorization', 'x-api-key', 'another key', 'an unknown key'];
const SCOPES = ['all', 'EU', 'country:FR', undefined] as const;
const EITHER = [false, true];

/** Every key, way to show it and scope, with another body and without, with repeats and without. */
export const ALL_CLIENTS: readonly Client[] = KEY_IDS.flatMap((keyId) =>
  SHOWN.flatMap((shows) =>
    SCOPES.flatMap((scope) =>
      EITHER.flatMap((changesBody) => EITHER.map((repeats) => ({ keyId, shows, scope, changesBody, repeats }))),
    ),
  ),
).map((client, id) => ({ ...client, id }));

/** Those that `isWanted` wants of the clients that ask for scope `all` and send one body. */
export function plainClients(isWanted: (client: Client) => boolean): readonly Client[] {
  return ALL_CLIENTS.filter((client) => client.scope === 'all' && !client.changesBody && isWanted(client));
}

/** The two of 6.2: one drops its key with the host, one keeps it; neither repeats a request. */
export const TWO_CLIENTS = plainClients(
  ({ keyId, shows, repeats }) => keyId === KEY_IDS[0] && !repeats && (shows === 'nothing' || shows === 'Authorization'),
);

/** What the client shows with a token, or at its start, where it has none. The secret of a key is `sk-` and its ID. */
export function credentialsOf({ keyId, shows }: Client, token: string | undefined): Credentials {
  if (token === undefined) return { tokens: [], authorization: `Bearer sk-${keyId}`, apiKey: undefined };
  const withToken = { tokens: [token], authorization: undefined, apiKey: undefined };
  switch (shows) {
    case 'nothing':
      return withToken;
    case 'Authorization':
      return { ...withToken, authorization: `Bearer sk-${keyId}` };
    case 'x-api-key':
      return { ...withToken, apiKey: `sk-${keyId}` };
    case 'another key':
      return { ...withToken, authorization: `Bearer sk-${OTHER_KEY_ID}` };
    case 'an unknown key':
      return { ...withToken, authorization: 'Bearer sk-nobody' };
  }
}

/** The hash of the body that the client sends at its start, or once it was redirected. */
export function bodyHashOf({ changesBody }: Client, isRedirected: boolean): string {
  return (changesBody && isRedirected ? 'b' : 'a').repeat(64);
}
