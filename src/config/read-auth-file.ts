// The auth file at start and at a reload. What it says about who may ask wins over the setting; that static keys and
// cross-site redirect do not go together holds at both times.

import type { ApiKey } from '../auth/api-key.ts';
import { type AuthDocument, parseAuthFile } from '../auth/auth-document.ts';
import type { ClientMode } from '../auth/auth-file-fields.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import { isRedirectWanted } from './read-redirect.ts';
import { nameOf, quote } from './setting.ts';
import { SETTINGS } from './settings.ts';
import { type ReadFile, SettingsReader } from './settings-reader.ts';

/** Why static keys and a site ID exclude each other. */
export const STATIC_KEYS_RULE = `not with ${nameOf(SETTINGS.siteId)}, as static keys have no key ID that a sibling could resolve`;

/** A file that was read, and what it says. */
export interface AuthFile extends AuthDocument {
  readonly path: string;
}

/** What a reload cannot change: it is decided when the router starts. */
export interface AuthAtStart {
  readonly mode: ClientMode;
  readonly isRedirectOn: boolean;
  readonly hasAdminKeys: boolean;
}

/** `none` without a setting; `refused` when it has been reported what is wrong. */
export function readAuthFile(reader: SettingsReader): AuthFile | 'none' | 'refused' {
  const path = reader.readOptional(SETTINGS.authConfigFile);
  if (path === undefined) return 'none';
  const document = readDocument(reader, path);
  if (document === undefined) return 'refused';
  if (document.mode === 'api-key' && isRedirectWanted(reader)) {
    reader.refuseFile(SETTINGS.authConfigFile, `api.mode api-key: ${STATIC_KEYS_RULE}`, path);
  }
  if (reader.given(SETTINGS.authMode) !== undefined && reader.readOptional(SETTINGS.authMode) !== document.mode) {
    reader.warn(nameOf(SETTINGS.authMode), `ignored, the auth file says ${quote(document.mode)}`);
  }
  for (const warning of document.warnings) reader.warn(nameOf(SETTINGS.authConfigFile), warning);
  return { ...document, path };
}

/** New keys, and what is odd about them. */
export interface RereadKeys {
  readonly keys: readonly ApiKey[];
  readonly warnings: readonly string[];
}

/** The same file, read again and judged as at the start; the fault is every reason, at least one, to keep the old keys. */
export function rereadAuthFile(
  path: string,
  start: AuthAtStart,
  readFile: ReadFile,
): Result<RereadKeys, readonly string[]> {
  const reader = new SettingsReader({ flags: new Map(), env: {}, readFile });
  const document = readDocument(reader, path);
  for (const rule of document === undefined ? [] : changesAtStartOnly(document, start)) {
    reader.refuseFile(SETTINGS.authConfigFile, rule, path);
  }
  if (document === undefined || reader.errors.length > 0) return fault(reader.errors);
  return ok({ keys: document.keys, warnings: document.warnings });
}

function changesAtStartOnly(document: AuthDocument, start: AuthAtStart): readonly string[] {
  const { mode, wantsAdminKeys } = document;
  const rules: string[] = [];
  if (mode === 'api-key' && start.isRedirectOn)
    rules.push(`api.mode api-key: ${STATIC_KEYS_RULE}`);
  else if (mode !== start.mode) rules.push(`api.mode ${mode}: was ${start.mode}, which only a restart changes`);
  if (wantsAdminKeys && !start.hasAdminKeys) {
    rules.push(`admin.mode api-key: needs ${nameOf(SETTINGS.adminApiKeys)} and a restart`);
  }
  return rules;
}

function readDocument(reader: SettingsReader, path: string): AuthDocument | undefined {
  const text = reader.readFile(SETTINGS.authConfigFile, path, { isPrivate: false });
  if (text === undefined) return undefined;
  const parsed = parseAuthFile(text);
  if (parsed.ok) return parsed.value;
  for (const rule of parsed.fault) reader.refuseFile(SETTINGS.authConfigFile, rule, path);
  return undefined;
}
