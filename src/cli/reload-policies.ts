// The policy files, read again.

import { loadPolicies, type PolicyPaths } from '../config/load-policies.ts';
import { listDirectory, rereadTextFile } from '../config/text-file.ts';
import { heldKeys, whyContradictory } from '../http/admin/key-policy-check.ts';
import { warnOfIdleGates } from '../http/admin/policy.ts';
import type { RouterPorts } from '../http/router-ports.ts';
import { fault, ok } from '../lib/result.ts';
import type { Reloadable, ReloadOutcome } from './reload.ts';

/**
 * Replaces all policies that the files could have, also what the admin API put: with a directory all documents and the
 * global policy, with a file alone the global one. Nothing to do without either.
 */
export function policyReload(paths: PolicyPaths, ports: RouterPorts): readonly Reloadable[] {
  if (paths.file === undefined && paths.directory === undefined) return [];
  const reload: Reloadable['reload'] = async () => {
    const reloaded = (await ports.limitWrites.run(0, () => reread(paths, ports))) ?? fault([BUSY]);
    ports.metrics.policy.reloaded({ trigger: 'sighup', result: reloaded.ok ? 'success' : 'error' });
    return reloaded;
  };
  return [{ name: 'policies', reload }];
}

const BUSY = 'too many changes of keys and policies are being pushed at once';

async function reread(paths: PolicyPaths, ports: RouterPorts): Promise<ReloadOutcome> {
  const { policies, providers, auth, turns } = ports;
  const sources = { readFile: rereadTextFile, listDirectory, keyed: providers };
  const loaded = await turns.complete(loadPolicies(paths, sources));
  if (!loaded.ok) return fault(loaded.fault.map(({ path, rule }) => `${path} ${rule}`));
  const isGlobalAlone = paths.directory === undefined;
  const next = isGlobalAlone ? { global: loaded.value.global, documents: policies.documents } : loaded.value;
  const contradiction = await whyContradictory(ports, heldKeys(auth), next);
  if (contradiction !== undefined) return fault([contradiction]);
  if (isGlobalAlone) policies.replaceGlobal(next.global);
  else policies.replaceAll(loaded.value);
  warnOfIdleGates(ports, next);
  return ok({ documents: policies.documents.size });
}
