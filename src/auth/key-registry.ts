// The pushed API keys, found by hash when a client shows one and by ID when a redirect token names one. In memory
// only: unless a state directory brings them back, every key is unknown after a restart until it is pushed again
// (api.md §10).

import { Buffer } from 'node:buffer';
import { fault, ok, type Result } from '../lib/result.ts';
import { encodeUtf8 } from '../lib/utf8.ts';
import type { ApiKey } from './api-key.ts';
import { KeyTable } from './key-table.ts';

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
  #keys = new KeyTable();

  /** Of the last push that was accepted, whichever kind; empty before the first. */
  version(): string {
    return this.#version;
  }

  /** Keys held, disabled and expired ones included. */
  size(): number {
    return this.#keys.size;
  }

  /**
   * Takes `keys`, which are this registry's from then on, in place of all that are held, and returns their number. A
   * version older than the held one changes nothing; an equal one is applied again (api.md §10.2).
   */
  replace(version: string, keys: KeyTable): Result<number, Stale> {
    if (isOlder(version, this.#version)) return fault(this.#stale());
    this.#keys = keys;
    this.#version = version;
    return ok(keys.size);
  }

  /** Takes `key` in place of the one with its ID, whose hash then opens nothing any more, or beside the others. */
  upsert(version: string, key: ApiKey): Result<undefined, UpsertFault> {
    if (isOlder(version, this.#version)) return fault(this.#stale());
    const held = this.#keys.byId(key.id);
    const ofHash = this.#keys.byHash(key.keyHash);
    if (ofHash !== held && ofHash !== undefined) return fault({ reason: 'hash_taken' });
    if (held === undefined && this.#keys.size >= KEYS_MAX) return fault({ reason: 'full' });
    this.#keys.put(key);
    this.#version = version;
    return ok(undefined);
  }

  /** Takes the key out, and returns whether there was one; the version counts either way (api.md §10.2). */
  delete(version: string, id: string): Result<boolean, Stale> {
    if (isOlder(version, this.#version)) return fault(this.#stale());
    this.#version = version;
    return ok(this.#keys.delete(id));
  }

  /** `hash`: 64 lower-case hexadecimal characters. */
  byHash(hash: string): ApiKey | undefined {
    return this.#keys.byHash(hash);
  }

  byId(id: string): ApiKey | undefined {
    return this.#keys.byId(id);
  }

  /** In the order in which they were pushed. */
  all(): readonly ApiKey[] {
    return [...this.#keys];
  }

  #stale(): Stale {
    return { reason: 'stale', currentVersion: this.#version };
  }
}

/** By UTF-8 bytes: `<` would compare UTF-16 units and put U+1F600 before U+FF5E (api.md T18). */
function isOlder(version: string, held: string): boolean {
  return Buffer.compare(encodeUtf8(version), encodeUtf8(held)) < 0;
}
