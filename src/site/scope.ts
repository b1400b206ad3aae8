// How far a request may be redirected: within a country, within the EU, or anywhere. What cannot be read as one of the
// three is refused and never widened (product page, "Scope").

import { type CountryCode, parseCountryCode } from './country.ts';
import type { Site } from './site.ts';

export type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'eu' }
  | { readonly kind: 'country'; readonly country: CountryCode };

const COUNTRY_PREFIX = 'country:';

/**
 * Reads the `X-Hivenet-Scope` header: exactly `all`, `EU`, or `country:` and an assigned code. Case, blanks, an empty
 * value and two header lines (which arrive as `EU, all`) make it undefined (D-20).
 */
export function parseScope(header: string): Scope | undefined {
  if (header === 'all') return { kind: 'all' };
  if (header === 'EU') return { kind: 'eu' };
  if (!header.startsWith(COUNTRY_PREFIX)) return undefined;
  const country = parseCountryCode(header.slice(COUNTRY_PREFIX.length));
  return country === undefined ? undefined : { kind: 'country', country };
}

/** The header value that `parseScope` reads as this scope. */
export function formatScope(scope: Scope): string {
  switch (scope.kind) {
    case 'all':
      return 'all';
    case 'eu':
      return 'EU';
    case 'country':
      return `${COUNTRY_PREFIX}${scope.country}`;
  }
}

/** Whether the site lies inside the scope, by what the map says of it. */
export function scopeIncludes(scope: Scope, site: Pick<Site, 'country' | 'eu'>): boolean {
  switch (scope.kind) {
    case 'all':
      return true;
    case 'eu':
      return site.eu;
    case 'country':
      return site.country === scope.country;
  }
}

/**
 * The scope of a request that asks for none: the country of this site. Undefined when the map does not list this
 * site; such a request is not redirected.
 */
export function ownScope(site: Site | undefined): Scope | undefined {
  return site === undefined ? undefined : { kind: 'country', country: site.country };
}
