// The door of the alias table: the YAML file of an operator and the JSON of the admin API, each with faults that its
// author can find.

import { type DocumentFault, describeFault, quoteText } from '../lib/document-fault.ts';
import { fault, type Result } from '../lib/result.ts';
import { complete } from '../lib/steps.ts';
import { type JsonValue, parseStrictJson, shortDocument } from '../lib/strict-json.ts';
import { type Path, parseStrictYaml } from '../lib/strict-yaml.ts';
import { tellFaults } from '../lib/tell-faults.ts';
import { encodeUtf8 } from '../lib/utf8.ts';
import type { AliasTable } from './alias.ts';
import { readAliasTable, type WhyReal } from './alias-table.ts';

/** Of either document: 1,000 aliases of five models each are about 150 KB. */
export const ALIASES_MAX_BYTES = 262_144;

/** Mappings and lists within each other: twice what a document needs. */
const MAX_DEPTH = 6;
const JSON_LIMITS = shortDocument(MAX_DEPTH, ALIASES_MAX_BYTES);

/**
 * Reads the file: each name at its top is an alias. Faults are lines such as `line 2, column 7: "auto"[1] 42: a model
 * must be …`, at least one. `{}` is a table without aliases; an empty file, as an editor leaves one for a moment, is none.
 */
export function parseAliasFile(text: string, whyReal: WhyReal): Result<AliasTable, readonly string[]> {
  if (encodeUtf8(text).length > ALIASES_MAX_BYTES) return fault([`larger than ${ALIASES_MAX_BYTES} bytes`]);
  const document = parseStrictYaml(text, { depth: MAX_DEPTH });
  if (!document.ok) return fault(document.fault.map((at) => `line ${at.line}, column ${at.column}: ${at.rule}`));
  const table = readAliasTable(document.value.value, whyReal);
  if (table.ok) return table;
  const lineOf = (broken: DocumentFault): string => {
    const { line, column } = document.value.positionOf(broken.path);
    return `line ${line}, column ${column}: ${describeFault(formatPath(broken.path), broken)}`;
  };
  return fault(tellFaults(table.fault, lineOf));
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
  const lineOf = (broken: DocumentFault): string =>
    describeFault(['aliases', formatPath(broken.path)].filter(Boolean).join('.'), broken);
  return fault(tellFaults(table.fault, lineOf));
}

/** `"auto"[1]`: names in quotes, for they may hold anything. */
function formatPath(path: Path): string {
  return path.map((step) => (typeof step === 'number' ? `[${step}]` : quoteText(step))).join('');
}
