// The door of the sibling map: a pushed document becomes a map, or the first rule that it breaks.

import { fault, ok, type Result } from '../lib/result.ts';
import type { Steps } from '../lib/steps.ts';
import { type JsonLimits, type JsonValue, parseStrictJson } from '../lib/strict-json.ts';
import type { AllowedDomain } from './allowed-domain.ts';
import { type BrokenRule, broken, member, required, within } from './field-readers.ts';
import { readMembers, readPlacements, readSchema, shapePlacement } from './schema-3.ts';
import { createSiblingMap, MAP_MAX_BYTES, type SiblingMap } from './sibling-map.ts';
import type { SiteId } from './site.ts';

/**
 * What no map needs, refused before it takes memory: twice the depth of a map; about a tenth more values than a
 * map at its bounds has (A14: 1,000 sites of 5 values, 100,000 placements of 9); far more members than any object of a
 * map; strings that no field takes, but for a time with as many digits (D-66).
 */
const LIMITS: JsonLimits = { depth: 8, values: 1_000_000, members: 1_000, tokenLength: 16_384 };

/** The router that reads the map: the same document is valid for every site that it lists, and for no other. */
export interface ReadingRouter {
  readonly ownSite: SiteId;
  readonly domains: readonly AllowedDomain[];
}

/** How much is read between two pauses, where a test wants other amounts. */
export interface MapSlices {
  readonly characters: number;
  readonly placements: number;
}

/**
 * Reads a pushed map, at most `MAP_MAX_BYTES`. The fault is `<json path>: <rule>` of the first broken rule, where `body`
 * stands for the whole document. Of the document it repeats at most a schema number or the name of an
 * undefined member, cut to 64 printable characters.
 */
export function* parseSiblingMap(
  bytes: Uint8Array,
  router: ReadingRouter,
  slices?: MapSlices,
): Steps<Result<SiblingMap, string>> {
  if (bytes.length > MAP_MAX_BYTES) return fault(`body: larger than ${MAP_MAX_BYTES} bytes`);
  const document = yield* parseStrictJson(bytes, {
    limits: LIMITS,
    shapeItem: shapePlacement,
    sliceLength: slices?.characters,
  });
  if (!document.ok) return fault(`body: ${document.fault}`);
  const map = yield* readMap(document.value, router, slices?.placements);
  return map.ok ? map : fault(describe(map.fault));
}

function* readMap(
  document: JsonValue,
  router: ReadingRouter,
  slicePlacements?: number,
): Steps<Result<SiblingMap, BrokenRule>> {
  // Before all else: an older document would otherwise be told of the first member that schema 3 does not define.
  const schema = member('schema', required(readSchema))(document);
  if (!schema.ok) return schema;
  const members = readMembers(router.domains)(document);
  if (!members.ok) return members;
  yield;
  const { version, region, generated_at, placements, hints_expire_at } = members.value;
  const sites = new Map(members.value.sites.map((site) => [site.id, site]));
  if (!sites.has(router.ownSite)) return broken(`does not list this router's site "${router.ownSite}"`, '.sites');
  const allPlacements = yield* readPlacements(sites, slicePlacements)(placements);
  if (!allPlacements.ok) return within('.placements', allPlacements.fault);
  if (hints_expire_at === undefined && allPlacements.value.some(({ hint }) => hint !== undefined)) {
    return broken('missing, and a placement has a hint', '.hints_expire_at');
  }
  const content = {
    version,
    region,
    generatedAt: generated_at?.text,
    sites,
    allPlacements: allPlacements.value,
    hintsExpireAt: hints_expire_at?.text,
    hintsExpireAtMs: hints_expire_at?.ms,
  };
  return ok(yield* createSiblingMap(content));
}

function describe({ path, rule }: BrokenRule): string {
  return `${path === '' ? 'body' : path.slice(1)}: ${rule}`;
}
