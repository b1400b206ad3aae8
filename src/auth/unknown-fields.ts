// Fields of an auth file that nothing reads. They are ignored, as by the Go router, but told: a misspelt expiry would else
// be a key for ever, unseen.

import type { Broken } from '../lib/schema-faults.ts';
import type { JsonValue } from '../lib/strict-json.ts';
import type { Path } from '../lib/strict-yaml.ts';

/** Fields by name, one rule for each member whatever its name or index, or a value that is not looked into. */
type Known = { readonly fields: ReadonlyMap<string, Known> } | { readonly each: Known } | 'value';

const MODEL_LIMITS = fieldsOf({ requests_per_minute_per_replica: 'value', tokens_per_day: 'value' });

const QUOTA = fieldsOf({
  requests_per_minute: 'value',
  tokens_per_day: 'value',
  input_tokens_per_minute: 'value',
  output_tokens_per_minute: 'value',
  per_model: { each: MODEL_LIMITS },
});

const METADATA = fieldsOf({
  name: 'value',
  owner: 'value',
  description: 'value',
  created_at: 'value',
  expires_at: 'value',
});

const KEY = fieldsOf({
  key_hash: 'value',
  key_preview: 'value',
  metadata: METADATA,
  models: 'value',
  max_occupancy_share: 'value',
  quota: QUOTA,
});

const AUTH_FILE = fieldsOf({
  api: fieldsOf({ mode: 'value', keys: { each: KEY } }),
  admin: fieldsOf({ mode: 'value' }),
});

/** Each field that nothing reads. One with a name that no field could have may be a key, and is not named. */
export function unknownFields(file: JsonValue): readonly Broken[] {
  return unknownIn(file, AUTH_FILE, []);
}

function unknownIn(value: JsonValue, known: Known, path: Path): readonly Broken[] {
  if (known === 'value') return [];
  return membersOf(value).flatMap(([step, member]) => {
    const next = 'each' in known ? known.each : known.fields.get(String(step));
    if (next !== undefined) return unknownIn(member, next, [...path, step]);
    const isTellable = /^[a-z_]{1,64}$/.test(String(step));
    return isTellable
      ? [{ path: [...path, step], rule: 'unknown field, ignored' }]
      : [{ path, rule: 'unknown field in it, ignored' }];
  });
}

function membersOf(value: JsonValue): readonly (readonly [string | number, JsonValue])[] {
  if (value.kind === 'object') return [...value.members];
  return value.kind === 'array' ? [...value.items.entries()] : [];
}

function fieldsOf(fields: Readonly<Record<string, Known>>): Known {
  return { fields: new Map(Object.entries(fields)) };
}
