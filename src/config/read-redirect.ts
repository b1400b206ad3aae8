// Cross-site redirect as a whole: on with a site ID, and then nothing it needs may be missing; off without one, and then
// secrets are a mistake. All of it is read at start only; rotation is a rolling restart (D-54).

import { type Keyring, parseSecretsFile } from '../redirect/keyring.ts';
import type { AllowedDomain } from '../site/allowed-domain.ts';
import type { SiteId } from '../site/site.ts';
import { nameOf, quote } from './setting.ts';
import { SETTINGS } from './settings.ts';
import type { SettingsReader } from './settings-reader.ts';

export interface RedirectConfig {
  readonly siteId: SiteId;
  readonly keyring: Keyring;
  /** Whole milliseconds, 1 to 3,600,000. */
  readonly tokenTtlMs: number;
  /** At least one. */
  readonly allowedDomains: readonly AllowedDomain[];
}

/** Above it a stolen URL stays useful for long, and the ledger grows (D-44). */
const TTL_WARN_ABOVE_MS = 300_000;

/** Whether a site ID was given, valid or not. */
export function isRedirectWanted(reader: SettingsReader): boolean {
  const given = reader.given(SETTINGS.siteId);
  return given !== undefined && given.texts[0] !== '';
}

/** Undefined when the feature is off, or something was refused. */
export function readRedirect(reader: SettingsReader): RedirectConfig | undefined {
  const siteId = reader.readOptional(SETTINGS.siteId);
  const keyring = readKeyring(reader);
  const tokenTtlMs = reader.read(SETTINGS.redirectTokenTtl);
  const allowedDomains = reader.readOptional(SETTINGS.redirectAllowedDomains);
  refuseIncomplete(reader);
  if (siteId === undefined || keyring === undefined || allowedDomains === undefined) return undefined;
  warnOfRisks(reader, tokenTtlMs, allowedDomains);
  return { siteId, keyring, tokenTtlMs, allowedDomains };
}

function readKeyring(reader: SettingsReader): Keyring | undefined {
  const secrets = reader.readOptional(SETTINGS.redirectSecrets);
  if (secrets === undefined || 'keyring' in secrets) return secrets?.keyring;
  const text = reader.readFile(SETTINGS.redirectSecrets, secrets.file, { isPrivate: true });
  if (text === undefined) return undefined;
  const keyring = parseSecretsFile(text);
  if (keyring.ok) return keyring.value;
  reader.refuseFile(SETTINGS.redirectSecrets, keyring.fault, secrets.file);
  return undefined;
}

function refuseIncomplete(reader: SettingsReader): void {
  const { siteId, redirectSecrets, redirectAllowedDomains } = SETTINGS;
  const hasSecrets = reader.given(redirectSecrets) !== undefined;
  if (!isRedirectWanted(reader)) {
    if (hasSecrets) reader.refuse(siteId, `required with ${nameOf(redirectSecrets)}`);
    return;
  }
  for (const needed of [redirectSecrets, redirectAllowedDomains]) {
    if (reader.given(needed) === undefined) reader.refuse(needed, `required with ${nameOf(siteId)}`);
  }
}

function warnOfRisks(reader: SettingsReader, tokenTtlMs: number, domains: readonly AllowedDomain[]): void {
  if (tokenTtlMs > TTL_WARN_ABOVE_MS)
    reader.warn(nameOf(SETTINGS.redirectTokenTtl), 'above 5m a stolen URL stays useful for long');
  for (const domain of domains) {
    const hasOneLabel = domain.lastIndexOf('.') === 0;
    if (hasOneLabel)
      reader.warn(nameOf(SETTINGS.redirectAllowedDomains), `${quote(domain)} lets in a whole top-level domain`);
  }
}
