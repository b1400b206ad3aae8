import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { parseCountryCode } from '../../src/site/country.ts';
import { formatScope, ownScope, parseScope, type Scope, scopeIncludes } from '../../src/site/scope.ts';
import { mapOf, siteId, VALID_MAP } from './map-document.ts';

const FIXTURE = mapOf(VALID_MAP);

function included(header: string): string {
  const scope = parseScope(header);
  assert.ok(scope !== undefined, header);
  const sites = [...FIXTURE.sites.values()].filter((site) => scopeIncludes(scope, site));
  return sites.map((site) => site.id).join(' ');
}

describe('parseScope()', () => {
  const REFUSED = [
    ...['eu', 'Eu', 'ALL', 'All', '', 'country:', 'country:fr', 'country:FRA', 'country:UK', 'country:XK'],
    ...['country:EU', 'country:ZZ', 'COUNTRY:FR', 'country: FR', 'FR', 'EU,all', 'EU, all', 'EU;x', 'все'],
    ...[' EU', 'EU ', 'country:FR ', 'country:FR,DE', 'country', '*', 'all\u0000', '__proto__', 'ЕU'],
  ];
  for (const header of REFUSED) {
    it(`refuses ${JSON.stringify(header)} (R-065, D-20)`, () => assert.equal(parseScope(header), undefined));
  }

  for (const header of ['all', 'EU', 'country:FR', 'country:US', 'country:AQ']) {
    it(`reads "${header}", and formatScope() writes it back`, () => {
      const scope = parseScope(header);
      assert.ok(scope !== undefined);
      assert.equal(formatScope(scope), header);
    });
  }

  const headers = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...'allEUcountry:FRDE ,;') }),
    fc.string({ minLength: 2, maxLength: 2, unit: fc.constantFrom(...'FRDEUSX') }).map((code) => `country:${code}`),
  );
  it('never widens: what it takes is what it writes (P-11)', () =>
    fc.assert(
      fc.property(headers, (header) => {
        const scope = parseScope(header);
        assert.ok(scope === undefined || formatScope(scope) === header);
      }),
      { numRuns: 1_000 },
    ));
});

describe('scopeIncludes()', () => {
  it('takes sites of exactly the country (R-060)', () => assert.equal(included('country:DE'), 'site-de-1'));
  it('takes sites that the map counts as in the EU (R-061)', () => {
    assert.equal(included('EU'), 'site-fr-1 site-fr-2 site-de-1');
  });
  it('takes every site (R-062)', () => assert.equal(included('all'), 'site-fr-1 site-fr-2 site-de-1 site-us-1'));
  it('takes none in a country without sites (D-20)', () => assert.equal(included('country:AQ'), ''));

  it('goes by `eu` of the map, not by the country (D-24)', () => {
    const country = parseCountryCode('US');
    assert.ok(country !== undefined);
    const eu: Scope = { kind: 'eu' };
    assert.ok(scopeIncludes(eu, { country, eu: true }));
    assert.ok(!scopeIncludes(eu, { country, eu: false }));
  });
});

describe('ownScope()', () => {
  it('is the country of this site (R-063)', () => {
    const scope = ownScope(FIXTURE.sites.get(siteId('site-de-1')));
    assert.ok(scope !== undefined);
    assert.equal(formatScope(scope), 'country:DE');
  });
  it('is undefined when the map does not list this site (R-068)', () => assert.equal(ownScope(undefined), undefined));
});
