// The door of the sibling map: a pushed document becomes a map, or the first rule that it breaks.

import { fault, ok, type Result } from '../lib/result.ts';
import { type JsonValue, parseStrictJson } from '../lib/strict-json.ts';
import type { AllowedDomain } from './allowed-domain.ts';
import { type BrokenRule, broken, member, required, within } from './field-readers.ts';
import { readMembers, readPlacements, readSchema } from './schema-3.ts';
import { createSiblingMap, MAP_MAX_BYTES, type SiblingMap } from './sibling-map.ts';
import type { SiteId } from './site.ts';

/** Twice the depth of a map. */
const MAX_DEPTH = 8;

/** The router that reads the map: the same document is valid for every site that it lists, and for no other. */
export interface ReadingRouter {
  readonly ownSite: SiteId;
  readonly domains: readonly AllowedDomain[];
}

/**
 * Reads a pushed map, at most `MAP_MAX_BYTES`. The fault is `<json path>: <rule>` of the first broken rule, where `body`
 * stands for the whole document. Of the document it repeats at most a schema number or the name of an
 * undefined member, cut to 64 printable characters.
 */
export function parseSiblingMap(bytes: Uint8Array, router: ReadingRouter): Result<SiblingMap, string> {
  if (bytes.length > MAP_MAX_BYTES) return fault(`body: larger than ${MAP_MAX_BYTES} bytes`);
  const document = parseStrictJson(bytes, MAX_DEPTH);
  if (!document.ok) return fault(`body: ${document.fault}`);
  const map = readMap(document.value, router);
  return map.ok ? map : fault(describe(map.fault));
}

function readMap(document: JsonValue, router: ReadingRouter): Result<SiblingMap, BrokenRule> {
  // Before all else: an older document would otherwise be told of the first member that schema 3 does not define.
  const schema = member('schema', required(readSchema))(document);
  if (!schema.ok) return schema;
  const members = readMembers(router.domains)(document);
  if (!members.ok) return members;
  const { version, region, generated_at, placements, hints_expire_at } = members.value;
  const sites = new Map(members.value.sites.map((site) => [site.id, site]));
  if (!sites.has(router.ownSite)) return broken(`does not list this router's site "${router.ownSite}"`, '.sites');
  const allPlacements = readPlacements(sites)(placements);
  if (!allPlacements.ok) return within('.placements', allPlacements.fault);
  const map = createSiblingMap({
    version,
    region,
    generatedAt: generated_at?.text,
    sites,
    allPlacements: allPlacements.value,
    hintsExpireAt: hints_expire_at?.text,
    hintsExpireAtMs: hints_expire_at?.ms,
  });
  if (map.hasHints && hints_expire_at === undefined) {
    return broken('missing, and a placement has a hint', '.hints_expire_at');
  }
  return ok(map);
}

function describe({ path, rule }: BrokenRule): string {
  return `${path === '' ? 'body' : path.slice(1)}: ${rule}`;
}
