// The rules that several fields of a pushed document share, and how a broken one is told. Each schema states its own
// rule, because valibot's ready messages quote the value, and a value may be a key.

import { Buffer } from 'node:buffer';
import * as v from 'valibot';
import { REQUIRED } from '../lib/schema-faults.ts';

/** Longest ID, owner, name, preview, version or model name, in UTF-8 bytes. */
const NAME_MAX_BYTES = 256;

/** Text of 1 to 256 bytes. One predicate, no pipe: a push can hold two million of them. */
export const Name = v.custom<string>(
  (value) => typeof value === 'string' && value !== '' && fitsName(value),
  `must be Unicode text of 1 to ${NAME_MAX_BYTES} bytes`,
);

const PREVIEW_RULE = `must be Unicode text of at most ${NAME_MAX_BYTES} bytes`;
const SHARE_RULE = 'must be a number from 0 to 1';

/** What an operator recognises a key by; may be empty. */
export const Preview = v.pipe(v.string(PREVIEW_RULE), v.check(fitsName, PREVIEW_RULE));

/** Of a model's occupancy budget; 0: unset. */
export const OccupancyShare = v.pipe(v.number(SHARE_RULE), v.minValue(0, SHARE_RULE), v.maxValue(1, SHARE_RULE));

/** Any JSON object, not looked into; `v.object` alone would take a list for an object without members. */
export const JsonObject = v.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

/** A JSON object with these members. Others are ignored (api.md §10.1). */
export function jsonObject<const Members extends v.ObjectEntries>(members: Members) {
  return v.pipe(JsonObject, v.object(members, REQUIRED));
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
function fitsName(text: string): boolean {
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
