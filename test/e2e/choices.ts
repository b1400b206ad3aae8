// A thousand answers of the site choice, for a map of thirty sites whose lists are turned: every process, on either
// runtime, must print the same.

import { Buffer } from 'node:buffer';
import { complete } from '../../src/lib/steps.ts';
import { parseAllowedDomain } from '../../src/site/allowed-domain.ts';
import { chooseSite } from '../../src/site/choose-site.ts';
import type { Kind } from '../../src/site/kind.ts';
import { parseSiblingMap } from '../../src/site/parse-sibling-map.ts';
import { parseScope } from '../../src/site/scope.ts';
import { parseSiteId } from '../../src/site/site.ts';

const COUNTRIES = ['FR', 'DE', 'US'];
const SCOPES = ['all', 'EU', 'country:FR', 'country:DE'];
const MODELS = ['llama-3-70b', 'm', '模型'];
const NOW_MS = Date.UTC(2026, 10, 3, 12);

/** The map with its sites and placements turned by `turns`. */
function mapBytes(turns: number): Uint8Array {
  const sites = Array.from({ length: 30 }, (_, index) => {
    const country = COUNTRIES[index % 3];
    return { id: `site-${index}`, url: `https://s${index}.example.com`, country, eu: country !== 'US' };
  });
  const placements = sites.flatMap(({ id }, index) =>
    MODELS.map((model, number) => {
      const hint = { warm: (index + number) % 4 !== 0, load: (index + number) % 5 === 0 ? 'full' : 'ok' };
      return { model, kind: 'chat', site: id, scale_from_zero: index % 2 === 0, hint };
    }),
  );
  const turned = <Item>(items: readonly Item[]) => [...items.slice(turns), ...items.slice(0, turns)];
  const map = { schema: 3, version: 1, region: 'eu', hints_expire_at: '2026-11-03T12:01:00Z' };
  return Buffer.from(JSON.stringify({ ...map, sites: turned(sites), placements: turned(placements) }));
}

/** One line an answer: the target, or why the request stays. */
export function choices(turns: number): readonly string[] {
  const here = parseSiteId('site-0');
  const domain = parseAllowedDomain('.example.com');
  if (here === undefined || !domain.ok) throw new Error('The site of the test is wrong');
  const map = complete(parseSiblingMap(mapBytes(turns), { ownSite: here, domains: [domain.value] }));
  if (!map.ok) throw new Error(map.fault);
  return Array.from({ length: 1_000 }, (_, index) => {
    const choice = chooseSite({
      map: map.value,
      here,
      origin: parseSiteId(`site-${index % 7}`),
      kind: 'chat' satisfies Kind,
      model: MODELS[index % 3] ?? '',
      scope: parseScope(SCOPES[index % 4] ?? '') ?? { kind: 'all' },
      keyId: `key-${index % 11}-é`,
      session: Buffer.from(`conv-${index % 13}`),
      canHold: index % 2 === 0,
      nowMs: NOW_MS + (index % 5 === 0 ? 60_000 : 0),
    });
    return choice.kind === 'redirect' ? choice.site.id : choice.reason;
  });
}

if (import.meta.main) for (const line of choices(Number(process.argv[2]))) console.log(line);
