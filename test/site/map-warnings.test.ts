import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { warnAboutMap } from '../../src/site/map-warnings.ts';
import { EMPTY_MAP } from '../../src/site/sibling-map.ts';
import { edited, HINTS_EXPIRE_AT_MS, type Json, mapOf, VALID_MAP } from './map-document.ts';

const warnings = (document: Json, nowMs = HINTS_EXPIRE_AT_MS) => warnAboutMap(mapOf(document), nowMs);

describe('warnAboutMap()', () => {
  it('has nothing to say about the fixture and the empty map', () => {
    assert.deepEqual(warnings(VALID_MAP), []);
    assert.deepEqual(warnAboutMap(EMPTY_MAP, 0), []);
  });

  it('warns when eu contradicts the list of members, in either direction (D-24)', () => {
    const outside = edited(VALID_MAP, 'sites[3].eu', true);
    assert.deepEqual(warnings(outside), ['Site "site-us-1" says eu: true, but US is no member of the EU']);
    assert.deepEqual(warnings(edited(outside, 'sites[1].eu', false)), [
      'Site "site-fr-2" says eu: false, but FR is a member of the EU, and 1 more like it',
    ]);
  });

  it('warns when hints stay in force for more than 1h (T-30)', () => {
    const hourBefore = HINTS_EXPIRE_AT_MS - 3_600_000;
    assert.deepEqual(warnings(VALID_MAP, hourBefore), []);
    assert.deepEqual(warnings(VALID_MAP, hourBefore - 1), [
      'Hints stay in force until 2026-11-03T12:01:00.000Z, more than 1h from now',
    ]);
    assert.deepEqual(warnings(edited(VALID_MAP, 'hints_expire_at', undefined), 0), []);
  });
});
