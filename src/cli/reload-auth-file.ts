// The auth file, read again: all of its keys change in one go, and what is charged to their owners stays.

import { findContradictions } from '../admission/key-check.ts';
import type { Config } from '../config/config.ts';
import { rereadAuthFile } from '../config/read-auth-file.ts';
import { readTextFile } from '../config/text-file.ts';
import type { RouterPorts } from '../http/router-ports.ts';
import { fault, ok } from '../lib/result.ts';
import { complete } from '../lib/steps.ts';
import type { Reloadable } from './reload.ts';

/** Nothing to do without a file. */
export function authFileReload(
  config: Config,
  { auth, policies, log }: Pick<RouterPorts, 'auth' | 'policies' | 'log'>,
): readonly Reloadable[] {
  const { file, mode } = config.auth;
  if (file === undefined) return [];
  const start = { mode, isRedirectOn: config.redirect !== undefined, hasAdminKeys: config.admin.mode === 'api-key' };
  const reload: Reloadable['reload'] = () => {
    const read = rereadAuthFile(file, start, readTextFile);
    if (!read.ok) return read;
    const { keys, warnings } = read.value;
    const contradictions = complete(findContradictions(keys, policies));
    if (contradictions.length > 0) return fault(contradictions);
    for (const reason of warnings) log.warn('Reloaded auth file', { reason });
    if (auth.mode === 'api-key') auth.keys.replace(keys);
    return ok({ mode, count: keys.length });
  };
  return [{ name: 'auth file', reload }];
}
