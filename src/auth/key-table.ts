// Keys to be found in two ways, by ID and by hash. A table is filled key by key before it is in force, so that taking
// 100,000 keys in place of others is one step (api.md §10.3).

import type { ApiKey } from './api-key.ts';

/** In the order in which the IDs came. */
export class KeyTable implements Iterable<ApiKey> {
  readonly #byId = new Map<string, ApiKey>();
  readonly #byHash = new Map<string, ApiKey>();

  /** `keys`: no two with the same ID or hash. */
  constructor(keys: Iterable<ApiKey> = []) {
    for (const key of keys) this.put(key);
  }

  get size(): number {
    return this.#byId.size;
  }

  /** `hash`: 64 lower-case hexadecimal characters. */
  byHash(hash: string): ApiKey | undefined {
    return this.#byHash.get(hash);
  }

  byId(id: string): ApiKey | undefined {
    return this.#byId.get(id);
  }

  /** In place of the one with its ID, whose hash then finds nothing any more. No other ID has the hash. */
  put(key: ApiKey): void {
    const held = this.#byId.get(key.id);
    if (held !== undefined) this.#byHash.delete(held.keyHash);
    this.#byId.set(key.id, key);
    this.#byHash.set(key.keyHash, key);
  }

  /** Whether there was one. */
  delete(id: string): boolean {
    const held = this.#byId.get(id);
    if (held !== undefined) this.#byHash.delete(held.keyHash);
    return this.#byId.delete(id);
  }

  [Symbol.iterator](): Iterator<ApiKey> {
    return this.#byId.values();
  }
}
