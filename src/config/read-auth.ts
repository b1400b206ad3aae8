// Who may ask and who may administer. Both fail closed: whoever can push API keys and a sibling map owns the site's
// clients, so without admin keys the router starts only when its operator says in so many words that it may.

import type { AdminAuth } from '../auth/admin.ts';
import { isRedirectWanted } from './read-redirect.ts';
import { nameOf, quote } from './setting.ts';
import { SETTINGS } from './settings.ts';
import type { SettingsReader } from './settings-reader.ts';

export type ClientMode = 'none' | 'dynamic';

/** Undefined for `api-key`, which would take its keys from an auth file. */
export function readClientMode(reader: SettingsReader): ClientMode | undefined {
  const mode = reader.read(SETTINGS.authMode);
  if (mode !== 'api-key') return mode;
  const rule = isRedirectWanted(reader)
    ? 'static keys have no key ID that a sibling could resolve'
    : 'static keys of an auth file are not supported yet';
  reader.refuse(SETTINGS.authMode, rule, quote(mode));
  return undefined;
}

/** Undefined when refused (api.md §11). Keys win over the permission to go without. */
export function readAdmin(reader: SettingsReader, clientMode: ClientMode | undefined): AdminAuth | undefined {
  const { adminApiKeys, allowInsecureAdmin, authMode } = SETTINGS;
  const keys = reader.readOptional(adminApiKeys);
  const mayBeInsecure = reader.read(allowInsecureAdmin);
  if (keys !== undefined) {
    warnOfShortKeys(reader);
    return { mode: 'api-key', keys };
  }
  if (reader.given(adminApiKeys) !== undefined) return undefined; // bad keys, reported as they were read
  if (clientMode === 'dynamic') {
    reader.refuse(adminApiKeys, `required with ${nameOf(authMode)} "dynamic", whose keys come in through /admin`);
    return undefined;
  }
  if (!mayBeInsecure) {
    reader.refuse(adminApiKeys, `required, unless ${nameOf(allowInsecureAdmin)} is true`);
    return undefined;
  }
  // Loud, for the sibling map decides where clients take their prompts and keys (D-56).
  reader.warn(
    nameOf(allowInsecureAdmin),
    'ADMIN IS OPEN, everyone who reaches this router may replace its API keys and its sibling map',
  );
  return { mode: 'insecure' };
}

/** Shorter ones can be tried out from outside: nothing limits how often. */
const ADMIN_KEY_SHORT = 16;

function warnOfShortKeys(reader: SettingsReader): void {
  const text = reader.given(SETTINGS.adminApiKeys)?.texts.join() ?? '';
  const lengths = text.split(',').map((key) => key.trim().length);
  if (lengths.some((length) => length > 0 && length < ADMIN_KEY_SHORT)) {
    reader.warn(nameOf(SETTINGS.adminApiKeys), `a key shorter than ${ADMIN_KEY_SHORT} characters can be guessed`);
  }
}
