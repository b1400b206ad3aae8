// What a control service pushes to `/admin/api-keys` and reads back (api.md §10): the one door through which a key
// comes in. Whatever passes it is complete, bounded and unique, and is not checked again.

import * as v from 'valibot';
import { fault, ok, type Result } from '../lib/result.ts';
import { REQUIRED } from '../lib/schema-faults.ts';
import type { Steps } from '../lib/steps.ts';
import { formatTimestamp, parseTimestamp } from '../lib/timestamp.ts';
import type { ApiKey } from './api-key.ts';
import { boundedList, describeIssue, JsonObject, jsonObject, Name, OccupancyShare, Preview } from './key-fields.ts';
import { formatQuota, KEY_MODELS_MAX, Quota } from './key-quota.ts';
import { KEYS_MAX } from './key-registry.ts';
import { KeyTable } from './key-table.ts';
import { UnknownKeyFields } from './unknown-fields.ts';

/** Of a single key, which may name 10,000 models, as JSON text (api.md §2). */
export const KEY_MAX_BYTES = 1024 * 1024;

const HASH_RULE = 'must be 64 hexadecimal characters';
const ENABLED_RULE = 'must be true or false';
const EXPIRY_RULE = 'must be an RFC 3339 time such as 2026-12-31T23:59:59Z, or empty';

const Expiry = v.pipe(
  v.string(EXPIRY_RULE),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const expiresAtMs = parseTimestamp(dataset.value);
    if (expiresAtMs !== undefined || dataset.value === '') return expiresAtMs;
    addIssue({ message: EXPIRY_RULE });
    return NEVER;
  }),
);

/** One entry. `null` counts as absent; an absent `enabled` is a disabled key, an empty list allows every model. */
const KeyEntry = v.pipe(
  jsonObject({
    id: Name,
    key_hash: v.pipe(v.string(HASH_RULE), v.regex(/^[0-9A-Fa-f]{64}$/, HASH_RULE), v.toLowerCase()),
    key_preview: v.nullish(Preview, ''),
    owner: Name,
    name: Name,
    enabled: v.nullish(v.boolean(ENABLED_RULE), false),
    expires_at: v.nullish(Expiry),
    allowed_models: v.nullish(boundedList(Name, KEY_MODELS_MAX), []),
    quota: v.nullish(Quota),
    max_occupancy_share: v.nullish(OccupancyShare, 0),
  }),
  v.transform(
    (entry): ApiKey => ({
      id: entry.id,
      keyHash: entry.key_hash,
      keyPreview: entry.key_preview,
      owner: entry.owner,
      name: entry.name,
      enabled: entry.enabled,
      expiresAtMs: entry.expires_at ?? undefined,
      allowedModels: entry.allowed_models.length === 0 ? undefined : new Set(entry.allowed_models),
      quota: entry.quota ?? undefined,
      maxOccupancyShare: entry.max_occupancy_share || undefined,
    }),
  ),
);

/** The entries are read one by one. */
const ReplacementDocument = jsonObject({ version: Name, keys: v.nullish(boundedList(v.unknown(), KEYS_MAX), []) });

export interface KeyReplacement {
  /** Opaque, 1 to 256 bytes; ordered by its bytes. */
  readonly version: string;
  /** At most 100,000, no two with the same ID or hash. */
  readonly keys: KeyTable;
  /** Fields that nothing reads, of all keys, as they are to be told. */
  readonly unknownFields: readonly string[];
}

/**
 * Reads the parsed JSON of `POST /admin/api-keys/replace`; absent `keys` empty the registry. The fault names path and
 * rule of the first broken field, `keys[3].key_hash: <rule>`, and holds no value but model names. `readEntry` makes the
 * JSON of an entry out of what stands in the list. It pauses after each entry, which may allow 10,000 models.
 */
export function* parseKeyReplacement(
  document: unknown,
  readEntry: (listed: unknown, position: number) => unknown = (listed) => listed,
): Steps<Result<KeyReplacement, string>> {
  const parsed = v.safeParse(ReplacementDocument, document, { abortEarly: true });
  if (!parsed.success) return fault(describeIssue(parsed.issues[0]));
  const { version, keys: entries } = parsed.output;
  const keys = new KeyTable();
  const unknown = new UnknownKeyFields();
  let repeatedId: string | undefined;
  let repeatedHash: string | undefined;
  for (const [position, listed] of entries.entries()) {
    const read = readEntry(listed, position);
    const entry = v.safeParse(KeyEntry, read, { abortEarly: true });
    if (!entry.success) return fault(describeIssue(entry.issues[0], `.keys[${position}]`));
    const key = entry.output;
    repeatedId ??= describeRepeat(keys, keys.byId(key.id), `keys[${position}].id`);
    repeatedHash ??= describeRepeat(keys, keys.byHash(key.keyHash), `keys[${position}].key_hash`);
    keys.put(key);
    unknown.add(read);
    yield;
  }
  const repeated = repeatedId ?? repeatedHash;
  return repeated === undefined ? ok({ version, keys, unknownFields: unknown.names }) : fault(repeated);
}

/** Undefined when there is no `earlier` key. Until the first repeat each key of the table stands where it was listed. */
function describeRepeat(keys: KeyTable, earlier: ApiKey | undefined, path: string): string | undefined {
  if (earlier === undefined) return undefined;
  return `${path}: must differ from keys[${[...keys].indexOf(earlier)}]${path.slice(path.lastIndexOf('.'))}`;
}

/** The keys as `GET /admin/api-keys` shows them, as JSON text in pieces of one key. */
export function* formatKeys(keys: readonly ApiKey[]): Generator<string, void, undefined> {
  yield '{"keys":[';
  for (const [index, key] of keys.entries()) yield `${index === 0 ? '' : ','}${JSON.stringify(formatKey(key))}`;
  yield `],"count":${keys.length}}`;
}

export interface KeyUpsert {
  /** As in a replacement; one version covers the whole registry. */
  readonly version: string;
  readonly key: ApiKey;
  /** As of a replacement. */
  readonly unknownFields: readonly string[];
}

/**
 * Reads the parsed JSON of `PUT /admin/api-keys/{id}`: `version` beside the fields of an entry, whose ID is that of the path
 * whatever the document says. The fault names field and rule, `key_hash: <rule>`, and holds no value but model names.
 */
export function parseKeyUpsert(document: unknown, id: string): Result<KeyUpsert, string> {
  const versioned = v.safeParse(v.pipe(JsonObject, v.looseObject({ version: Name }, REQUIRED)), document);
  if (!versioned.success) return fault(describeIssue(versioned.issues[0]));
  const entry = v.safeParse(KeyEntry, { ...versioned.output, id }, { abortEarly: true });
  if (!entry.success) return fault(describeIssue(entry.issues[0]));
  const unknown = new UnknownKeyFields();
  unknown.add(document);
  return ok({ version: versioned.output.version, key: entry.output, unknownFields: unknown.names });
}

/** Whether the text can be a version: 1 to 256 bytes. */
export function isKeyVersion(text: string): boolean {
  return v.is(Name, text);
}

/** The entry as pushed, in JSON's terms, without what was not declared; the hash is write-only (api.md §10.3, A2). */
export function formatKey(key: ApiKey): object {
  return {
    id: key.id,
    key_hash: '',
    key_preview: key.keyPreview,
    owner: key.owner,
    name: key.name,
    enabled: key.enabled,
    expires_at: key.expiresAtMs === undefined ? undefined : formatTimestamp(key.expiresAtMs),
    allowed_models: key.allowedModels && [...key.allowedModels],
    quota: key.quota && formatQuota(key.quota),
    max_occupancy_share: key.maxOccupancyShare,
  };
}
