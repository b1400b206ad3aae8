// The largest map that a router takes: 1,000 sites, 100,000 placements with all their members, just below 16 MiB.

const SITES = 1_000;
const PLACEMENTS = 100_000;
/** Fills the document up: with it a placement is about 165 bytes. */
const FILLING = 'x'.repeat(57);

/** The site that the map lists first. */
export const BIG_MAP_SITE = 'site-0';

/** The document as bytes, or one of fewer placements. Maps of two tags have no site URL and no model in common. */
export function bigMapBytes(version: number, tag: string, count: number = PLACEMENTS): Uint8Array<ArrayBuffer> {
  const sites = Array.from({ length: SITES }, (_, index) => {
    return { id: `site-${index}`, url: `https://site-${tag}-${index}.example.com`, country: 'FR', eu: true };
  });
  const placements = Array.from({ length: count }, (_, index) => ({
    model: `${tag}-${index}-${FILLING}`,
    kind: 'chat',
    site: `site-${index % SITES}`,
    scale_from_zero: false,
    hint: { warm: true, load: 'ok' },
  }));
  const members = { schema: 3, version, region: 'eu', sites, placements, hints_expire_at: '2026-11-03T12:01:00Z' };
  return new TextEncoder().encode(JSON.stringify(members));
}
