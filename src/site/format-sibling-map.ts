// The sibling map as JSON text again, in pieces: what `GET /admin/sibling-map` sends and what a map's content hash is over.

import type { MapContent, Placement } from './sibling-map.ts';

/** Placements in one piece: about a millisecond of work and 80 kB of text. */
const PIECE_PLACEMENTS = 500;

/**
 * The map as JSON text that can be pushed again: the version with its exact digits, URLs normalised, a
 * hint's defaults filled in, all else as pushed. Before the first push: version 0 and empty arrays (D-61). The members
 * are put together by hand, because JSON.stringify refuses a bigint.
 */
export function* formatSiblingMap(map: MapContent): Generator<string, void, undefined> {
  const head = JSON.stringify({
    region: map.region === '' ? undefined : map.region,
    generated_at: map.generatedAt,
    sites: [...map.sites.values()],
  });
  yield `{"schema":3,"version":${map.version},${head.slice(1, -1)},"placements":[`;
  for (let start = 0; start < map.allPlacements.length; start += PIECE_PLACEMENTS) {
    const piece = map.allPlacements.slice(start, start + PIECE_PLACEMENTS).map(formatPlacement);
    yield `${start === 0 ? '' : ','}${JSON.stringify(piece).slice(1, -1)}`;
  }
  yield map.hintsExpireAt === undefined ? ']}' : `],"hints_expire_at":${JSON.stringify(map.hintsExpireAt)}}`;
}

function formatPlacement(placement: Placement) {
  const { model, kind, site, scaleFromZero, holdBudget, hint } = placement;
  return { model, kind, site, scale_from_zero: scaleFromZero, hold_budget: holdBudget, hint };
}
