// A push of many keys, as bytes: what a control service sends for a fleet with as many customers.

import { hashKey } from '../../src/auth/api-key.ts';

/** Shown by those who ask meanwhile: in every push. */
export const CALLER_SECRET = 'sk-caller';

/** `count` keys and the caller's, about 180 bytes each. Two tags have no hash in common but the caller's. */
export function manyKeys(version: string, tag: number, count: number): Uint8Array<ArrayBuffer> {
  const common = { key_preview: 'sk-...abcd', enabled: true };
  const keys = Array.from({ length: count }, (_, index) => ({
    ...common,
    id: `key-${index}`,
    key_hash: `${tag}${index.toString(16).padStart(63, '0')}`,
    owner: `owner-${index % 1_000}`,
    name: `key ${index} of push ${tag}`,
  }));
  const caller = { ...common, id: 'caller', key_hash: hashKey(CALLER_SECRET), owner: 'o', name: 'caller' };
  return new TextEncoder().encode(JSON.stringify({ version, keys: [...keys, caller] }));
}
