// Who may ask, as `serve` begins: nobody's keys, the auth file's, or those that are pushed.

import type { ClientAuth } from '../auth/authenticate.ts';
import { KeyRegistry } from '../auth/key-registry.ts';
import { StaticKeys } from '../auth/static-keys.ts';
import type { AuthConfig } from '../config/read-auth.ts';

export function clientAuth({ mode, keys }: AuthConfig): ClientAuth {
  switch (mode) {
    case 'none':
      return { mode };
    case 'api-key':
      return { mode, keys: new StaticKeys(keys) };
    case 'dynamic':
      return { mode, registry: new KeyRegistry() };
  }
}
