// The rules that the shapes of both dialects share: which members convert, which may be left out because nothing is
// lost, and how a refusal names the rest. Whatever a shape does not list is refused: nothing is dropped unseen.

import * as v from 'valibot';
import { fault, ok, type Result } from '../../lib/result.ts';

/** A JSON object whose members are not looked into. */
export type Json = Readonly<Record<string, unknown>>;

const NO_COUNTERPART = 'has no counterpart';

export const Text = v.string('must be a string');
export const Flag = v.boolean('must be true or false');
/** Its range is the provider's to judge. */
export const Amount = v.number('must be a number that fits a double');

/** Any JSON object: `v.record` would leave out members called `__proto__` or `constructor`. */
export const AnyObject = v.custom<Json>(isObject, 'must be an object');

/** May be absent; `null` counts as absent, as both APIs take it for most members. */
export function maybe<const Schema extends v.GenericSchema>(schema: Schema) {
  return v.nullish(schema);
}

/** A hint that changes no answer, such as caching or billing: left out, and listed in docs/providers.md. */
export const Hint = v.optional(v.unknown());

/** Converts only while it says what holds without it. */
export function only<const Value extends string | number | boolean>(value: Value) {
  return v.nullish(v.literal(value, `can only be ${JSON.stringify(value)}: anything else ${NO_COUNTERPART}`));
}

/** Known, and without a counterpart whatever it says. */
export const Nothing = v.optional(v.null(NO_COUNTERPART));

/** Converts only while it is an empty list or object. */
export const Empty = v.nullish(v.custom<unknown>(isEmpty, NO_COUNTERPART));

/** An object with these members and no others. */
export function members<const Entries extends v.ObjectEntries>(entries: Entries) {
  return v.strictObject(entries, tellMember);
}

function tellMember({ expected }: v.StrictObjectIssue): string {
  if (expected === 'never') return NO_COUNTERPART;
  return expected === 'Object' ? 'must be an object' : 'is required';
}

export function list<const Item extends v.GenericSchema>(item: Item) {
  return v.array(item, 'must be a list');
}

/** For `v.variant`: the kind of object, by its `type` or `role`, is none that converts. */
export function unlistedKind({ input }: v.BaseIssue<unknown>): string {
  if (typeof input !== 'string') return 'must name a kind that converts';
  return `${JSON.stringify(input.slice(0, SHOWN_MAX))} ${NO_COUNTERPART}`;
}

/** Characters of a wrong `type` or `role` that a refusal repeats. */
const SHOWN_MAX = 64;

/** Text, or in its place what `schema` takes: the common short form of both dialects. */
export function textOr<const Schema extends v.GenericSchema>(schema: Schema) {
  return v.lazy<typeof Text | Schema>((input) => (typeof input === 'string' ? Text : schema));
}

/** The document in this shape. The fault names the first member that stands against it: `"tools.0.type" …`. */
export function readAs<const Schema extends v.GenericSchema>(
  schema: Schema,
  document: unknown,
): Result<v.InferOutput<Schema>, string> {
  const parsed = v.safeParse(schema, document, { abortEarly: true });
  if (parsed.success) return ok(parsed.output);
  const [issue] = parsed.issues;
  const path = (issue.path ?? []).map((step) => String(step.key)).join('.');
  return fault(path === '' ? `the document ${issue.message}` : `"${path.slice(0, PATH_MAX)}" ${issue.message}`);
}

/** What a provider sent, in this shape. The fault names the first member that is not as documented, and no value. */
export function readAnswer<const Schema extends v.GenericSchema>(
  schema: Schema,
  document: unknown,
): Result<v.InferOutput<Schema>, string> {
  const parsed = v.safeParse(schema, document, { abortEarly: true });
  if (parsed.success) return ok(parsed.output);
  return fault(`"${(parsed.issues[0].path ?? []).map((step) => String(step.key)).join('.')}" is not as documented`);
}

/** Characters of a path that a refusal repeats: names in it are the client's own. */
const PATH_MAX = 200;

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
