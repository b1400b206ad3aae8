// Which providers a policy may name as its last resort: those that can be asked, because the router has a key of theirs.

import type { Provider } from '../policy/policy.ts';

/** None: no setting takes a provider's key in this version. */
export function keyedProviders(): ReadonlySet<Provider> {
  return new Set();
}
