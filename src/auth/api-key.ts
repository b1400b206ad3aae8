// A client's API key as the router keeps it. The secret itself is never kept: a key is found by the hash of what the
// client shows, so nothing here can be read back into a credential (api.md §8.2).

import { hash } from 'node:crypto';
import type { KeyQuota } from './key-quota.ts';

export interface ApiKey {
  /**
   * 1 to 256 bytes, unique in the registry. A redirect token names the key by it. Empty for a key of an auth file.
   */
  readonly id: string;
  /** SHA-256 of the secret's bytes, 64 lower-case hexadecimal characters, unique in the registry. */
  readonly keyHash: string;
  /** What an operator recognises the key by; empty when none was pushed. */
  readonly keyPreview: string;
  /** Whoever is billed; 1 to 256 bytes, shared by all keys of one owner. */
  readonly owner: string;
  readonly name: string;
  readonly enabled: boolean;
  /** Unix ms of the first moment at which the key no longer works; undefined: never. */
  readonly expiresAtMs: number | undefined;
  /** Exact model names; undefined: all. Never empty. */
  readonly allowedModels: ReadonlySet<string> | undefined;
  readonly quota: KeyQuota | undefined;
  /** Above 0, at most 1; undefined: unset. */
  readonly maxOccupancyShare: number | undefined;
}

/** SHA-256, lower-case hexadecimal, of a secret's bytes; text counts as UTF-8. */
export function hashKey(secret: string | Uint8Array): string {
  return hash('sha256', secret, 'hex');
}

/** Enabled, and `nowMs` (Unix ms) is before its expiry; at the very millisecond it is over (api.md §8.2). */
export function isUsable(key: ApiKey, nowMs: number): boolean {
  return key.enabled && (key.expiresAtMs === undefined || nowMs < key.expiresAtMs);
}
