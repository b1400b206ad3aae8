// The URL of a site: an https origin of ours, and nothing else. Clients follow it with their API key at hand, so it is read
// by a grammar of our own; the URL parsers of the runtimes repair blanks, backslashes, bare `@` and full-width letters.

import { fault, ok, type Result } from '../lib/result.ts';
import { type AllowedDomain, isBelow } from './allowed-domain.ts';
import { isHostName } from './host-name.ts';

const SCHEME = /^[Hh][Tt][Tt][Pp][Ss]:\/\/(?!\/)/;
const PORT = /^[1-9][0-9]{0,4}$/;
const PORT_MAX = 65_535;
const HTTPS_PORT = '443';

/**
 * Reads `https://host[:port][/]`, any case, and answers it in lower case without `:443` and `/` (2.7). The host is a DNS
 * name below one of `domains`. The fault is the first broken rule.
 */
export function parseSiteUrl(text: string, domains: readonly AllowedDomain[]): Result<string, string> {
  const scheme = SCHEME.exec(text);
  if (scheme === null) return fault('not an absolute https:// URL');
  const authority = text.slice(scheme[0].length).replace(/\/$/, '');
  if (/[/?#\\]/.test(authority)) return fault('has a path, query or fragment');
  if (authority.includes('@')) return fault('has credentials');
  const colon = authority.indexOf(':');
  const rawHost = colon === -1 ? authority : authority.slice(0, colon);
  const port = colon === -1 ? HTTPS_PORT : authority.slice(colon + 1);
  if (!isHostName(rawHost)) return fault('host is not a DNS name');
  if (!PORT.test(port) || Number(port) > PORT_MAX) return fault('port is not a number from 1 to 65535');
  const host = rawHost.toLowerCase();
  if (!isBelow(host, domains)) return fault('host is not below an allowed domain');
  return ok(port === HTTPS_PORT ? `https://${host}` : `https://${host}:${port}`);
}
