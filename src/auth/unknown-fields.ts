// Fields of an auth file or a pushed key that nothing reads. They are ignored, as by the Go router, but told: a misspelt
// expiry would else be a key for ever, and a misspelt limit none, unseen.

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

const PUSHED_KEY = fieldsOf({
  version: 'value',
  id: 'value',
  key_hash: 'value',
  key_preview: 'value',
  owner: 'value',
  name: 'value',
  enabled: 'value',
  expires_at: 'value',
  allowed_models: 'value',
  quota: QUOTA,
  max_occupancy_share: 'value',
});

const AUTH_FILE = fieldsOf({
  api: fieldsOf({ mode: 'value', keys: { each: KEY } }),
  admin: fieldsOf({ mode: 'value' }),
});

/** Each field that nothing reads. One with a name that no field could have may be a key, and is not named. */
export function unknownFields(file: JsonValue): readonly Broken[] {
  return unknownIn(file, AUTH_FILE, membersOf, []).map(({ path, isNamed }) => ({
    path,
    rule: isNamed ? 'unknown field, ignored' : 'unknown field in it, ignored',
  }));
}

/** Different unknown fields of pushed keys that are told. */
export const UNKNOWN_TOLD_MAX = 10;

/** Gathers what nothing reads over all keys of a push, each field once: `quota.request_per_minute`. */
export class UnknownKeyFields {
  readonly #names = new Set<string>();

  /** At most {@link UNKNOWN_TOLD_MAX}. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  /** `entry`: the parsed JSON of a key that is valid. */
  add(entry: unknown): void {
    if (this.#names.size === UNKNOWN_TOLD_MAX) return;
    for (const { path, isNamed } of unknownIn(entry, PUSHED_KEY, plainMembersOf, [])) {
      if (this.#names.size < UNKNOWN_TOLD_MAX) this.#names.add(isNamed ? path.join('.') : [...path, '…'].join('.'));
    }
  }
}

interface Unknown {
  /** Of the field, or of what it is in. */
  readonly path: Path;
  readonly isNamed: boolean;
}

type Members<Value> = (value: Value) => Iterable<readonly [string | number, Value]>;

function unknownIn<Value>(value: Value, known: Known, members: Members<Value>, path: Path): readonly Unknown[] {
  if (known === 'value') return [];
  const found: Unknown[] = [];
  for (const [step, member] of members(value)) {
    const next = 'each' in known ? known.each : known.fields.get(String(step));
    if (next === 'value') continue;
    if (next !== undefined) found.push(...unknownIn(member, next, members, [...path, step]));
    else if (/^[a-z_]{1,64}$/.test(String(step))) found.push({ path: [...path, step], isNamed: true });
    else found.push({ path, isNamed: false });
  }
  return found;
}

function membersOf(value: JsonValue): Iterable<readonly [string | number, JsonValue]> {
  if (value.kind === 'object') return value.members;
  return value.kind === 'array' ? value.items.entries() : [];
}

function plainMembersOf(value: unknown): Iterable<readonly [string, unknown]> {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function fieldsOf(fields: Readonly<Record<string, Known>>): Known {
  return { fields: new Map(Object.entries(fields)) };
}
