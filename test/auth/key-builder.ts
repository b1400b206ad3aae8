// Keys for tests. Hashes come straight from node:crypto, so that a wrong hash in our code cannot agree with itself.

import { createHash } from 'node:crypto';
import type { ApiKey } from '../../src/auth/api-key.ts';
import { KeyRegistry } from '../../src/auth/key-registry.ts';
import { KeyTable } from '../../src/auth/key-table.ts';

/** 2026-11-03T12:00:00Z */
export const NOW_MS = 1_793_707_200_000;

export function sha256Hex(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** An enabled key without expiry or restriction, whose secret is `sk-` and its ID. */
export function buildKey(id: string, fields: Partial<ApiKey> = {}): ApiKey {
  return {
    id,
    keyHash: sha256Hex(`sk-${id}`),
    keyPreview: '',
    owner: `owner-of-${id}`,
    name: id,
    enabled: true,
    expiresAtMs: undefined,
    allowedModels: undefined,
    quota: undefined,
    maxOccupancyShare: undefined,
    ...fields,
  };
}

export function buildRegistry(...keys: readonly ApiKey[]): KeyRegistry {
  const registry = new KeyRegistry();
  registry.replace('1', new KeyTable(keys));
  return registry;
}
