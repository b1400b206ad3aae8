// Entries as a control service pushes them, in JSON's terms.

import assert from 'node:assert/strict';
import type { ApiKey } from '../../src/auth/api-key.ts';
import { type KeyReplacement, parseKeyReplacement } from '../../src/auth/key-document.ts';
import { ok, type Result } from '../../src/lib/result.ts';
import { complete } from '../../src/lib/steps.ts';
import { sha256Hex } from './key-builder.ts';

export const NAME_RULE = 'must be Unicode text of 1 to 256 bytes';
export const HASH = sha256Hex('sk-canary');
export const MODEL_LIMITS = { requests_per_minute_per_replica: 5, tokens_per_day: 0 };

/** 256 bytes in 129 characters. */
export const LONGEST_NAME = `${'é'.repeat(127)}aa`;
/** 257 bytes in 129 characters. */
export const TOO_LONG_NAME = `${'é'.repeat(128)}a`;

/** The required fields and these, as JSON brings them: a field of undefined is absent. */
export function entryWith(fields: object): unknown {
  return JSON.parse(JSON.stringify({ id: 'k', key_hash: HASH, owner: 'o', name: 'n', ...fields }));
}

export function replacementOf(...keys: readonly unknown[]): unknown {
  return { version: '1', keys };
}

export interface ListedReplacement {
  readonly version: string;
  readonly keys: readonly ApiKey[];
}

/** With a list in place of the table, for nothing in a test sees into that. */
export function listed(read: Result<KeyReplacement, string>): Result<ListedReplacement, string> {
  return read.ok ? ok({ version: read.value.version, keys: [...read.value.keys] }) : read;
}

/** The replacement that a document is, or its fault. */
export function parseReplacement(document: unknown): Result<ListedReplacement, string> {
  return listed(complete(parseKeyReplacement(document)));
}

/** The key that one valid entry becomes. */
export function parseKey(fields: object): ApiKey {
  const parsed = parseReplacement(replacementOf(entryWith(fields)));
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.fault);
  const [key] = parsed.value.keys;
  assert.ok(key);
  return key;
}
