// YAML that has one reading only: one document of mappings, lists and plain scalars. Repeated names, tags and aliases
// (which can make a short file large) are refused, and every fault tells its line.

import {
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { fault, ok, type Result } from './result.ts';
import type { JsonValue } from './strict-json.ts';

/** The way to a value: names of mappings and indexes of lists. */
export type Path = readonly (string | number)[];

/** Both from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

export interface YamlFault extends Position {
  readonly rule: string;
}

export interface YamlDocument {
  /** A number's lexeme is as written. */
  readonly value: JsonValue;
  /** Where the value of `path` begins, or the name that it has; `path` is in the document. */
  readonly positionOf: (path: Path) => Position;
}

/** Faults that are told; a broken file can have one a token. */
const FAULTS_MAX = 20;

const OPTIONS = {
  version: '1.2',
  schema: 'core',
  // The library compares each name with every other; a set does it below.
  uniqueKeys: false,
  // Its pretty messages quote whole lines.
  prettyErrors: false,
} as const;

/** Words of the library that speak to a programmer, or repeat the text at whatever length. */
const RULES: ReadonlyMap<string, string> = new Map([
  ['TAG_RESOLVE_FAILED', 'tags are not supported'],
  ['BAD_DIRECTIVE', 'an unknown or broken directive'],
  ['MULTIPLE_DOCS', 'more than one document'],
  ['RESOURCE_EXHAUSTION', 'nested too deep'],
  ['KEY_OVER_1024_CHARS', 'a name of more than 1024 characters, or without its value on the same line'],
]);

export interface YamlBounds {
  /** Mappings and lists within each other. */
  readonly depth: number;
  /** Words, marks, gaps and line ends, as the library tells them apart: reading takes time by them, some 5 µs each. */
  readonly tokens?: number;
}

/**
 * Parses one YAML 1.2 document within `bounds`. An empty one is `null`. The fault is at least one and at most 20 broken
 * rules, without the text that breaks them. Bound the length of `text`: it is read in one go, about 4 s for the worst
 * MiB without a bound of tokens.
 */
export function parseStrictYaml(text: string, bounds: YamlBounds): Result<YamlDocument, readonly YamlFault[]> {
  const { depth, tokens } = bounds;
  if (tokens !== undefined && hasMoreTokens(text, tokens)) {
    return fault([{ line: 1, column: 1, rule: `more than ${tokens} words, marks and gaps` }]);
  }
  const lines = new LineCounter();
  const { contents, errors, warnings } = parseDocument(text, { ...OPTIONS, lineCounter: lines });
  const broken = Iterator.from([...errors, ...warnings]);
  const faults = distinct(
    broken.map(({ code, message, pos }) => ({ ...positionAt(lines, pos[0]), rule: ruleOf(code, message) })),
  );
  const refuse: Refuse = (node, rule) => void faults.push({ ...positionAt(lines, startOf(node)), rule });
  const value = faults.length > 0 ? NOTHING : toValue(contents, depth, refuse);
  if (faults.length > 0) return fault(faults.slice(0, FAULTS_MAX));
  return ok({ value, positionOf: (path) => positionAt(lines, offsetOf(contents, path)) });
}

/** Told before anything is parsed, and without reading further. */
function hasMoreTokens(text: string, most: number): boolean {
  let count = 0;
  for (const _token of new Lexer().lex(text)) {
    count += 1;
    if (count > most) return true;
  }
  return false;
}

/** The library tells some faults once for every level that they are in. */
function distinct(faults: Iterable<YamlFault>): YamlFault[] {
  const found = new Map<string, YamlFault>();
  for (const broken of faults) {
    found.set(`${broken.line} ${broken.column} ${broken.rule}`, broken);
    if (found.size === FAULTS_MAX) break;
  }
  return [...found.values()];
}

/** What follows a word and a colon repeats the text. */
function ruleOf(code: ErrorCode, message: string): string {
  return RULES.get(code) ?? message.replace(/(?<=\S): .*$/s, '');
}

type Refuse = (node: unknown, rule: string) => void;

const NOTHING: JsonValue = Object.freeze({ kind: 'null' });

function toValue(node: unknown, depthLeft: number, refuse: Refuse): JsonValue {
  if (isAlias(node)) refuse(node, 'aliases (*name) are not supported');
  else if (isMap(node) || isSeq(node)) {
    if (node.tag !== undefined) refuse(node, 'tags are not supported');
    else if (depthLeft === 0) refuse(node, 'nested too deep');
    else return isMap(node) ? toObject(node, depthLeft - 1, refuse) : toArray(node, depthLeft - 1, refuse);
  } else if (isScalar(node)) {
    if (node.tag === undefined) return toScalar(node.value, node.source ?? '');
    refuse(node, 'tags are not supported');
  }
  return NOTHING;
}

function toScalar(value: unknown, source: string): JsonValue {
  if (typeof value === 'string') return { kind: 'string', value };
  if (typeof value === 'boolean') return { kind: 'boolean', value };
  return typeof value === 'number' ? { kind: 'number', lexeme: source } : NOTHING;
}

function toArray(list: YAMLSeq, depthLeft: number, refuse: Refuse): JsonValue {
  return { kind: 'array', items: list.items.map((item) => toValue(item, depthLeft, refuse)) };
}

function toObject(mapping: YAMLMap, depthLeft: number, refuse: Refuse): JsonValue {
  const members = new Map<string, JsonValue>();
  for (const { key, value } of mapping.items) {
    const name = nameOf(key);
    if (name === undefined) refuse(key ?? mapping, 'a name must be text: put it in quotes');
    else if (members.has(name)) refuse(key, 'this name was given before');
    else members.set(name, toValue(value, depthLeft, refuse));
  }
  return { kind: 'object', members };
}

function nameOf(key: unknown): string | undefined {
  return isScalar(key) && key.tag === undefined && typeof key.value === 'string' ? key.value : undefined;
}

function offsetOf(root: unknown, path: Path): number {
  let node = root;
  let offset = startOf(root);
  for (const step of path) {
    const pair = isMap(node) ? node.items.find(({ key }: Pair) => nameOf(key) === step) : undefined;
    const item: unknown = isSeq(node) ? node.items[Number(step)] : undefined;
    offset = startOf(pair?.key ?? item);
    node = pair?.value ?? item;
  }
  return offset;
}

function startOf(node: unknown): number {
  const hasRange = isAlias(node) || isMap(node) || isSeq(node) || isScalar(node);
  return hasRange ? (node.range?.[0] ?? 0) : 0;
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}
