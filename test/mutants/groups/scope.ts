// How far a request may go: the three scopes, the countries, and the scope that a request asks for.

import { type Mutant, mutantsOf } from '../mutant.ts';

const SCOPE_TESTS = ['test/site/scope.test.ts', 'test/http/scope.test.ts'];

const SCOPE: readonly Mutant[] = mutantsOf('src/site/scope.ts', SCOPE_TESTS, {
  'a country includes the EU': [
    'return site.country === scope.country;',
    'return site.country === scope.country || site.eu;',
  ],
  'a country includes every site': ['return site.country === scope.country;', 'return true;'],
  'the EU includes every site': ['return site.eu;', 'return true;'],
  'the EU includes the sites outside': ['return site.eu;', 'return !site.eu;'],
  'everywhere is the EU': ["case 'all':\n      return true;", "case 'all':\n      return site.eu;"],
  'eu is the EU': ["header === 'EU'", "header.toUpperCase() === 'EU'"],
  'ALL is all': ["header === 'all'", "header.toLowerCase() === 'all'"],
  'an empty header is all': ["header === 'all'", "header === 'all' || header === ''"],
  'an unknown country is all': [
    "country === undefined ? undefined : { kind: 'country', country }",
    "country === undefined ? { kind: 'all' } : { kind: 'country', country }",
  ],
  'the first of two header lines counts': ["header === 'EU'", "header.split(', ')[0] === 'EU'"],
  'a country needs no prefix': ['if (!header.startsWith(COUNTRY_PREFIX)) return undefined;', ''],
  'the default is the EU': [
    "undefined ? undefined : { kind: 'country', country: site.country }",
    "undefined ? undefined : { kind: 'eu' }",
  ],
  'the default without a map is all': ['site === undefined ? undefined', "site === undefined ? { kind: 'all' }"],
});

const COUNTRY: readonly Mutant[] = mutantsOf('src/site/country.ts', ['test/site/country.test.ts'], {
  'the United Kingdom is UK': ['UA UG UM', 'UA UG UK UM'],
  'the EU is a country': ['EC EE EG', 'EC EE EG EU'],
  'Kosovo has an assigned code': [' WS YE', ' WS XK YE'],
  'one country is missing': ['FR GA', 'GA'],
  'countries may be in lower case': ['ASSIGNED.has(text)', 'ASSIGNED.has(text.toUpperCase())'],
  'a member of the EU is missing': [' FI FR GR', ' FI GR'],
});

const ASKED_SCOPE: readonly Mutant[] = mutantsOf(
  'src/http/entrance.ts',
  ['test/http/scope.test.ts', 'test/http/order.test.ts', 'test/http/feature-off.test.ts', 'test/http/refusal.test.ts'],
  {
    'a bad scope is the default': [
      'if (scope === undefined) {\n    throw',
      'if (scope === undefined) {\n    return ownScope(arrival.map.sites.get(ports.redirect.siteId));\n    throw',
    ],
    'a request without a scope goes everywhere': [
      'if (header === null) return ownScope(arrival.map.sites.get(ports.redirect.siteId));',
      "if (header === null) return { kind: 'all' };",
    ],
    'a second map is taken for the scope of a fallback': [
      'return ownScope(arrival.map.sites',
      'return ownScope(ports.redirect.maps.current().sites',
    ],
    'an empty scope was not sent': ['header === null', "header === null || header === ''"],
    'the scope is read with the feature off': [
      ['if (ports.redirect === undefined) return undefined;', ''],
      ['arrival.map.sites.get(ports.redirect.siteId)', 'undefined'],
    ],
    'a request without a scope goes nowhere': [
      'if (header === null) return ownScope(arrival.map.sites.get(ports.redirect.siteId));',
      'if (header === null) return undefined;',
    ],
  },
);

export const SCOPES: readonly Mutant[] = [...SCOPE, ...COUNTRY, ...ASKED_SCOPE];
