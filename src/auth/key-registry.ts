// The pushed API keys, found by hash when a client shows one and by ID when a redirect token names one. In memory
// only: after a restart every key is unknown until it is pushed again (api.md §10).

import { Buffer } from 'node:buffer';
import { fault, ok, type Result } from '../lib/result.ts';
import { encodeUtf8 } from '../lib/utf8.ts';
import type { ApiKey } from './api-key.ts';

/** Most keys in the registry. */
export const KEYS_MAX = 100_000;

/** The push knows an older state than the registry has. */
interface Stale {
  readonly reason: 'stale';
  readonly currentVersion: string;
}

/** `hash_taken`: another ID has the hash. `full`: 100,000 other keys are held. */
export type UpsertFault = Stale | { readonly reason: 'hash_taken' | 'full' };

export class KeyRegistry {
  #version = '';
  #byId = new Map<string, ApiKey>();
  #byHash = new Map<string, ApiKey>();

  /** Of the last push that was accepted, whichever kind; empty before the first. */
  version(): string {
    return this.#version;
  }

  /** Keys held, disabled and expired ones included. */
  size(): number {
    return this.#byId.size;
  }

  /**
   * Takes `keys` (no two with the same ID or hash) in place of all that are held, and returns their number. A version
   * older than the held one changes nothing; an equal one is applied again (api.md §10.2).
   */
  replace(version: string, keys: readonly ApiKey[]): Result<number, Stale> {
    if (isOlder(version, this.#version)) return fault(this.#stale());
    this.#byId = new Map(keys.map((key) => [key.id, key]));
    this.#byHash = new Map(keys.map((key) => [key.keyHash, key]));
    this.#version = version;
    return ok(keys.length);
  }

  /** Takes `key` in place of the one with its ID, whose hash then opens nothing any more, or beside the others. */
  upsert(version: string, key: ApiKey): Result<undefined, UpsertFault> {
    if (isOlder(version, this.#version)) return fault(this.#stale());
    const held = this.#byId.get(key.id);
    const ofHash = this.#byHash.get(key.keyHash);
    if (ofHash !== held && ofHash !== undefined) return fault({ reason: 'hash_taken' });
    if (held === undefined && this.#byId.size >= KEYS_MAX) return fault({ reason: 'full' });
    if (held !== undefined) this.#byHash.delete(held.keyHash);
    this.#byId.set(key.id, key);
    this.#byHash.set(key.keyHash, key);
    this.#version = version;
    return ok(undefined);
  }

  /** Takes the key out, and returns whether there was one; the version counts either way (api.md §10.2). */
  delete(version: string, id: string): Result<boolean, Stale> {
    if (isOlder(version, this.#version)) return fault(this.#stale());
    const held = this.#byId.get(id);
    if (held !== undefined) this.#byHash.delete(held.keyHash);
    this.#byId.delete(id);
    this.#version = version;
    return ok(held !== undefined);
  }

  /** `hash`: 64 lower-case hexadecimal characters. */
  byHash(hash: string): ApiKey | undefined {
    return this.#byHash.get(hash);
  }

  byId(id: string): ApiKey | undefined {
    return this.#byId.get(id);
  }

  /** In the order in which they were pushed. */
  all(): readonly ApiKey[] {
    return [...this.#byId.values()];
  }

  #stale(): Stale {
    return { reason: 'stale', currentVersion: this.#version };
  }
}

/** By UTF-8 bytes: `<` would compare UTF-16 units and put U+1F600 before U+FF5E (api.md T18). */
function isOlder(version: string, held: string): boolean {
  return Buffer.compare(encodeUtf8(version), encodeUtf8(held)) < 0;
}
