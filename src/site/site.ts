// A site is one deployment of the router under the shared hostname, as the sibling map describes it.

import type { CountryCode } from './country.ts';

/** 1 to 64 of `A-Z a-z 0-9 . _ -`, case-sensitive (D-52). */
export type SiteId = string & { readonly brand: 'SiteId' };

export interface Site {
  readonly id: SiteId;
  /** `https://host` or `https://host:port`, normalised: lower case, no `:443`, no trailing `/`. */
  readonly url: string;
  readonly country: CountryCode;
  /** Whether the map counts the site as in the EU; the map decides, not the country (D-24). */
  readonly eu: boolean;
}

const FORM = /^[A-Za-z0-9._-]{1,64}$/;

/** One rule for `--site-id` and for the map: the ID goes into tokens, metric labels and log lines. */
export function parseSiteId(text: string): SiteId | undefined {
  return isSiteId(text) ? text : undefined;
}

function isSiteId(text: string): text is SiteId {
  return FORM.test(text);
}
