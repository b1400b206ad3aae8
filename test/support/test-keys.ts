// The API keys that a router without sockets knows: one that may do all, one for another model, two that are no good.

import { hashKey } from '../../src/auth/api-key.ts';
import { parseKeyReplacement } from '../../src/auth/key-document.ts';
import { KeyRegistry } from '../../src/auth/key-registry.ts';
import { complete } from '../../src/lib/steps.ts';

/** Key ID to the secret that its client shows. */
export const KEYS = {
  'key-1': 'sk-one',
  'key-2': 'sk-two',
  'key-dis': 'sk-disabled',
  'key-exp': 'sk-expired',
} as const;

/** A key beside {@link KEYS}: its secret, and the fields of an entry that differ from a plain enabled key. */
export type ExtraKey = Readonly<Record<string, unknown>> & { readonly id: string; readonly secret: string };

/** A registry of all of them. */
export function keyRegistry(extraKeys: readonly ExtraKey[] = []): KeyRegistry {
  const registry = new KeyRegistry();
  const keys = Object.entries(KEYS).map(([id, secret]) => ({
    id,
    key_hash: hashKey(secret),
    owner: 'owner-1',
    name: id,
    enabled: id !== 'key-dis',
    ...(id === 'key-exp' ? { expires_at: '2026-11-03T11:59:59Z' } : {}),
    ...(id === 'key-2' ? { allowed_models: ['other'] } : {}),
  }));
  const extra = extraKeys.map(({ secret, ...fields }) => ({
    key_hash: hashKey(secret),
    owner: 'owner-2',
    name: 'extra',
    enabled: true,
    ...fields,
  }));
  const parsed = complete(parseKeyReplacement({ version: '1', keys: [...keys, ...extra] }));
  if (!parsed.ok) throw new Error(`The keys are wrong: ${parsed.fault}`);
  registry.replace('1', parsed.value.keys);
  return registry;
}
