// The keys of the auth file against the policies, at start: each is sound by itself, and both together may still shut a
// caller out for good (api.md §9).

import { findContradictions } from '../admission/key-check.ts';
import { complete } from '../lib/steps.ts';
import type { AuthConfig } from './read-auth.ts';
import type { PolicyConfig } from './read-policies.ts';
import { SETTINGS } from './settings.ts';
import type { SettingsReader } from './settings-reader.ts';

/** Refuses the file for each contradiction. Pushed keys are judged as they are pushed. */
export function judgeKeys(reader: SettingsReader, auth: AuthConfig | undefined, { loaded }: PolicyConfig): void {
  if (auth?.file === undefined) return;
  for (const rule of complete(findContradictions(auth.keys, loaded))) {
    reader.refuseFile(SETTINGS.authConfigFile, rule, auth.file);
  }
}
