// Small readers for the members of a strict JSON document, and the ways to put them together, so that a document's rules
// read like the table in its description. A reader answers the value in our own shape or the first broken rule. Where it
// broke is put together on the way out: a valid document of 100,000 placements builds no path.

import { fault, ok, type Result } from '../lib/result.ts';
import { complete, type Steps } from '../lib/steps.ts';
import type { JsonValue } from '../lib/strict-json.ts';

/** The first rule that a document breaks, and where. */
export interface BrokenRule {
  /** Below the value that the reader was given, such as `.sites[1].country`; empty for that value itself. */
  readonly path: string;
  readonly rule: string;
}

/** Reads one JSON value. */
export type Reader<Value> = (value: JsonValue) => Result<Value, BrokenRule>;

/** Reads one member of an object, which may be absent. */
export type Field<Value> = (member: JsonValue | undefined) => Result<Value, BrokenRule>;

/** The fault of a reader. */
export function broken(rule: string, path = ''): { readonly ok: false; readonly fault: BrokenRule } {
  return fault({ path, rule });
}

/** The member must be there. `null` is a value, and no reader takes it. */
export function required<Value>(read: Reader<Value>): Field<Value> {
  return (member) => (member === undefined ? broken('missing') : read(member));
}

/** The member may be absent, and is undefined then. */
export function optional<Value>(read: Reader<Value>): Field<Value | undefined> {
  return (member) => (member === undefined ? ok(undefined) : read(member));
}

/** `true` or `false`; nothing else is taken for one of them. */
export const readBoolean: Reader<boolean> = (value) =>
  value.kind === 'boolean' ? ok(value.value) : broken('not true or false');

/** A string that `parse` takes; whatever else it is, `rule` is broken. */
export function text<Value>(rule: string, parse: (text: string) => Value | undefined): Reader<Value> {
  return (value) => {
    const parsed = value.kind === 'string' ? parse(value.value) : undefined;
    return parsed === undefined ? broken(rule) : ok(parsed);
  };
}

/** One of a few strings, compared exactly. */
export function oneOf<Value extends string>(values: readonly Value[]): Reader<Value> {
  const names = values.map((value) => `"${value}"`).join(', ');
  return text(`not one of ${names}`, (name) => values.find((value) => value === name));
}

/** What no two items of an array may share. */
export interface Unique<Item> {
  readonly key: (item: Item) => string;
  /** The member to blame, such as `.id`; empty for the item as a whole. */
  readonly path: string;
  readonly rule: string;
}

export interface ArrayLimits {
  readonly min: number;
  readonly max: number;
  /** Broken by a value that is no array, and by one that is too short or too long. */
  readonly rule: string;
}

/** Items after which a long array pauses: a millisecond or two of placements. */
const SLICE_ITEMS = 500;

/**
 * An array; its length is checked before its items, each item's uniqueness right after its own rules. It pauses every
 * `sliceItems` items.
 */
export function longArray<Item>(
  readItem: Reader<Item>,
  { min, max, rule }: ArrayLimits,
  unique: readonly Unique<Item>[],
  sliceItems: number = SLICE_ITEMS,
): (value: JsonValue) => Steps<Result<readonly Item[], BrokenRule>> {
  return function* (value) {
    if (value.kind !== 'array' || value.items.length < min || value.items.length > max) return broken(rule);
    const seen = unique.map((of) => ({ of, keys: new Set<string>() }));
    const items: Item[] = [];
    for (const [index, element] of value.items.entries()) {
      if (index % sliceItems === sliceItems - 1) yield;
      const item = readItem(element);
      if (!item.ok) return within(`[${index}]`, item.fault);
      const repeated = seen.find(({ of, keys }) => !addNew(keys, of.key(item.value)));
      if (repeated !== undefined) return within(`[${index}]`, repeated.of);
      items.push(item.value);
    }
    return ok(items);
  };
}

/** The same for an array short enough to be read in one go. */
export function array<Item>(
  readItem: Reader<Item>,
  limits: ArrayLimits,
  unique: readonly Unique<Item>[],
): Reader<readonly Item[]> {
  const readItems = longArray(readItem, limits, unique);
  return (value) => complete(readItems(value));
}

/** One member of an object, whatever else that holds. */
export function member<Value>(name: string, read: Field<Value>): Reader<Value> {
  return (value) => {
    if (value.kind !== 'object') return broken('not an object');
    const result = read(value.members.get(name));
    return result.ok ? result : within(`.${name}`, result.fault);
  };
}

/**
 * An object with these members and no other. A name that is not defined, or is written in another case, breaks the first
 * rule: two readers of one document must not see two maps (D-57). Then the members follow in the order given.
 */
export function object<Members extends object>(
  fields: {
    readonly [Name in keyof Members]: Field<Members[Name]>;
  },
): Reader<Members> {
  return (value) => {
    if (value.kind !== 'object') return broken('not an object');
    for (const name of value.members.keys()) {
      if (!Object.hasOwn(fields, name)) return undefinedMember(name);
    }
    const members: Partial<Members> = {};
    for (const name in fields) {
      const result = member(name, fields[name])(value);
      if (!result.ok) return result;
      members[name] = result.value;
    }
    return ok(Object.freeze(members) as Members); // whole: every field was read
  };
}

/** What `read` answers, brought into the router's own shape. */
export function shaped<Value, Shape>(read: Reader<Value>, shape: (value: Value) => Shape): Reader<Shape> {
  return (value) => {
    const result = read(value);
    return result.ok ? ok(shape(result.value)) : result;
  };
}

/** Whether the key was new to the set, which holds it now. */
function addNew(keys: Set<string>, key: string): boolean {
  const isNew = !keys.has(key);
  keys.add(key);
  return isNew;
}

const PRINTABLE = /^[\x21-\x7e]+$/;
const NAME_MAX_LENGTH = 64;

/** Blames a member by its name, if that can stand in a message and in a log line. */
function undefinedMember(name: string) {
  if (!PRINTABLE.test(name)) return broken('has a member that the schema does not define');
  const cut = name.length > NAME_MAX_LENGTH ? `${name.slice(0, NAME_MAX_LENGTH)}…` : name;
  return broken('not defined by the schema', `.${cut}`);
}

/** The broken rule, seen from the value that holds the broken one. */
export function within(path: string, inner: BrokenRule): { readonly ok: false; readonly fault: BrokenRule } {
  return broken(inner.rule, `${path}${inner.path}`);
}
