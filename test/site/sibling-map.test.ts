import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { complete } from '../../src/lib/steps.ts';
import { KINDS } from '../../src/site/kind.ts';
import { areHintsFresh, createSiblingMap, EMPTY_MAP } from '../../src/site/sibling-map.ts';
import {
  edited,
  HINTS_EXPIRE_AT_MS,
  type Json,
  mapOf,
  mapText,
  RawJson,
  siteId,
  VALID_MAP,
  validMaps,
} from './map-document.ts';

const HINTED = edited(VALID_MAP, 'placements[1].hint', { load: 'busy' });

describe('SiblingMap', () => {
  const map = mapOf(edited(HINTED, 'placements[2].hold_budget', '1.5ms'));

  it('holds what was pushed', () => {
    assert.equal(map.version, 1762171200n);
    assert.equal(map.region, 'eu');
    assert.equal(map.generatedAt, '2026-11-03T12:00:00Z');
    assert.equal(map.hintsExpireAt, '2026-11-03T12:01:00Z');
    assert.equal(map.hintsExpireAtMs, HINTS_EXPIRE_AT_MS);
    assert.deepEqual([...map.sites.keys()], ['site-fr-1', 'site-fr-2', 'site-de-1', 'site-us-1']);
    assert.equal(map.sites.get(siteId('site-us-1'))?.eu, false);
  });

  it('finds the placements of a model for one kind only (R-015, D-08)', () => {
    const sites = (model: string, kind: (typeof KINDS)[number]) =>
      map.placedSites(model, kind).map(({ site }) => site.id);
    assert.deepEqual(sites('m', 'chat'), ['site-fr-2', 'site-de-1', 'site-us-1']);
    assert.deepEqual(sites('m', 'embedding'), []);
    assert.deepEqual(sites('emb', 'embedding'), ['site-fr-2']);
    assert.deepEqual(sites('rr', 'rerank'), ['site-fr-2']);
    assert.equal(map.placement('m', 'chat', siteId('site-de-1'))?.site, 'site-de-1');
    assert.equal(map.placement('m', 'rerank', siteId('site-de-1')), undefined);
    assert.equal(map.placement('m', 'chat', siteId('site-fr-1')), undefined);
  });

  it('finds no placement at a site that it does not have', () => {
    const [placement] = map.allPlacements;
    assert.ok(placement);
    const elsewhere = { ...placement, site: siteId('site-nowhere-1') };
    const made = complete(createSiblingMap({ ...map, allPlacements: [elsewhere] }));
    assert.deepEqual(made.placedSites(placement.model, placement.kind), []);
  });

  it('fills in the defaults of a hint, and tells a missing hint from an empty one (D-13)', () => {
    const hintFor = (hint: object) =>
      mapOf(edited(VALID_MAP, 'placements[0].hint', { ...hint })).allPlacements[0]?.hint;
    assert.deepEqual(hintFor({}), { warm: true, load: 'ok' });
    assert.deepEqual(hintFor({ load: 'full' }), { warm: true, load: 'full' });
    assert.deepEqual(hintFor({ warm: false }), { warm: false, load: 'ok' });
    assert.equal(map.allPlacements[0]?.hint, undefined);
  });

  it('holds the hold budget in whole milliseconds', () => {
    assert.equal(map.allPlacements[2]?.holdBudgetMs, 1);
    assert.equal(map.allPlacements[0]?.holdBudgetMs, undefined);
    const longest = mapOf(edited(VALID_MAP, 'placements[0].hold_budget', '1h'));
    assert.equal(longest.allPlacements[0]?.holdBudgetMs, 3_600_000);
  });

  it('is frozen, down to hints', () => {
    // Not the list itself: to freeze one of 100,000 placements blocks JavaScriptCore for 50 ms.
    const [, hinted] = map.allPlacements;
    for (const part of [map, hinted, hinted?.hint, map.sites.get(siteId('site-fr-1'))]) {
      assert.ok(part !== undefined && Object.isFrozen(part));
    }
  });

  it('has a content hash over what GET shows: equal for equal content, whatever its spelling (D-59)', () => {
    const hashOf = (document: Json) => mapOf(document).contentHash;
    assert.equal(map.contentHash, createHash('sha256').update(mapText(map)).digest('hex'));
    assert.equal(hashOf(HINTED), hashOf(edited(HINTED, 'placements[1].hint', { load: 'busy', warm: true })));
    assert.notEqual(hashOf(HINTED), hashOf(edited(HINTED, 'placements[1].hint.warm', false)));
    assert.notEqual(hashOf(HINTED), hashOf(edited(HINTED, 'version', 5)));
  });

  it('takes names of object members for models and sites like any other (T-47)', () => {
    const named = edited(edited(VALID_MAP, 'sites[1].id', '__proto__'), 'placements', [
      { model: '__proto__', kind: 'chat', site: '__proto__', scale_from_zero: true },
      { model: 'constructor', kind: 'chat', site: 'site-fr-1', scale_from_zero: true },
    ]);
    const odd = mapOf(named);
    assert.equal(odd.placedSites('__proto__', 'chat')[0]?.site.id, '__proto__');
    assert.equal(odd.placedSites('constructor', 'chat')[0]?.site.id, 'site-fr-1');
    for (const model of ['toString', 'hasOwnProperty', 'valueOf']) assert.deepEqual(odd.placedSites(model, 'chat'), []);
    assert.deepEqual(JSON.parse(mapText(odd)), named);
  });

  it('indexes every placement exactly once', () =>
    fc.assert(
      fc.property(validMaps, (document) => {
        const { allPlacements, placedSites } = mapOf(document);
        const models = [...new Set(allPlacements.map(({ model }) => model))];
        const found = KINDS.flatMap((kind) =>
          models.flatMap((model) => placedSites(model, kind).map(({ placement }) => placement)),
        );
        assert.deepEqual(new Set(found), new Set(allPlacements));
        assert.equal(found.length, allPlacements.length);
      }),
      { numRuns: 100 },
    ));
});

describe('areHintsFresh()', () => {
  const map = mapOf(HINTED);
  it('is true up to the last millisecond before hints_expire_at (R-058, D-15)', () => {
    assert.ok(areHintsFresh(map, 0));
    assert.ok(areHintsFresh(map, HINTS_EXPIRE_AT_MS - 1));
    assert.ok(!areHintsFresh(map, HINTS_EXPIRE_AT_MS));
    assert.ok(!areHintsFresh(map, HINTS_EXPIRE_AT_MS + 1));
  });
  it('is false without a hint, whatever hints_expire_at says (D-69)', () =>
    assert.ok(!areHintsFresh(mapOf(VALID_MAP), 0)));
  it('is false before the first push', () => assert.ok(!areHintsFresh(EMPTY_MAP, 0)));
});

describe('formatSiblingMap()', () => {
  it('joins its pieces without a gap, for as many placements as fill one, and one more', () => {
    for (const count of [0, 1, 500, 501, 1_000, 1_001]) {
      const placed = { kind: 'chat', site: 'site-fr-1', scale_from_zero: false };
      const placements = Array.from({ length: count }, (_, index) => ({ model: `m${index}`, ...placed }));
      const document = { ...VALID_MAP, placements };
      assert.deepEqual(JSON.parse(mapText(mapOf(document))), document);
    }
  });

  it('writes version 0 and empty arrays before the first push (R-171, D-61)', () => {
    assert.equal(mapText(EMPTY_MAP), '{"schema":3,"version":0,"sites":[],"placements":[]}');
  });

  for (const digits of ['0', '9007199254740993', '18446744073709551615']) {
    it(`writes version ${digits} digit by digit (R-170, D-58)`, () => {
      const text = mapText(mapOf(edited(VALID_MAP, 'version', new RawJson(digits))));
      assert.ok(text.startsWith(`{"schema":3,"version":${digits},"region":"eu",`), text);
    });
  }

  it('writes times and durations as pushed, URLs normalised, and no default but a hint’s (R-186)', () => {
    const pushed = [
      ['generated_at', '2026-11-03T12:00:00.123456+01:00'],
      ['sites[3].url', 'HTTPS://Site-US-1.example.com:443/'],
      ['placements[2].hold_budget', '1m0.5s'],
      ['placements[2].hint', {}],
    ] as const;
    const document = pushed.reduce<ReturnType<typeof edited>>(
      (map, [path, value]) => edited(map, path, value),
      VALID_MAP,
    );
    const shown = edited(edited(document, 'sites[3].url', 'https://site-us-1.example.com'), 'placements[2].hint', {
      warm: true,
      load: 'ok',
    });
    assert.deepEqual(JSON.parse(mapText(mapOf(document))), shown);
  });

  it('leaves out what was not pushed', () => {
    const least = edited(edited(VALID_MAP, 'generated_at', undefined), 'hints_expire_at', undefined);
    assert.deepEqual(JSON.parse(mapText(mapOf(least))), least);
  });
});
