import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EMPTY_MAP } from '../../src/site/sibling-map.ts';
import { SiblingMapStore } from '../../src/site/sibling-map-store.ts';
import { edited, mapOf, RawJson, siteId, VALID_MAP } from './map-document.ts';

const version = (digits: string) => mapOf(edited(VALID_MAP, 'version', new RawJson(digits)));
const NO_NEWS = { ok: true, value: { changedSilently: false } };

describe('SiblingMapStore', () => {
  it('holds the empty map before the first push (R-171)', () => {
    assert.equal(new SiblingMapStore().current(), EMPTY_MAP);
  });

  for (const digits of ['0', '1', '18446744073709551615']) {
    it(`takes version ${digits} as the first push, and as no replay (R-168)`, () => {
      const maps = new SiblingMapStore();
      const map = version(digits);
      assert.deepEqual(maps.replace(map), NO_NEWS);
      assert.equal(maps.current(), map);
    });
  }

  const LOWER = [
    ['5', '4'],
    ['1', '0'],
    ['9007199254740993', '9007199254740992'],
    ['18446744073709551615', '18446744073709551614'],
  ] as const;
  for (const [held, pushed] of LOWER) {
    it(`refuses version ${pushed} after ${held}, keeps the map and names the version held (R-166, D-58)`, () => {
      const maps = new SiblingMapStore();
      const map = version(held);
      maps.replace(map);
      assert.deepEqual(maps.replace(version(pushed)), { ok: false, fault: { currentVersion: BigInt(held) } });
      assert.equal(maps.current(), map);
    });
  }

  it('takes a higher version and replaces the whole map (R-162)', () => {
    const maps = new SiblingMapStore();
    maps.replace(version('5'));
    const sites = edited(edited(VALID_MAP, 'placements', []), 'sites', VALID_MAP.sites.slice(0, 1));
    assert.deepEqual(maps.replace(mapOf(edited(sites, 'version', 6))), NO_NEWS);
    assert.equal(maps.current().sites.has(siteId('site-de-1')), false);
    assert.deepEqual(maps.current().placedSites('m', 'chat'), []);
  });

  it('takes an equal version as a replay, applies it and tells whether it differs (R-167, D-59)', () => {
    const maps = new SiblingMapStore();
    maps.replace(version('5'));
    const same = version('5');
    assert.deepEqual(maps.replace(same), NO_NEWS);
    assert.equal(maps.current(), same);
    const other = mapOf(edited(edited(VALID_MAP, 'version', 5), 'placements[0].hold_budget', '2s'));
    assert.deepEqual(maps.replace(other), { ok: true, value: { changedSilently: true } });
    assert.equal(maps.current(), other);
  });

  it('takes a second version 0 as a replay', () => {
    const maps = new SiblingMapStore();
    maps.replace(version('0'));
    assert.deepEqual(maps.replace(version('0')), NO_NEWS);
  });

  it('leaves a map that a request holds as it was (R-163)', () => {
    const maps = new SiblingMapStore();
    maps.replace(version('5'));
    const snapshot = maps.current();
    maps.replace(mapOf(edited(edited(VALID_MAP, 'version', 6), 'placements', [])));
    assert.equal(snapshot.version, 5n);
    assert.equal(snapshot.placedSites('m', 'chat').length, 3);
  });
});
