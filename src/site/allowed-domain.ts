// The host suffixes that site URLs must end with. They come from the router's own settings and never from the map, so a
// stolen admin key cannot send clients and their API keys to a foreign host (T-27).

import { fault, ok, type Result } from '../lib/result.ts';
import { isHostName } from './host-name.ts';

/** A host suffix in lower case with a leading dot, such as `.inference.example.com`. */
export type AllowedDomain = string & { readonly brand: 'AllowedDomain' };

/**
 * Reads one trimmed entry of `--redirect-allowed-domains`: a dot and a DNS name, any case (2.7). The fault is the broken
 * rule.
 */
export function parseAllowedDomain(text: string): Result<AllowedDomain, string> {
  if (!text.startsWith('.')) return fault('does not start with "."');
  if (!isHostName(text.slice(1))) return fault('not a DNS name after the "."');
  // Lowered after the check, never before: the Kelvin sign would become a "k".
  return ok(text.toLowerCase() as AllowedDomain);
}

/** Whether the host lies below one of the domains. Both are lower case; the leading dot keeps to whole labels. */
export function isBelow(host: string, domains: readonly AllowedDomain[]): boolean {
  return domains.some((domain) => host.endsWith(domain) && host.length > domain.length);
}
