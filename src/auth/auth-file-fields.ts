// The fields of an auth file and their rules (api.md §9), where they are not those of a pushed key.

import * as v from 'valibot';
import { parseTimestamp } from '../lib/timestamp.ts';
import type { ApiKey } from './api-key.ts';
import { boundedList, jsonObject, Name, OccupancyShare, Preview } from './key-fields.ts';
import { KEY_MODELS_MAX, Quota } from './key-quota.ts';

/** More than a file of 1 MiB has room for. */
export const STATIC_KEYS_MAX = 10_000;
const DAY_MS = 86_400_000;

export const CLIENT_MODES = ['none', 'api-key', 'dynamic'] as const;
export type ClientMode = (typeof CLIENT_MODES)[number];

const EXPIRY_RULE = 'must be a date as DD-MM-YYYY, the last day of the key';

const ExpiryDay = v.pipe(
  v.string(EXPIRY_RULE),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const expiresAtMs = endOfDay(dataset.value);
    if (expiresAtMs !== undefined || dataset.value === '') return expiresAtMs;
    addIssue({ message: EXPIRY_RULE });
    return NEVER;
  }),
);

const StaticKey = v.pipe(
  jsonObject({
    key_hash: v.pipe(Name, v.toLowerCase()),
    key_preview: v.nullish(Preview, ''),
    metadata: jsonObject({ name: Name, owner: Name, expires_at: v.nullish(ExpiryDay) }),
    models: v.nullish(boundedList(Name, KEY_MODELS_MAX), []),
    max_occupancy_share: v.nullish(OccupancyShare, 0),
    quota: v.nullish(Quota),
  }),
  v.transform(
    ({ metadata, ...entry }): ApiKey => ({
      id: '',
      keyHash: entry.key_hash,
      keyPreview: entry.key_preview,
      owner: metadata.owner,
      name: metadata.name,
      enabled: true,
      expiresAtMs: metadata.expires_at ?? undefined,
      allowedModels: entry.models.length === 0 ? undefined : new Set(entry.models),
      quota: entry.quota ?? undefined,
      maxOccupancyShare: entry.max_occupancy_share || undefined,
    }),
  ),
);

const Keyed = v.object({ mode: v.literal('api-key') });

const KeyedApi = jsonObject({
  mode: v.literal('api-key'),
  keys: v.pipe(boundedList(StaticKey, STATIC_KEYS_MAX), v.minLength(1, 'must have at least one key')),
});

/** Keys that nobody uses are not judged. */
const KeylessApi = jsonObject({
  mode: v.nullish(v.picklist(['', 'none', 'dynamic'], `must be one of ${CLIENT_MODES.join(', ')}, or left out`)),
  keys: v.optional(v.unknown()),
});

const Admin = jsonObject({
  mode: v.nullish(v.picklist(['', 'none', 'api-key'], 'must be none, api-key, or left out')),
});

/** The whole file. */
export const AuthFile = jsonObject({
  api: v.nullish(v.lazy((api) => (v.is(Keyed, api) ? KeyedApi : KeylessApi))),
  admin: v.nullish(Admin),
});

/** The first moment after the day, Unix ms; undefined when there is no such day. */
function endOfDay(text: string): number | undefined {
  const [, day, month, year] = /^([0-9]{2})-([0-9]{2})-([0-9]{4})$/.exec(text) ?? [];
  const startMs = parseTimestamp(`${year}-${month}-${day}T00:00:00Z`);
  return startMs === undefined ? undefined : startMs + DAY_MS;
}
