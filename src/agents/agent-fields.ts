// The fields of an agent document and their rules (routing.md §3). Each schema states its own rule, because valibot's
// ready messages quote the value, and a value may be a key.

import * as v from 'valibot';
import { isText, NAME_MAX_BYTES, textRule } from '../lib/name.ts';
import { REQUIRED } from '../lib/schema-faults.ts';
import { CAPABILITIES } from '../routing/endpoint.ts';
import { DEFAULT_CAPACITY, ENGINE_NAMES } from './agent-setting.ts';
import { formatBackendUrl, parseBackendUrl } from './backend-url.ts';

export const INFO_MAX_BYTES = 4_096;
export const KEY_MAX = 4_096;
export const CAPACITY_MAX = 100_000;
export const TAGS_MAX = 32;
export const PINNED_MODELS_MAX = 1_000;

function text(maxBytes: number) {
  return v.custom<string>((value) => typeof value === 'string' && isText(value, maxBytes), textRule(maxBytes));
}

const Name = text(NAME_MAX_BYTES);

function matching(form: RegExp, rule: string) {
  return v.pipe(v.string(rule), v.regex(form, rule));
}

/** Counted before the first item is read: a flood must not cost its reading. */
function listOf<const Item extends v.GenericSchema<unknown, string>>(item: Item, max: number) {
  const rule = `must be a list of at most ${max}`;
  return v.pipe(
    v.custom<unknown[]>((value) => Array.isArray(value) && value.length <= max, rule),
    v.array(item),
    v.check((items) => new Set(items).size === items.length, 'must name nothing twice'),
  );
}

function oneOf<const Name extends string>(names: readonly Name[]) {
  return v.picklist(names, `must be one of ${names.join(', ')}`);
}

export const ID_RULE = 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : - and begin with a letter or digit';

/** As `--engine` makes them, too; it stands in paths and in metric labels as it is. */
export const AgentId = matching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, ID_RULE);

const BackendUrl = v.pipe(
  v.string('must be a URL'),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const url = parseBackendUrl(dataset.value);
    if (url.ok) return formatBackendUrl(url.value);
    addIssue({ message: url.fault });
    return NEVER;
  }),
);

const CAPACITY_RULE = `must be a whole number from 1 to ${CAPACITY_MAX}`;

/** What a header can carry, so that no request fails for the key's form. */
export const EngineKey = matching(
  new RegExp(`^[!-~]{1,${KEY_MAX}}$`),
  `must be 1 to ${KEY_MAX} printable ASCII characters without blanks`,
);

export const KeyFile = text(4_096);

/** Those that a file and a push have in common. */
export const COMMON_FIELDS = {
  engine: oneOf(ENGINE_NAMES),
  backend_url: BackendUrl,
  capability: v.optional(oneOf(CAPABILITIES), 'llm'),
  models: v.optional(listOf(Name, PINNED_MODELS_MAX), []),
  capacity: v.optional(
    v.pipe(
      v.number(CAPACITY_RULE),
      v.integer(CAPACITY_RULE),
      v.minValue(1, CAPACITY_RULE),
      v.maxValue(CAPACITY_MAX, CAPACITY_RULE),
    ),
    DEFAULT_CAPACITY,
  ),
  region: v.optional(Name),
  tags: v.optional(listOf(Name, TAGS_MAX)),
  organization: v.optional(Name),
  machine: v.optional(Name),
  gpu_model: v.optional(Name),
  health_path: v.optional(
    matching(/^\/[!-"$-~]{0,1023}$/, 'must begin with / and be at most 1024 characters of a URL path'),
  ),
  llm_pretty_name: v.optional(Name),
  llm_info: v.optional(text(INFO_MAX_BYTES)),
  hide_llm: v.optional(v.boolean('must be true or false')),
  deployment_id: v.optional(Name),
  replica_id: v.optional(Name),
};

const AnObject = v.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

/** An object with these members and no other: a misspelt one would leave its field at the default, unseen. */
export function strict<const Members extends v.ObjectEntries>(members: Members) {
  const schema = v.object(members, REQUIRED);
  return v.pipe(
    AnObject,
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const input = dataset.value;
      const parsed = v.safeParse(schema, input);
      for (const { message, path } of parsed.issues ?? []) addIssue({ message, path });
      // valibot's own strict object tells the first one only.
      const unknown = Object.keys(input).filter((name) => !Object.hasOwn(members, name));
      for (const key of unknown) {
        addIssue({
          message: 'unknown field',
          path: [{ type: 'object', origin: 'key', input, key, value: input[key] }],
        });
      }
      return parsed.success && unknown.length === 0 ? parsed.output : NEVER;
    }),
  );
}
