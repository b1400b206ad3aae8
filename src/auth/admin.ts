// Who may use `/admin/*`: the holders of a few keys from one setting, apart from the clients' keys in both directions
// (api.md §11).

import { fault, ok, type Result } from '../lib/result.ts';
import { hashKey } from './api-key.ts';
import { type Credentials, hashShownKey, readBearer } from './credentials.ts';

/** Most keys in the setting. */
export const ADMIN_KEYS_MAX = 100;

/** `insecure` lets everyone in, and only an operator's explicit setting makes it. */
export type AdminAuth = { readonly mode: 'api-key'; readonly keys: AdminKeys } | { readonly mode: 'insecure' };

/** The admin keys, as hashes. */
export class AdminKeys {
  readonly #hashes: ReadonlySet<string>;

  constructor(hashes: ReadonlySet<string>) {
    this.#hashes = hashes;
  }

  /** `Authorization` alone, read as a client's is; `x-api-key` does not open `/admin/*`. */
  matches(credentials: Credentials): boolean {
    if (credentials.authorization === undefined) return false;
    const hash = hashShownKey(readBearer(credentials.authorization));
    return hash !== undefined && this.#hashes.has(hash);
  }
}

/** Whether these credentials may use `/admin/*`; if not: 401. */
export function mayAdminister(auth: AdminAuth, credentials: Credentials): boolean {
  return auth.mode === 'insecure' || auth.keys.matches(credentials);
}

/**
 * Reads `HIVENET_ROUTER_ADMIN_API_KEYS`: 1 to 100 keys separated by commas, blanks around them and empty ones dropped.
 * The fault is the broken rule; it tells positions, never a key.
 */
export function parseAdminKeys(text: string): Result<AdminKeys, string> {
  const keys = text
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '');
  if (keys.length === 0) return fault('holds no key');
  if (keys.length > ADMIN_KEYS_MAX) return fault(`holds more than ${ADMIN_KEYS_MAX} keys`);
  const repeated = keys.find((key, position) => keys.indexOf(key) < position);
  if (repeated !== undefined) {
    return fault(`keys ${keys.indexOf(repeated) + 1} and ${keys.lastIndexOf(repeated) + 1} are the same`);
  }
  return ok(new AdminKeys(new Set(keys.map((key) => hashKey(key)))));
}
