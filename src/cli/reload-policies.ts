// The policy files, read again.

import { loadPolicies, type PolicyPaths } from '../config/load-policies.ts';
import { listDirectory, rereadTextFile } from '../config/text-file.ts';
import type { RouterPorts } from '../http/router-ports.ts';
import { fault, ok } from '../lib/result.ts';
import type { Reloadable } from './reload.ts';

/**
 * Replaces all policies that the files could have, also what the admin API put: with a directory all documents and the
 * global policy, with a file alone the global one. Nothing to do without either.
 */
export function policyReload(paths: PolicyPaths, { policies, providers, metrics }: RouterPorts): readonly Reloadable[] {
  if (paths.file === undefined && paths.directory === undefined) return [];
  const reload: Reloadable['reload'] = () => {
    const loaded = loadPolicies(paths, { readFile: rereadTextFile, listDirectory, keyed: providers });
    metrics.policy.reloaded({ trigger: 'sighup', result: loaded.ok ? 'success' : 'error' });
    if (!loaded.ok) return fault(loaded.fault.map(({ path, rule }) => `${path} ${rule}`));
    if (paths.directory === undefined) policies.replaceGlobal(loaded.value.global);
    else policies.replaceAll(loaded.value);
    return ok({ documents: policies.documents.size });
  };
  return [{ name: 'policies', reload }];
}
