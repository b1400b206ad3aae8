// JSON that has one reading only: what `JSON.parse` and Go's decoder let pass or resolve each in its own way (duplicate
// names, trailing data, broken UTF-8, numbers beyond 2^53) is refused or kept exact (D-57, D-58).

import { JsonTokens } from './json-tokens.ts';
import { fault, ok, type Result } from './result.ts';
import type { Steps } from './steps.ts';
import { findInvalidUtf8 } from './utf8.ts';

export type JsonValue =
  | JsonObject
  | JsonArray
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly lexeme: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'null' }
  | JsonShaped;

/** What `shapeItem` put in place of an item; the shape itself is its class's. */
export interface JsonShaped {
  readonly kind: 'shaped';
}

interface JsonObject {
  readonly kind: 'object';
  /** In the order of the document. */
  readonly members: ReadonlyMap<string, JsonValue>;
}

interface JsonArray {
  readonly kind: 'array';
  readonly items: readonly JsonValue[];
}

/** What a document may ask for at most, so that none takes memory or time out of proportion to what it can say. */
export interface JsonLimits {
  /** Arrays and objects within each other, up to 1,000: the parser recurses. */
  readonly depth: number;
  /** In the whole document, arrays and objects counted too. */
  readonly values: number;
  /** In one object. A hash table that grows to a million names blocks for longer than all the rest. */
  readonly members: number;
  /** Characters of one string, name or number as written: a token is read in one go. */
  readonly tokenLength: number;
}

/** The limits of a document so short that its size bounds all but its depth. */
export function shortDocument(depth: number, maxBytes: number): JsonLimits {
  return { depth, values: maxBytes, members: maxBytes, tokenLength: maxBytes };
}

export interface JsonSettings {
  readonly limits: JsonLimits;
  /**
   * Is given each item of an array and the member that the array is, '' for none. What it returns stands in the item's
   * place: of a long array then no tree of values grows, which the garbage collector would have to carry along.
   */
  readonly shapeItem?: (item: JsonValue, member: string) => JsonValue;
  /** About so many characters are read from pause to pause. */
  readonly sliceLength?: number | undefined;
}

/** Characters after which the parser pauses, a millisecond or two of dense JSON. A token may run beyond. */
const SLICE_LENGTH = 32_768;

/**
 * Parses one RFC 8259 document: UTF-8 without a byte order mark, no lone surrogates, no name twice in an object,
 * nothing after it, all within the limits. Time and memory are linear. The fault is the first broken rule and its byte
 * offset; invalid UTF-8 comes before all else.
 */
export function* parseStrictJson(bytes: Uint8Array, settings: JsonSettings): Steps<Result<JsonValue, string>> {
  const invalidAt = yield* findInvalidUtf8(bytes);
  if (invalidAt !== undefined) return fault(`invalid UTF-8 at byte ${invalidAt}`);
  const { limits, sliceLength = SLICE_LENGTH } = settings;
  const tokens = new JsonTokens(bytes, { tokenLength: limits.tokenLength, sliceLength });
  if (tokens.peek() === '\ufeff') return fault('byte order mark at byte 0');
  const value = yield* new JsonReader(tokens, settings).readDocument();
  return value === undefined ? fault(tokens.fault) : ok(value);
}

const TRUE: JsonValue = { kind: 'boolean', value: true };
const FALSE: JsonValue = { kind: 'boolean', value: false };
const NULL: JsonValue = { kind: 'null' };

/** The grammar. What cannot be read is undefined, and `tokens` know why. */
class JsonReader {
  readonly #tokens: JsonTokens;
  readonly #limits: JsonLimits;
  readonly #shapeItem: NonNullable<JsonSettings['shapeItem']>;
  #values = 0;

  constructor(tokens: JsonTokens, { limits, shapeItem = (item) => item }: JsonSettings) {
    this.#tokens = tokens;
    this.#limits = limits;
    this.#shapeItem = shapeItem;
  }

  *readDocument(): Steps<JsonValue | undefined> {
    while (!this.#tokens.reach()) yield;
    const value = this.#isAtNested() ? yield* this.#readNested(this.#limits.depth, '') : this.#readScalar();
    if (value === undefined) return undefined;
    while (!this.#tokens.reach()) yield;
    return this.#tokens.peek() === '' ? value : this.#tokens.refuse('data after the document');
  }

  #isAtNested(): boolean {
    const next = this.#tokens.peek();
    return next === '{' || next === '[';
  }

  *#readNested(depthLeft: number, member: string): Steps<JsonValue | undefined> {
    if (depthLeft === 0) return this.#tokens.refuse('nested too deep');
    if (!this.#countValue()) return undefined;
    if (this.#tokens.take('{')) return yield* this.#readObject(depthLeft - 1);
    this.#tokens.take('[');
    return yield* this.#readArray(depthLeft - 1, member);
  }

  /** What follows the opening brace. */
  *#readObject(depthLeft: number): Steps<JsonObject | undefined> {
    const tokens = this.#tokens;
    const members = new Map<string, JsonValue>();
    while (!tokens.reach()) yield;
    if (tokens.take('}')) return { kind: 'object', members };
    do {
      while (!tokens.reach()) yield;
      const name = this.#readNewName(members);
      if (name === undefined) return undefined;
      while (!tokens.reach()) yield;
      if (!tokens.take(':')) return tokens.refuse('expected ":"');
      while (!tokens.reach()) yield;
      const value = this.#isAtNested() ? yield* this.#readNested(depthLeft, name) : this.#readScalar();
      if (value === undefined) return undefined;
      members.set(name, value);
      while (!tokens.reach()) yield;
    } while (tokens.take(','));
    return tokens.take('}') ? { kind: 'object', members } : tokens.refuse('expected "," or "}"');
  }

  /** A name that the object does not have yet. Names are compared decoded. */
  #readNewName(members: ReadonlyMap<string, JsonValue>): string | undefined {
    const tokens = this.#tokens;
    if (tokens.peek() !== '"') return tokens.refuse('expected a name in quotes');
    const nameAt = tokens.at;
    const name = tokens.readString();
    if (name === undefined) return undefined;
    if (members.has(name)) return tokens.refuse(`duplicate name ${JSON.stringify(name.slice(0, 64))}`, nameAt);
    const { members: max } = this.#limits;
    return members.size < max ? name : tokens.refuse(`more than ${max} members in an object`, nameAt);
  }

  /** What follows the opening bracket. */
  *#readArray(depthLeft: number, member: string): Steps<JsonArray | undefined> {
    const tokens = this.#tokens;
    const items: JsonValue[] = [];
    while (!tokens.reach()) yield;
    if (tokens.take(']')) return { kind: 'array', items };
    do {
      while (!tokens.reach()) yield;
      const item = this.#isAtNested() ? yield* this.#readNested(depthLeft, '') : this.#readScalar();
      if (item === undefined) return undefined;
      items.push(this.#shapeItem(item, member));
      while (!tokens.reach()) yield;
    } while (tokens.take(','));
    return tokens.take(']') ? { kind: 'array', items } : tokens.refuse('expected "," or "]"');
  }

  #readScalar(): JsonValue | undefined {
    if (!this.#countValue()) return undefined;
    switch (this.#tokens.peek()) {
      case '"': {
        const value = this.#tokens.readString();
        return value === undefined ? undefined : { kind: 'string', value };
      }
      case 't':
        return this.#readLiteral('true', TRUE);
      case 'f':
        return this.#readLiteral('false', FALSE);
      case 'n':
        return this.#readLiteral('null', NULL);
      default: {
        const lexeme = this.#tokens.readNumber();
        return lexeme === undefined ? undefined : { kind: 'number', lexeme };
      }
    }
  }

  #readLiteral(word: string, value: JsonValue): JsonValue | undefined {
    return this.#tokens.takeWord(word) ? value : this.#tokens.refuse('expected a value');
  }

  /** Whether the document may have one more value. */
  #countValue(): boolean {
    this.#values += 1;
    const { values: max } = this.#limits;
    if (this.#values > max) this.#tokens.refuse(`more than ${max} values in the document`);
    return this.#values <= max;
  }
}
