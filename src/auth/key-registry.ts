// The pushed API keys, found by hash when a client shows one and by ID when a redirect token names one. In memory
// only: after a restart every key is unknown until it is pushed again (api.md §10).

import { Buffer } from 'node:buffer';
import { fault, ok, type Result } from '../lib/result.ts';
import { encodeUtf8 } from '../lib/utf8.ts';
import type { ApiKey } from './api-key.ts';

export class KeyRegistry {
  #version = '';
  #byId: ReadonlyMap<string, ApiKey> = new Map();
  #byHash: ReadonlyMap<string, ApiKey> = new Map();

  /** Of the last replacement that was accepted; empty before the first. */
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
  replace(version: string, keys: readonly ApiKey[]): Result<number, { readonly currentVersion: string }> {
    if (isOlder(version, this.#version)) return fault({ currentVersion: this.#version });
    this.#byId = new Map(keys.map((key) => [key.id, key]));
    this.#byHash = new Map(keys.map((key) => [key.keyHash, key]));
    this.#version = version;
    return ok(keys.length);
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
}

/** By UTF-8 bytes: `<` would compare UTF-16 units and put U+1F600 before U+FF5E (api.md T18). */
function isOlder(version: string, held: string): boolean {
  return Buffer.compare(encodeUtf8(version), encodeUtf8(held)) < 0;
}
