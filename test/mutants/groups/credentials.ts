// Check 6 and every other question of who asks: keys, credentials, and the door of a refused token.

import { type Mutant, mutantsOf } from '../mutant.ts';

const CREDENTIALS: readonly Mutant[] = mutantsOf(
  'src/auth/authenticate.ts',
  ['test/auth/authenticate.test.ts', 'test/http/credentials.test.ts', 'test/http/token-checks.test.ts'],
  {
    'a disabled key holds for a token': ['key === undefined || !isUsable(key, nowMs)', 'key === undefined'],
    'a token needs one right key of several': ['.every((shown)', '.some((shown)'],
    'a token does not mind other credentials': [
      'return shownKeys(credentials).every((shown) => findKey(auth.registry, shown) === key);',
      'return true;',
    ],
    'in mode none any key ID passes': [
      "if (auth.mode === 'none') return keyId === '';",
      "if (auth.mode === 'none') return true;",
    ],
    'in mode none no key ID passes': [
      "if (auth.mode === 'none') return keyId === '';",
      "if (auth.mode === 'none') return false;",
    ],
    'in mode none an accepted token is of any key': ["keyId === '' ? ANYONE : undefined", 'ANYONE'],
    'a refused token opens the door in mode none': ['shownKeys(credentials).length === 0 ? undefined :', ''],
    'an unusable key is let in, and an accepted token may be of one': [
      'if (!isUsable(key, nowMs)) return undefined;',
      '',
    ],
    'the second of two credentials counts': ['const [shown] =', 'const [, shown] ='],
    'no model is forbidden': ['allowedModels === undefined ||', 'true ||'],
  },
);

const SHOWN: readonly Mutant[] = mutantsOf(
  'src/auth/credentials.ts',
  ['test/auth/credentials.test.ts', 'test/http/credentials.test.ts'],
  {
    'x-api-key comes before Authorization': ['[...keys, trimBlanks(apiKey)]', '[trimBlanks(apiKey), ...keys]'],
    'x-api-key does not count': [
      'apiKey === undefined ? keys :',
      'apiKey !== undefined ? keys : apiKey === undefined ? keys :',
    ],
    'an empty Authorization was not sent': [
      'authorization === undefined ? []',
      "authorization === undefined || authorization === '' ? []",
    ],
    'Bearer may be written in any case': ["text.startsWith('Bearer ')", "text.toLowerCase().startsWith('bearer ')"],
    'the empty key is one': ["key === '' ? undefined :", ''],
    'keys are hashed as UTF-8': ["Buffer.from(key, 'latin1')", 'Buffer.from(key)'],
    'RT is a token too': ["getAll('rt')", "getAll('rt').concat(new URLSearchParams(search).getAll('RT'))"],
    'the first rt alone counts': ["getAll('rt')", "getAll('rt').slice(0, 1)"],
  },
);

const USABLE: readonly Mutant[] = mutantsOf('src/auth/api-key.ts', ['test/auth/api-key.test.ts'], {
  'a key works in the millisecond in which it ends': ['nowMs < key.expiresAtMs', 'nowMs <= key.expiresAtMs'],
  'a key ends a millisecond early': ['nowMs < key.expiresAtMs', 'nowMs + 1 < key.expiresAtMs'],
  'a disabled key is usable': ['key.enabled && ', ''],
});

export const CALLERS: readonly Mutant[] = [...CREDENTIALS, ...SHOWN, ...USABLE];
