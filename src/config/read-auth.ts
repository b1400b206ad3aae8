// Who may ask and who may administer. Both fail closed: whoever can push API keys and a sibling map owns the site's
// clients, so without admin keys the router starts only when its operator says in so many words that it may.

import type { AdminAuth } from '../auth/admin.ts';
import type { ApiKey } from '../auth/api-key.ts';
import type { ClientMode } from '../auth/auth-file-fields.ts';
import { type AuthFile, STATIC_KEYS_RULE } from './read-auth-file.ts';
import { isRedirectWanted } from './read-redirect.ts';
import { nameOf, quote } from './setting.ts';
import { SETTINGS } from './settings.ts';
import type { SettingsReader } from './settings-reader.ts';

export interface AuthConfig {
  readonly mode: ClientMode;
  /** Undefined: nothing to reload. */
  readonly file: string | undefined;
  /** At least one in mode `api-key`, none in the others. */
  readonly keys: readonly ApiKey[];
}

/** Undefined when refused. */
export function readClientAuth(reader: SettingsReader, file: AuthFile | 'none' | 'refused'): AuthConfig | undefined {
  if (file === 'refused') return undefined;
  if (file !== 'none') return { mode: file.mode, file: file.path, keys: file.keys };
  const mode = reader.read(SETTINGS.authMode);
  if (mode !== 'api-key') return { mode, file: undefined, keys: [] };
  const rule = isRedirectWanted(reader)
    ? STATIC_KEYS_RULE
    : `needs keys, which are given by ${nameOf(SETTINGS.authConfigFile)}`;
  reader.refuse(SETTINGS.authMode, rule, quote(mode));
  return undefined;
}

/** What asks for admin keys besides the default. */
export interface AdminNeeds {
  /** Undefined when it was refused. */
  readonly clientMode: ClientMode | undefined;
  readonly file: AuthFile | 'none' | 'refused';
}

/** Undefined when refused (api.md §11). Keys win over the permission to go without. */
export function readAdmin(reader: SettingsReader, { clientMode, file }: AdminNeeds): AdminAuth | undefined {
  const { adminApiKeys, allowInsecureAdmin } = SETTINGS;
  const keys = reader.readOptional(adminApiKeys);
  const mayBeInsecure = reader.read(allowInsecureAdmin);
  if (keys !== undefined) {
    warnOfShortKeys(reader);
    return { mode: 'api-key', keys };
  }
  if (reader.given(adminApiKeys) !== undefined) return undefined; // bad keys, reported as they were read
  const need = whyNeeded(clientMode, file, mayBeInsecure);
  if (need !== undefined) {
    reader.refuse(adminApiKeys, `required${need}`);
    return undefined;
  }
  // Loud, for the sibling map decides where clients take their prompts and keys (D-56).
  reader.warn(
    nameOf(allowInsecureAdmin),
    'ADMIN IS OPEN, everyone who reaches this router may replace its API keys and its sibling map',
  );
  return { mode: 'insecure' };
}

function whyNeeded(mode: ClientMode | undefined, file: AdminNeeds['file'], mayBeInsecure: boolean): string | undefined {
  const { authMode, authConfigFile } = SETTINGS;
  const read = typeof file === 'object' ? file : undefined;
  const inFile = read && `in ${nameOf(authConfigFile)} ${quote(read.path)}`;
  if (mode === 'dynamic') {
    const said = inFile === undefined ? `with ${nameOf(authMode)} "dynamic"` : `by api.mode "dynamic" ${inFile}`;
    return ` ${said}: API keys come in through /admin`;
  }
  if (read?.wantsAdminKeys === true) return ` by admin.mode ${inFile}`;
  return mayBeInsecure ? undefined : `, unless ${nameOf(SETTINGS.allowInsecureAdmin)} is true`;
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
