// The sibling map as the router uses it: frozen, and indexed once, so that a request finds its placements by one look-up
// and sees one map from its candidates to its Location. How a push is read stands apart.

import { createHash } from 'node:crypto';
import { complete, type Steps } from '../lib/steps.ts';
import { formatSiblingMap } from './format-sibling-map.ts';
import { KINDS, type Kind } from './kind.ts';
import type { Site, SiteId } from './site.ts';

/** Bounds of a push (A14). 100 sites of 500 models each are about 6 MB. */
export const MAP_MAX_BYTES = 16 * 1024 * 1024;
export const MAP_MAX_SITES = 1_000;
export const MAP_MAX_PLACEMENTS = 100_000;

export const LOADS = ['ok', 'busy', 'full'] as const;

/** How a site was doing for a model when the map was built. */
export interface Hint {
  readonly warm: boolean;
  readonly load: (typeof LOADS)[number];
}

/** That a site serves a model. */
export interface Placement {
  /** 1 to 256 bytes of UTF-8, compared byte by byte. */
  readonly model: string;
  readonly kind: Kind;
  /** One of the map's sites. */
  readonly site: SiteId;
  readonly scaleFromZero: boolean;
  /** As pushed, a Go duration above 0 and at most 1h. */
  readonly holdBudget: string | undefined;
  /** The hold budget in whole milliseconds, cut: 0 to 3,600,000. */
  readonly holdBudgetMs: number | undefined;
  /** Undefined means warm and not full (D-13). */
  readonly hint: Hint | undefined;
}

/** A placement with its site. */
export interface PlacedSite {
  readonly site: Site;
  readonly placement: Placement;
}

/** What a map says. */
export interface MapContent {
  /** 0 to 2^64 − 1; a JavaScript number would take 2^53 + 1 for 2^53 and let a stale push through (D-58). */
  readonly version: bigint;
  /** Empty only before the first push. */
  readonly region: string;
  /** As pushed, an RFC 3339 time. */
  readonly generatedAt: string | undefined;
  /** In the order of the push, as all that follows. */
  readonly sites: ReadonlyMap<SiteId, Site>;
  readonly allPlacements: readonly Placement[];
  /** As pushed, an RFC 3339 time. */
  readonly hintsExpireAt: string | undefined;
  /** The same in Unix milliseconds. */
  readonly hintsExpireAtMs: number | undefined;
}

export interface SiblingMap extends MapContent {
  /** Whether any placement has a hint. */
  readonly hasHints: boolean;
  /** SHA-256 in hex over the map as `GET /admin/sibling-map` shows it: two maps with one hash say the same (D-59). */
  readonly contentHash: string;
  /** Where a model is placed for one kind, each site at most once; placements of another kind do not count (D-08). */
  placedSites(model: string, kind: Kind): readonly PlacedSite[];
  /** The placement of a model, for one kind, at one site. */
  placement(model: string, kind: Kind, site: SiteId): Placement | undefined;
}

const NOWHERE: readonly PlacedSite[] = Object.freeze([]);

/** Placements after which a pause comes. */
const SLICE_PLACEMENTS = 1_000;

/** Indexes the content of a map, by `Map`s throughout: a model may be called `__proto__` (T-47). */
export function* createSiblingMap(content: MapContent): Steps<SiblingMap> {
  const byKind = yield* indexPlacements(content);
  const placedSites = (model: string, kind: Kind) => byKind.get(kind)?.get(model) ?? NOWHERE;
  return Object.freeze({
    ...content,
    hasHints: content.allPlacements.some(({ hint }) => hint !== undefined),
    contentHash: yield* hashContent(content),
    placedSites,
    placement: (model: string, kind: Kind, at: SiteId) =>
      placedSites(model, kind).find(({ site }) => site.id === at)?.placement,
  });
}

type Index = ReadonlyMap<Kind, Map<string, PlacedSite[]>>;

function* indexPlacements({ sites, allPlacements }: MapContent): Steps<Index> {
  const byKind: Index = new Map(KINDS.map((kind) => [kind, new Map()]));
  for (const [index, placement] of allPlacements.entries()) {
    if (index % SLICE_PLACEMENTS === SLICE_PLACEMENTS - 1) yield;
    const site = sites.get(placement.site);
    if (site === undefined) continue; // none that was pushed
    const byModel = byKind.get(placement.kind);
    const places = byModel?.get(placement.model);
    if (places === undefined) byModel?.set(placement.model, [{ site, placement }]);
    else places.push({ site, placement });
  }
  return byKind;
}

function* hashContent(content: MapContent): Steps<string> {
  const hash = createHash('sha256');
  for (const piece of formatSiblingMap(content)) {
    hash.update(piece);
    yield;
  }
  return hash.digest('hex');
}

/** The map before the first push: version 0, nothing in it. */
export const EMPTY_MAP: SiblingMap = complete(
  createSiblingMap({
    version: 0n,
    region: '',
    generatedAt: undefined,
    sites: new Map(),
    allPlacements: [],
    hintsExpireAt: undefined,
    hintsExpireAtMs: undefined,
  }),
);

/** Whether there are hints and they count: from `hints_expire_at` on they do not (D-15, D-69). */
export function areHintsFresh(map: SiblingMap, nowMs: number): boolean {
  return map.hasHints && map.hintsExpireAtMs !== undefined && nowMs < map.hintsExpireAtMs;
}
