// What is odd about a map but no reason to reject it: a territory can be in the EU while its country is not, and a writer
// may have reasons for hints that live long. Whoever accepts a push logs these.

import { formatTimestamp } from '../lib/timestamp.ts';
import { EU_MEMBERS } from './country.ts';
import type { SiblingMap } from './sibling-map.ts';

const HINTS_MAX_AHEAD_MS = 3_600_000;

/** At most two sentences, empty for an unremarkable map (D-24, T-30). */
export function warnAboutMap(map: SiblingMap, nowMs: number): readonly string[] {
  const warnings: string[] = [];
  const doubtful = [...map.sites.values()].filter((site) => site.eu !== EU_MEMBERS.has(site.country));
  const [first] = doubtful;
  if (first !== undefined) {
    const others = doubtful.length === 1 ? '' : `, and ${doubtful.length - 1} more like it`;
    const membership = first.eu ? 'is no member' : 'is a member';
    warnings.push(`Site "${first.id}" says eu: ${first.eu}, but ${first.country} ${membership} of the EU${others}`);
  }
  if (map.hintsExpireAtMs !== undefined && map.hintsExpireAtMs - nowMs > HINTS_MAX_AHEAD_MS) {
    warnings.push(`Hints stay in force until ${formatTimestamp(map.hintsExpireAtMs)}, more than 1h from now`);
  }
  return warnings;
}
