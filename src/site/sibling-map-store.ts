// The map that this router holds: the last one that was pushed and is not older than the one before. In memory only; a
// restart begins with the empty map (product page, "Pushing the sibling map"), unless a state directory brings it back.

import { fault, ok, type Result } from '../lib/result.ts';
import { EMPTY_MAP, type SiblingMap } from './sibling-map.ts';

/** What an accepted push did. */
export interface Replacement {
  /** The map says something else under the version that was held already: worth a warning (D-59). */
  readonly changedSilently: boolean;
}

export class SiblingMapStore {
  #map: SiblingMap = EMPTY_MAP;

  /** The map held now. A request takes it once and keeps to it. */
  current(): SiblingMap {
    return this.#map;
  }

  /**
   * Replaces the whole map. A lower version is refused; an equal one is applied, with other content too; before the first
   * push any version is taken.
   */
  replace(map: SiblingMap): Result<Replacement, { readonly currentVersion: bigint }> {
    const previous = this.#map;
    if (map.version < previous.version) return fault({ currentVersion: previous.version });
    this.#map = map;
    const isReplay = previous !== EMPTY_MAP && map.version === previous.version;
    return ok({ changedSilently: isReplay && map.contentHash !== previous.contentHash });
  }
}
