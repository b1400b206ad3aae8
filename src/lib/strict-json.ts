// JSON that has one reading only: what `JSON.parse` and Go's decoder let pass or resolve each in its own way (duplicate
// names, trailing data, broken UTF-8, numbers beyond 2^53) is refused or kept exact (D-57, D-58).

import { JsonTokens } from './json-tokens.ts';
import { fault, ok, type Result } from './result.ts';
import { decodeUtf8, findInvalidUtf8 } from './utf8.ts';

export type JsonValue =
  | JsonObject
  | JsonArray
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly lexeme: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'null' };

interface JsonObject {
  readonly kind: 'object';
  /** In the order of the document. */
  readonly members: ReadonlyMap<string, JsonValue>;
}

interface JsonArray {
  readonly kind: 'array';
  readonly items: readonly JsonValue[];
}

/**
 * Parses one RFC 8259 document: UTF-8 without a byte order mark, no lone surrogates, no name twice in an object,
 * nothing after it, at most `maxDepth` (up to 1,000: the parser recurses) arrays and objects within each other. Time
 * and memory are linear. The fault is the first broken rule and its byte offset.
 */
export function parseStrictJson(bytes: Uint8Array, maxDepth: number): Result<JsonValue, string> {
  const text = decodeUtf8(bytes);
  if (text === undefined) return fault(`invalid UTF-8 at byte ${findInvalidUtf8(bytes)}`);
  if (text.startsWith('\ufeff')) return fault('byte order mark at byte 0');
  const tokens = new JsonTokens(text);
  const value = readDocument(tokens, maxDepth);
  return value === undefined ? fault(tokens.fault) : ok(value);
}

function readDocument(tokens: JsonTokens, maxDepth: number): JsonValue | undefined {
  const value = readValue(tokens, maxDepth);
  if (value === undefined || tokens.peek() === '') return value;
  return tokens.refuse('data after the document');
}

function readValue(tokens: JsonTokens, depthLeft: number): JsonValue | undefined {
  switch (tokens.peek()) {
    case '{':
      return depthLeft > 0 ? readObject(tokens, depthLeft - 1) : tokens.refuse('nested too deep');
    case '[':
      return depthLeft > 0 ? readArray(tokens, depthLeft - 1) : tokens.refuse('nested too deep');
    case '"': {
      const value = tokens.readString();
      return value === undefined ? undefined : { kind: 'string', value };
    }
    case 't':
      return readLiteral(tokens, 'true', { kind: 'boolean', value: true });
    case 'f':
      return readLiteral(tokens, 'false', { kind: 'boolean', value: false });
    case 'n':
      return readLiteral(tokens, 'null', { kind: 'null' });
    default: {
      const lexeme = tokens.readNumber();
      return lexeme === undefined ? undefined : { kind: 'number', lexeme };
    }
  }
}

function readLiteral(tokens: JsonTokens, word: string, value: JsonValue): JsonValue | undefined {
  return tokens.takeWord(word) ? value : tokens.refuse('expected a value');
}

function readObject(tokens: JsonTokens, depthLeft: number): JsonObject | undefined {
  const members = new Map<string, JsonValue>();
  tokens.take('{');
  if (tokens.take('}')) return { kind: 'object', members };
  do {
    const name = readNewName(tokens, members);
    if (name === undefined) return undefined;
    const value = readValue(tokens, depthLeft);
    if (value === undefined) return undefined;
    members.set(name, value);
  } while (tokens.take(','));
  return tokens.take('}') ? { kind: 'object', members } : tokens.refuse('expected "," or "}"');
}

/** A name that the object does not have yet, and the colon after it. Names are compared decoded. */
function readNewName(tokens: JsonTokens, members: ReadonlyMap<string, JsonValue>): string | undefined {
  if (tokens.peek() !== '"') return tokens.refuse('expected a name in quotes');
  const nameAt = tokens.at;
  const name = tokens.readString();
  if (name === undefined) return undefined;
  if (members.has(name)) return tokens.refuse(`duplicate name ${JSON.stringify(name.slice(0, 64))}`, nameAt);
  return tokens.take(':') ? name : tokens.refuse('expected ":"');
}

function readArray(tokens: JsonTokens, depthLeft: number): JsonArray | undefined {
  const items: JsonValue[] = [];
  tokens.take('[');
  if (tokens.take(']')) return { kind: 'array', items };
  do {
    const item = readValue(tokens, depthLeft);
    if (item === undefined) return undefined;
    items.push(item);
  } while (tokens.take(','));
  return tokens.take(']') ? { kind: 'array', items } : tokens.refuse('expected "," or "]"');
}
