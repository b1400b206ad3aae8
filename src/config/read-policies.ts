// The policies at start: those of the files that settings name, or the built-in one.

import { complete } from '../lib/steps.ts';
import { tellIdleGates } from '../policy/idle-gates.ts';
import type { Provider } from '../policy/policy.ts';
import { BUILT_IN_POLICIES, type PolicySet } from '../policy/store.ts';
import { loadPolicies, type PolicyFiles, type PolicyPaths } from './load-policies.ts';
import { nameOf } from './setting.ts';
import { SETTINGS } from './settings.ts';
import type { SettingsReader } from './settings-reader.ts';

export interface PolicyConfig {
  /** What SIGHUP reads again. */
  readonly paths: PolicyPaths;
  /** Providers that a policy may name, also one that is read later. */
  readonly keyed: ReadonlySet<Provider>;
  readonly loaded: PolicySet;
}

/** The built-in policy without files, and when something was refused. */
export function readPolicies(reader: SettingsReader, files: PolicyFiles, keyed: ReadonlySet<Provider>): PolicyConfig {
  const settings = { file: SETTINGS.policyFile, directory: SETTINGS.policyModelDir };
  const paths = {
    file: reader.readOptional(settings.file),
    directory: reader.readOptional(settings.directory),
  };
  const loaded = complete(loadPolicies(paths, { ...files, keyed }));
  if (!loaded.ok) {
    for (const { source, path, rule } of loaded.fault) reader.refuseFile(settings[source], rule, path);
    return { paths, keyed, loaded: BUILT_IN_POLICIES };
  }
  const { isFileOverruled, ...set } = loaded.value;
  if (isFileOverruled) {
    reader.warn(nameOf(settings.file), `not used, _default in ${nameOf(settings.directory)} is the global policy`);
  }
  for (const line of tellIdleGates(set)) reader.warn('routing policies', line);
  return { paths, keyed, loaded: set };
}
