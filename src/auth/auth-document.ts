// The auth file, `auth.yaml`: who may ask, with which keys, and who may administer (api.md §9). It holds hashes and no
// key; but a key may stand in it by mistake, so no message repeats what it says.

import { Buffer } from 'node:buffer';
import * as v from 'valibot';
import { fault, ok, type Result } from '../lib/result.ts';
import { type Broken, locate, toBroken, toPlain } from '../lib/schema-faults.ts';
import { parseStrictYaml } from '../lib/strict-yaml.ts';
import { tellFaults } from '../lib/tell-faults.ts';
import type { ApiKey } from './api-key.ts';
import { AuthFile, type ClientMode } from './auth-file-fields.ts';
import { unknownFields } from './unknown-fields.ts';

/** What `readTextFile` reads at most. */
export const AUTH_FILE_MAX_BYTES = 1_048_576;

/** Mappings and lists within each other: twice what a document needs. */
const MAX_DEPTH = 16;

const HASH_WARNING = 'not the SHA-256 of a key in 64 hexadecimal characters, so it opens nothing';

export interface AuthDocument {
  readonly mode: ClientMode;
  /** No two with the same hash; at least one in mode `api-key`, none in the others. */
  readonly keys: readonly ApiKey[];
  /** `admin.mode: api-key`; the admin keys themselves are a setting. */
  readonly wantsAdminKeys: boolean;
  /** What is odd and keeps nothing from working: lines as faults are. */
  readonly warnings: readonly string[];
}

/**
 * Reads the file. Faults are lines such as `line 4, column 7: api.keys[0].metadata.owner: is required`, at least one.
 * `{}` is mode `none`; an empty file, as an editor leaves one for a moment, is refused.
 */
export function parseAuthFile(text: string): Result<AuthDocument, readonly string[]> {
  if (Buffer.byteLength(text) > AUTH_FILE_MAX_BYTES) return fault([`larger than ${AUTH_FILE_MAX_BYTES} bytes`]);
  const document = parseStrictYaml(text, { depth: MAX_DEPTH });
  if (!document.ok) return fault(document.fault.map((at) => `line ${at.line}, column ${at.column}: ${at.rule}`));
  const tell = (found: readonly Broken[]) => tellFaults(found, (broken) => locate(document.value, broken));
  const parsed = v.safeParse(AuthFile, toPlain(document.value.value));
  if (!parsed.success) return fault(tell(parsed.issues.map(toBroken)));
  const { api, admin } = parsed.output;
  const keys = api?.mode === 'api-key' ? api.keys : [];
  const repeated = repeatedHashes(keys);
  if (repeated.length > 0) return fault(tell(repeated));
  const mode = api?.mode || 'none';
  const areKeysUnused = mode !== 'api-key' && api?.keys !== undefined;
  const odd = [
    ...(areKeysUnused ? [{ path: ['api', 'keys'], rule: `ignored, api.mode is ${mode}` }] : []),
    ...unknownFields(document.value.value),
    ...hashWarnings(keys),
  ];
  return ok({ mode, keys, wantsAdminKeys: admin?.mode === 'api-key', warnings: tell(odd) });
}

function repeatedHashes(keys: readonly ApiKey[]): readonly Broken[] {
  const firstOf = new Map<string, number>();
  return keys.flatMap(({ keyHash }, index) => {
    const first = firstOf.get(keyHash) ?? index;
    firstOf.set(keyHash, first);
    return first === index ? [] : [{ ...hashAt(index), rule: `must differ from that of api.keys[${first}]` }];
  });
}

/** The Go router loads such keys, and has one in its sample file (T20). */
function hashWarnings(keys: readonly ApiKey[]): readonly Broken[] {
  return keys.flatMap(({ keyHash }, index) =>
    /^[0-9a-f]{64}$/.test(keyHash) ? [] : [{ ...hashAt(index), rule: HASH_WARNING }],
  );
}

function hashAt(index: number): Pick<Broken, 'path'> {
  return { path: ['api', 'keys', index, 'key_hash'] };
}
