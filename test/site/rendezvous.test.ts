import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { homeSet, outranks, sessionOrder } from '../../src/site/rendezvous.ts';
import type { SiteId } from '../../src/site/site.ts';
import vectors from '../vectors/home-set.json' with { type: 'json' };
import { siteId } from './map-document.ts';

const bytes = (text: string) => Buffer.from(text);
const named = (...ids: readonly string[]) => ids.map(siteId);
const FIVE = named('site-de-1', 'site-es-1', 'site-fr-1', 'site-fr-2', 'site-us-1');

/** Sites of different number and name, in any order. */
const siteLists = fc
  .uniqueArray(fc.nat({ max: 50 }), { minLength: 3, maxLength: 8 })
  .map((numbers) => numbers.map((number) => siteId(`site-${number}`)));
const names = fc.string({ unit: 'grapheme' });

/** Of `count` sessions of one key, those whose first site differs between the two lists of sites, but not from `gone`. */
function movedNeedlessly(keyId: string, before: readonly SiteId[], after: readonly SiteId[], gone: SiteId): number {
  const [homeBefore, homeAfter] = [homeSet(keyId, 'm', before), homeSet(keyId, 'm', after)];
  const sessions = Array.from({ length: 40 }, (_, index) => bytes(`conv-${index}`));
  return sessions.filter((session) => {
    const [was] = sessionOrder(keyId, session, homeBefore);
    const [is] = sessionOrder(keyId, session, homeAfter);
    return was !== gone && is !== was;
  }).length;
}

/** The share of sessions that move although their site stays, when the nth site of the home set leaves. */
function movedShare(siteCount: number, nth: number): number {
  const sites = Array.from({ length: siteCount }, (_, index) => siteId(`site-${index}`));
  let [moved, stayed] = [0, 0];
  for (let key = 0; key < 100; key++) {
    const keyId = `key-${key}`;
    const home = homeSet(keyId, 'm', sites);
    const gone = home[nth] ?? sites.find((site) => !home.includes(site));
    assert.ok(gone !== undefined);
    moved += movedNeedlessly(
      keyId,
      sites,
      sites.filter((site) => site !== gone),
      gone,
    );
    stayed += nth < 2 ? 20 : 40;
  }
  return moved / stayed;
}

describe('homeSet() and sessionOrder()', () => {
  for (const { keyId, model, digests, home, sessions } of vectors.cases) {
    const sites = Object.keys(digests);
    it(`agree with the vectors for "${keyId}", "${model}" and ${sites.length} sites (5.4)`, () => {
      const found = homeSet(keyId, model, named(...sites));
      assert.equal(found.join(' '), home);
      for (const { session, order } of sessions) {
        assert.equal(sessionOrder(keyId, Buffer.from(session, 'hex'), found).join(' '), order);
      }
    });
  }

  const PUBLISHED = [
    ['key-abc123', 'llama-3-70b', 'es us', 'es es es es us es'],
    ['key-abc123', 'bge-m3', 'es us', 'es es es es us es'],
    ['', 'llama-3-70b', 'us de', 'us de us de de de'],
    ['ab', 'c', 'de us', 'de de us de de de'],
    ['a', 'bc', 'de fr', 'fr de fr fr fr fr'],
    ['key-é', '模型', 'de fr', 'de de fr de fr de'],
  ] as const;
  for (const [keyId, model, home, firsts] of PUBLISHED) {
    it(`agree with the table of the requirements for "${keyId}", "${model}" (5.4)`, () => {
      const found = homeSet(keyId, model, FIVE);
      const sessions = [...['', 'conv-1', 'conv-2', 'conv-3', 'conv-4'].map(bytes), Buffer.from('c3a9', 'hex')];
      const country = (site: SiteId | undefined) => site?.split('-')[1];
      assert.equal(found.map(country).join(' '), home);
      assert.equal(sessions.map((session) => country(sessionOrder(keyId, session, found)[0])).join(' '), firsts);
    });
  }
});

describe('homeSet()', () => {
  it('is of two, of one or empty, as there are sites (R-041)', () => {
    assert.deepEqual(homeSet('k', 'm', []), []);
    assert.deepEqual(homeSet('k', 'm', named('a')), ['a']);
    assert.deepEqual(new Set(homeSet('k', 'm', named('a', 'b'))), new Set(['a', 'b']));
    assert.equal(homeSet('k', 'm', FIVE).length, 2);
  });

  it('does not depend on the order of the sites (R-040)', () =>
    fc.assert(
      fc.property(names, names, siteLists, (keyId, model, sites) => {
        assert.deepEqual(homeSet(keyId, model, sites.toSorted()), homeSet(keyId, model, sites));
      }),
      { numRuns: 200 },
    ));

  it('keeps its other member when a member leaves, and both when another site leaves (P-09)', () =>
    fc.assert(
      fc.property(names, names, siteLists, (keyId, model, sites) => {
        const home = homeSet(keyId, model, sites);
        for (const gone of sites) {
          const after = homeSet(
            keyId,
            model,
            sites.filter((site) => site !== gone),
          );
          for (const stays of home.filter((site) => site !== gone)) assert.ok(after.includes(stays));
        }
      }),
      { numRuns: 200 },
    ));

  it('spreads keys evenly over ten sites (5.3)', () => {
    const sites = Array.from({ length: 10 }, (_, index) => siteId(`site-${index}`));
    const counts = new Map<SiteId, number>();
    for (let key = 0; key < 10_000; key++) {
      for (const site of homeSet(`key-${key}`, 'm', sites)) counts.set(site, (counts.get(site) ?? 0) + 1);
    }
    // 2,000 expected, standard deviation 40.
    for (const [site, count] of counts) assert.ok(Math.abs(count - 2_000) < 200, `${site}: ${count}`);
    assert.equal(counts.size, 10);
  });
});

describe('outranks()', () => {
  const ranked = (id: string, digest: string) => ({ site: siteId(id), digest });
  it('ranks the larger digest higher, and of equal ones the smaller site ID (5.1)', () => {
    assert.ok(outranks(ranked('b', 'ff'), ranked('a', '0f')));
    assert.ok(!outranks(ranked('a', '9f'), ranked('b', 'a0')));
    assert.ok(outranks(ranked('B', '10'), ranked('a', '10')));
    assert.ok(!outranks(ranked('a', '10'), ranked('B', '10')));
  });
});

describe('sessionOrder()', () => {
  it('leaves a home set of one or none as it is (R-041)', () => {
    for (const home of [[], named('a')]) assert.deepEqual(sessionOrder('k', bytes('conv-1'), home), home);
  });

  it('splits the sessions of a key about evenly (R-046)', () => {
    const home = homeSet('key-1', 'm', FIVE);
    const first = Array.from({ length: 10_000 }, (_, index) => sessionOrder('key-1', bytes(`conv-${index}`), home)[0]);
    const share = first.filter((site) => site === home[0]).length / 10_000;
    assert.ok(Math.abs(share - 0.5) < 0.025, String(share));
  });

  it('orders by the bytes of the session, not by a text made of them (D-12)', () => {
    const home = homeSet('key-1', 'm', FIVE);
    const orders = Array.from({ length: 128 }, (_, byte) => sessionOrder('key-1', Uint8Array.of(0x80 + byte), home)[0]);
    assert.equal(new Set(orders).size, 2);
  });

  for (const siteCount of [3, 5, 8]) {
    it(`moves no session needlessly when the second of ${siteCount} sites leaves, nor when one outside does (R-047)`, () => {
      assert.equal(movedShare(siteCount, 1), 0);
      assert.equal(movedShare(siteCount, 2), 0);
    });
    it(`moves half of the others when the first of ${siteCount} sites leaves (R-047, D-11)`, () => {
      const share = movedShare(siteCount, 0);
      assert.ok(Math.abs(share - 0.5) < 0.08, String(share));
    });
  }

  it('moves no session needlessly when one of two sites leaves (R-047)', () => {
    assert.equal(movedShare(2, 0), 0);
    assert.equal(movedShare(2, 1), 0);
  });
});
