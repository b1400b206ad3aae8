// The door of the alias table: the YAML file of an operator and the JSON of the admin API, each with faults that its
// author can find.

import { fault, type Result } from '../lib/result.ts';
import { complete } from '../lib/steps.ts';
import { type JsonLimits, type JsonValue, parseStrictJson } from '../lib/strict-json.ts';
import { type Path, parseStrictYaml } from '../lib/strict-yaml.ts';
import { encodeUtf8 } from '../lib/utf8.ts';
import type { AliasTable } from './alias.ts';
import { type AliasFault, readAliasTable, type WhyReal } from './alias-table.ts';

/** Of either document: 1,000 aliases of five models each are about 150 KB. */
export const ALIASES_MAX_BYTES = 262_144;

/** Mappings and lists within each other: twice what a document needs. */
const MAX_DEPTH = 6;
/** A document so short needs no other bound than its own. */
const JSON_LIMITS: JsonLimits = {
  depth: MAX_DEPTH,
  values: ALIASES_MAX_BYTES,
  members: ALIASES_MAX_BYTES,
  tokenLength: ALIASES_MAX_BYTES,
};
/** Faults that are told; the rest are counted. */
const FAULTS_MAX = 20;
/** Characters of a value that a message shows. */
const SHOWN_MAX = 80;

/**
 * Reads the file: each name at its top is an alias. Faults are lines such as `line 2, column 7: "auto"[1] 42: a model
 * must be …`, at least one. `{}` is a table without aliases; an empty file, as an editor leaves one for a moment, is none.
 */
export function parseAliasFile(text: string, whyReal: WhyReal): Result<AliasTable, readonly string[]> {
  if (encodeUtf8(text).length > ALIASES_MAX_BYTES) return fault([`larger than ${ALIASES_MAX_BYTES} bytes`]);
  const document = parseStrictYaml(text, MAX_DEPTH);
  if (!document.ok) return fault(document.fault.map((at) => `line ${at.line}, column ${at.column}: ${at.rule}`));
  const table = readAliasTable(document.value.value, whyReal);
  if (table.ok) return table;
  return tell(table.fault, (broken) => {
    const { line, column } = document.value.positionOf(broken.path);
    return `line ${line}, column ${column}: ${describe(formatPath(broken.path), broken)}`;
  });
}

/** Reads `{"aliases": {…}}`. Faults are lines such as `aliases."auto"[1] 42: a model must be …`, at least one. */
export function parseAliasPush(bytes: Uint8Array, whyReal: WhyReal): Result<AliasTable, readonly string[]> {
  if (bytes.length > ALIASES_MAX_BYTES) return fault([`body: larger than ${ALIASES_MAX_BYTES} bytes`]);
  const document = complete(parseStrictJson(bytes, { limits: JSON_LIMITS }));
  if (!document.ok) return fault([`body: ${document.fault}`]);
  const members = document.value.kind === 'object' ? document.value.members : new Map<string, JsonValue>();
  const aliases = members.get('aliases');
  if (aliases === undefined || members.size > 1)
    return fault(['body: must be an object with "aliases" and no other member']);
  const table = readAliasTable(aliases, whyReal);
  if (table.ok) return table;
  return tell(table.fault, (broken) =>
    describe(['aliases', formatPath(broken.path)].filter(Boolean).join('.'), broken),
  );
}

function tell(
  faults: readonly AliasFault[],
  lineOf: (fault: AliasFault) => string,
): { readonly ok: false; readonly fault: readonly string[] } {
  const lines = faults.slice(0, FAULTS_MAX).map(lineOf);
  const more = faults.length - lines.length;
  return fault(more === 0 ? lines : [...lines, `and ${more} more`]);
}

function describe(path: string, { value, rule }: AliasFault): string {
  const shown = value === undefined ? '' : show(value);
  const subject = [path, shown].filter((word) => word !== '').join(' ');
  return subject === '' ? rule : `${subject}: ${rule}`;
}

/** `"auto"[1]`: names in quotes, for they may hold anything. */
function formatPath(path: Path): string {
  return path.map((step) => (typeof step === 'number' ? `[${step}]` : quote(step))).join('');
}

function show(value: JsonValue): string {
  switch (value.kind) {
    case 'string':
      return quote(value.value);
    case 'number':
      return value.lexeme.slice(0, SHOWN_MAX);
    case 'boolean':
      return String(value.value);
    case 'null':
      return 'null';
    case 'array':
      return '[…]';
    case 'object':
    case 'shaped':
      return '{…}';
  }
}

function quote(text: string): string {
  const short = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
  return JSON.stringify(short.toWellFormed()).replace(/[\u007f-\u009f\u2028\u2029]/g, '?');
}
