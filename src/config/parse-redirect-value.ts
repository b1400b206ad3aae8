// The values of cross-site redirect, each by the parser of the room that owns it. They are read whether or not the
// feature is on: a bad one refuses to start in either case.

import { fault, ok, type Result } from '../lib/result.ts';
import { tellFaults } from '../lib/tell-faults.ts';
import { type Keyring, parseSecretsVariable } from '../redirect/keyring.ts';
import { type AllowedDomain, parseAllowedDomain } from '../site/allowed-domain.ts';
import { parseSiteId, type SiteId } from '../site/site.ts';
import { parsePath } from './parse-value.ts';
import type { Origin } from './setting.ts';

/** Empty turns the feature off, also by flag over a variable that turns it on. */
export function parseOptionalSiteId(text: string): Result<SiteId | undefined, string> {
  if (text === '') return ok(undefined);
  const siteId = parseSiteId(text);
  return siteId === undefined ? fault('not 1 to 64 of A-Z, a-z, 0-9, ".", "_" and "-"') : ok(siteId);
}

/** The flag names a file that is still to be read; the variable holds the secrets themselves. */
type SecretsSetting = { readonly file: string } | { readonly keyring: Keyring };

/** The fault tells positions and IDs of entries, never a secret. */
export function parseSecrets(text: string, origin: Origin): Result<SecretsSetting, string> {
  if (origin === 'flag') {
    const path = parsePath(text);
    return path.ok ? ok({ file: path.value }) : path;
  }
  const keyring = parseSecretsVariable(text);
  return keyring.ok ? ok({ keyring: keyring.value }) : keyring;
}

/** Comma-separated suffixes, each trimmed; one bad entry refuses the whole list. The fault tells all of them. */
export function parseAllowedDomains(text: string): Result<readonly AllowedDomain[], string> {
  const domains: AllowedDomain[] = [];
  const faults: string[] = [];
  for (const [index, entry] of text.split(',').entries()) {
    const domain = parseAllowedDomain(entry.trim());
    if (domain.ok) domains.push(domain.value);
    else faults.push(`entry ${index + 1}: ${domain.fault}`);
  }
  return faults.length === 0 ? ok(domains) : fault(tellFaults(faults, (line) => line).join('; '));
}
