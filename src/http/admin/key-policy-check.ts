// Keys and policies against each other, whichever of them changes. What is judged here is written in the same turn of
// `ports.limitWrites`, so that the other side is still what it was.

import { findContradictions, type PolicyTable } from '../../admission/key-check.ts';
import type { ApiKey } from '../../auth/api-key.ts';
import type { ClientAuth } from '../../auth/authenticate.ts';
import type { RouterPorts } from '../router-ports.ts';

/** Why they cannot hold together, as one line for whoever writes; undefined when they can. */
export async function whyContradictory(
  { turns }: Pick<RouterPorts, 'turns'>,
  keys: Iterable<ApiKey>,
  policies: PolicyTable,
): Promise<string | undefined> {
  const found = await turns.complete(findContradictions(keys, policies));
  return found.length === 0 ? undefined : found.join('; ');
}

/** Every key that is held, whoever brought it. */
export function heldKeys(auth: ClientAuth): readonly ApiKey[] {
  switch (auth.mode) {
    case 'none':
      return [];
    case 'api-key':
      return auth.keys.all();
    case 'dynamic':
      return auth.registry.all();
  }
}
