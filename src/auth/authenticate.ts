// Who asks: from the credentials of a new request, of a request whose redirect token was refused, or of an accepted
// token. Every failure looks the same from outside; none says which part was wrong.

import { type ApiKey, isUsable } from './api-key.ts';
import { type Credentials, hashShownKey, shownKeys } from './credentials.ts';
import type { KeyQuota } from './key-quota.ts';
import type { KeyRegistry } from './key-registry.ts';
import type { StaticKeys } from './static-keys.ts';

/** `none` lets everyone in; `api-key` knows the keys of an auth file, `dynamic` the pushed ones. */
export type ClientAuth =
  | { readonly mode: 'none' }
  | { readonly mode: 'api-key'; readonly keys: StaticKeys }
  | { readonly mode: 'dynamic'; readonly registry: KeyRegistry };

/** Whether nobody can be known yet: keys live in memory and have not been pushed since the start (api.md §10). */
export function isWaitingForKeys(auth: ClientAuth): boolean {
  return auth.mode === 'dynamic' && auth.registry.version() === '';
}

export interface Caller {
  /** Empty in the modes `none` (D-30) and `api-key`, never empty in `dynamic`. */
  readonly keyId: string;
  readonly owner: string;
  /** Exact names; undefined: every model. Limits per model are an allowlist, beside which the declared one is nothing. */
  readonly allowedModels: Pick<ReadonlySet<string>, 'has'> | undefined;
  readonly quota: KeyQuota | undefined;
  /** Of each model's occupancy budget, above 0 to 1; undefined: no limit. */
  readonly maxOccupancyShare: number | undefined;
}

const ANYONE: Caller = Object.freeze({
  keyId: '',
  owner: 'default',
  allowedModels: undefined,
  quota: undefined,
  maxOccupancyShare: undefined,
});

/** The caller of a new request, or undefined: 401. Of two credentials the first alone decides (E1). */
export function authenticate(auth: ClientAuth, credentials: Credentials, nowMs: number): Caller | undefined {
  if (auth.mode === 'none') return ANYONE;
  const [shown] = shownKeys(credentials);
  const key = shown === undefined ? undefined : findKey(auth.mode === 'dynamic' ? auth.registry : auth.keys, shown);
  return key && callerOf(key, nowMs);
}

/**
 * The caller of a request whose token was refused, or undefined: 401. As for a new request, but in mode `none` some
 * credential must have been sent, or a used token would open the door (D-30, R-119, R-120).
 */
export function authenticateFallback(auth: ClientAuth, credentials: Credentials, nowMs: number): Caller | undefined {
  return shownKeys(credentials).length === 0 ? undefined : authenticate(auth, credentials, nowMs);
}

/**
 * Check 6 for the key ID of a token: known, enabled and unexpired here, and the key of *every* credential sent
 * (R-104 to R-107, E1). In mode `none` only the empty ID passes, which no pushed key has, and credentials do not count. In
 * mode `api-key` none does: static keys have no ID.
 */
export function tokenKeyMatches(auth: ClientAuth, credentials: Credentials, nowMs: number): (keyId: string) => boolean {
  return (keyId) => {
    if (auth.mode === 'none') return keyId === '';
    if (auth.mode === 'api-key') return false;
    const key = auth.registry.byId(keyId);
    if (key === undefined || !isUsable(key, nowMs)) return false;
    return shownKeys(credentials).every((shown) => findKey(auth.registry, shown) === key);
  };
}

/**
 * The caller that an accepted token names, or that was let in before. Undefined when its key was taken away, disabled or
 * expired since then, while the body came in (refuse it as `key`) or the request was held.
 */
export function callerOfKey(auth: ClientAuth, keyId: string, nowMs: number): Caller | undefined {
  if (auth.mode === 'none') return keyId === '' ? ANYONE : undefined;
  if (auth.mode === 'api-key') return undefined;
  const key = auth.registry.byId(keyId);
  return key && callerOf(key, nowMs);
}

/** Exact, case-sensitive names (api.md §12); also which models a listing shows. */
export function mayUseModel(caller: Caller, model: string): boolean {
  return caller.allowedModels === undefined || caller.allowedModels.has(model);
}

function findKey(keys: Pick<KeyRegistry, 'byHash'>, shown: string): ApiKey | undefined {
  const hash = hashShownKey(shown);
  return hash === undefined ? undefined : keys.byHash(hash);
}

function callerOf(key: ApiKey, nowMs: number): Caller | undefined {
  if (!isUsable(key, nowMs)) return undefined;
  const { id, owner, allowedModels, quota, maxOccupancyShare } = key;
  return { keyId: id, owner, allowedModels: quota?.perModel ?? allowedModels, quota, maxOccupancyShare };
}
