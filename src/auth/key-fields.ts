// The rules that several fields of a pushed document share, and how a broken one is told. Each schema states its own
// rule, because valibot's ready messages quote the value, and a value may be a key.

import { Buffer } from 'node:buffer';
import * as v from 'valibot';

/** Longest ID, owner, name, preview, version or model name, in UTF-8 bytes. */
export const NAME_MAX_BYTES = 256;

/** Text of 1 to 256 bytes. One predicate, no pipe: a push can hold two million of them. */
export const Name = v.custom<string>(
  (value) => typeof value === 'string' && value !== '' && fitsName(value),
  `must be Unicode text of 1 to ${NAME_MAX_BYTES} bytes`,
);

/** Any JSON object, not looked into; `v.object` alone would take a list for an object without members. */
export const JsonObject = v.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

/** A JSON object with these members. Others are ignored (api.md §10.1). */
export function jsonObject<const Members extends v.ObjectEntries>(members: Members) {
  return v.pipe(JsonObject, v.object(members, 'is required'));
}

/** A list of at most `max` items, counted before the first is read: a flood must not cost its reading. */
export function boundedList<const Item extends v.GenericSchema>(item: Item, max: number) {
  const rule = `must be a list of at most ${max}`;
  return v.pipe(
    v.custom<unknown[]>((value) => Array.isArray(value) && value.length <= max, rule),
    v.array(item),
  );
}

/**
 * At most 256 bytes of UTF-8. A lone surrogate is refused: encoded it shares its bytes with U+FFFD, so two IDs would
 * be one in a redirect token.
 */
export function fitsName(text: string): boolean {
  return text.length <= NAME_MAX_BYTES && Buffer.byteLength(text) <= NAME_MAX_BYTES && text.isWellFormed();
}

/** `keys[3].quota.tokens_per_day: <rule>`; path and rule of an issue, never a value. `within`: what was read, `.keys[3]`. */
export function describeIssue(issue: v.BaseIssue<unknown>, within = ''): string {
  const path = within + (issue.path ?? []).map(describeStep).join('');
  return `${path === '' ? 'document' : path.slice(1)}: ${issue.message}`;
}

/** A model name that is itself the fault is left out: it may be of any length. */
function describeStep(step: v.IssuePathItem): string {
  if (step.type === 'map') return step.origin === 'key' ? ' (a model name)' : `[${JSON.stringify(step.key)}]`;
  return step.type === 'array' ? `[${step.key}]` : `.${String(step.key)}`;
}
