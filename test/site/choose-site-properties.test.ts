import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { explainChoice, type SiteQuestion } from '../../src/site/choose-site.ts';
import { KINDS } from '../../src/site/kind.ts';
import { parseScope, scopeIncludes } from '../../src/site/scope.ts';
import type { SiblingMap } from '../../src/site/sibling-map.ts';
import { parseSiteId, type SiteId } from '../../src/site/site.ts';
import { HINTS_EXPIRE_AT_MS, type Json, mapOf, textOf, validMaps } from './map-document.ts';
import { answer, ask, FRESH_MS } from './site-question.ts';

const sites = fc.nat({ max: 7 }).map((index) => parseSiteId(index === 0 ? 'site-fr-1' : `site-${index}`));
const scopes = fc.constantFrom('all', 'EU', 'country:FR', 'country:DE', 'country:AQ').map(parseScope);

/** All of a question but the map. */
const askers = fc
  .record({
    here: sites,
    origin: fc.option(sites, { nil: undefined }),
    kind: fc.constantFrom('chat' as const, 'chat' as const, ...KINDS),
    model: fc.constantFrom('m', 'm', 'n'),
    scope: scopes,
    keyId: fc.constantFrom('', 'key-1', 'key-2', 'key-é'),
    session: fc.nat({ max: 9 }).map((index) => Buffer.from(`conv-${index}`)),
    canHold: fc.boolean(),
    nowMs: fc.constantFrom(FRESH_MS, FRESH_MS, HINTS_EXPIRE_AT_MS),
  })
  .map(({ here, scope, ...asker }) => {
    assert.ok(here !== undefined && scope !== undefined);
    return { ...asker, here, scope };
  });

type Asker = Omit<SiteQuestion, 'map'>;
type Members = Record<string, unknown>;

/** The document with its placements, its sites or both changed, as plain JSON. */
function changed(document: Json, change: (map: { sites: Members[]; placements: Members[] }) => object): SiblingMap {
  const plain = JSON.parse(textOf(document));
  return mapOf({ ...plain, version: 1, ...change(plain) });
}

/** Step 1, written down anew. */
function naiveCandidates(map: SiblingMap, { here, origin, kind, model, scope }: Asker): readonly SiteId[] {
  const candidates: SiteId[] = [];
  for (const site of map.sites.values()) {
    const isPlaced = map.allPlacements.some((p) => p.site === site.id && p.model === model && p.kind === kind);
    if (isPlaced && scopeIncludes(scope, site) && site.id !== here && site.id !== origin) candidates.push(site.id);
  }
  return candidates;
}

const check = (property: (document: Json, asker: Asker) => void) =>
  fc.assert(fc.property(validMaps, askers, property), { numRuns: 400 });

describe('chooseSite()', () => {
  it('answers a candidate, or here; never this site or the origin (R-036, P-08)', () =>
    check((document, asker) => {
      const map = mapOf(document);
      const found = answer({ ...asker, map });
      const candidates: readonly string[] = naiveCandidates(map, asker);
      if (candidates.length === 0) assert.equal(found, 'no_candidate');
      else assert.ok([...candidates, 'wake_here'].includes(found), found);
    }));

  it('does not depend on the order of sites and placements (R-044, P-08)', () =>
    check((document, asker) => {
      const turned = changed(document, ({ sites, placements }) => {
        return { sites: sites.toReversed(), placements: placements.toReversed() };
      });
      assert.equal(answer({ ...asker, map: turned }), answer({ ...asker, map: mapOf(document) }));
    }));

  it('does not depend on URL, version, region or the time of building (R-040)', () =>
    check((document, asker) => {
      const other = changed(document, ({ sites }) => ({
        sites: sites.map((site, index) => ({ ...site, url: `https://other-${index}.example.com` })),
        version: 2,
        region: 'other',
        generated_at: '1999-01-01T00:00:00Z',
      }));
      assert.equal(answer({ ...asker, map: other }), answer({ ...asker, map: mapOf(document) }));
    }));

  it('does not depend on country or EU membership within all, on the time without hints, or on the kind (R-040)', () =>
    check((document, asker) => {
      const within = { ...asker, scope: { kind: 'all' } } as const;
      const unhinted = ({ hint: _hint, ...placement }: Members): Members => placement;
      const plain = changed(document, ({ placements }) => ({ placements: placements.map(unhinted) }));
      const turned: Record<string, string> = { chat: 'rerank', embedding: 'chat', rerank: 'embedding' };
      const other = changed(document, ({ sites, placements }) => ({
        sites: sites.map((site) => ({ ...site, country: 'AQ', eu: false })),
        placements: placements.map(unhinted).map((p) => ({ ...p, kind: turned[String(p['kind'])] })),
      }));
      const kind = KINDS.find((name) => name === turned[asker.kind]);
      assert.ok(kind !== undefined);
      assert.equal(answer({ ...within, map: other, kind, nowMs: 0 }), answer({ ...within, map: plain }));
    }));

  it('does not change when a site outside the home set loses the model (P-09)', () =>
    check((document, asker) => {
      const map = mapOf(document);
      const passedOver = explainChoice({ ...asker, map });
      const outside = passedOver.filter(({ reason }) => reason === 'not_home').map(({ site }) => site);
      const without = changed(document, ({ placements }) => {
        return { placements: placements.filter(({ site }) => !outside.some((gone) => gone === site)) };
      });
      assert.equal(answer({ ...asker, map: without }), answer({ ...asker, map }));
    }));

  it('with stale hints, answers as without hints (P-10)', () =>
    check((document, asker) => {
      const unhinted = changed(document, ({ placements }) => {
        return { placements: placements.map(({ hint: _hint, ...placement }) => placement) };
      });
      const stale = { ...asker, nowMs: HINTS_EXPIRE_AT_MS };
      assert.equal(answer({ ...stale, map: mapOf(document) }), answer({ ...asker, map: unhinted }));
    }));

  it('takes busy for ok (R-056, P-10)', () =>
    check((document, asker) => {
      const swap: Record<string, string> = { ok: 'busy', busy: 'ok' };
      const flip = (hint: unknown) => {
        const load = typeof hint === 'object' && hint !== null && 'load' in hint ? String(hint.load) : undefined;
        return load === undefined ? hint : { ...Object(hint), load: swap[load] ?? load };
      };
      const flipped = changed(document, ({ placements }) => {
        return { placements: placements.map((p) => ('hint' in p ? { ...p, hint: flip(p['hint']) } : p)) };
      });
      assert.equal(answer({ ...asker, map: flipped }), answer({ ...asker, map: mapOf(document) }));
    }));

  it('never reaches beyond what all reaches (P-11)', () =>
    check((document, asker) => {
      const map = mapOf(document);
      const all: readonly string[] = naiveCandidates(map, { ...asker, scope: { kind: 'all' } });
      const found = answer({ ...asker, map });
      assert.ok([...all, 'no_candidate', 'wake_here'].includes(found));
    }));
});

describe('explainChoice()', () => {
  it('names every site with the model but the chosen one, once, in the order of the map', () =>
    check((document, asker) => {
      const map = mapOf(document);
      const placed = map.placedSites(asker.model, asker.kind).map(({ site }) => site.id);
      const found = answer({ ...asker, map });
      const explained = explainChoice(ask({ ...asker, map })).map(({ site }) => site);
      assert.deepEqual(
        explained,
        placed.filter((site) => site !== found),
      );
    }));
});
