// The keys of an auth file, found by hash like the pushed ones; they have no ID, so no redirect token can name one
// (api.md §8.1, R-151).

import type { ApiKey } from './api-key.ts';

export class StaticKeys {
  #byHash: ReadonlyMap<string, ApiKey> = new Map();

  /** `keys`: no two with the same hash. */
  constructor(keys: readonly ApiKey[]) {
    this.replace(keys);
  }

  /** Takes `keys` in place of all that are held, in one go. */
  replace(keys: readonly ApiKey[]): void {
    this.#byHash = new Map(keys.map((key) => [key.keyHash, key]));
  }

  all(): readonly ApiKey[] {
    return [...this.#byHash.values()];
  }

  /** `hash`: 64 lower-case hexadecimal characters. */
  byHash(hash: string): ApiKey | undefined {
    return this.#byHash.get(hash);
  }
}
