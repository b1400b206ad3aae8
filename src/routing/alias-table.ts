// What makes an alias table valid, wherever it comes from. All broken rules are gathered: who made three mistakes wants to
// read of all three.

import type { DocumentFault } from '../lib/document-fault.ts';
import { isName, NAME_RULE } from '../lib/name.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import type { JsonValue } from '../lib/strict-json.ts';
import type { AliasTable } from './alias.ts';

export const ALIASES_MAX = 1_000;
export const MODELS_PER_ALIAS_MAX = 32;

/** Why a name is that of a real model now, such as `an agent here serves it`; undefined when it is none. */
export type WhyReal = (name: string) => string | undefined;

interface ListFault extends Omit<DocumentFault, 'path'> {
  readonly index: number;
}

/** Reads the table: each member is an alias for one model, or for a list of models. The fault is at least one. */
export function readAliasTable(value: JsonValue, whyReal: WhyReal): Result<AliasTable, readonly DocumentFault[]> {
  if (value.kind !== 'object') return fault([{ path: [], rule: 'must map each alias to its models' }]);
  const aliases = value.members;
  if (aliases.size > ALIASES_MAX) return fault([{ path: [], rule: `more than ${ALIASES_MAX} aliases` }]);
  const table = new Map<string, readonly string[]>();
  const faults: DocumentFault[] = [];
  for (const [alias, target] of aliases) {
    const rule = ruleOfAlias(alias, whyReal);
    if (rule !== undefined) faults.push({ path: [alias], rule });
    const isList = target.kind === 'array';
    const models = readModels(isList ? target.items : [target], aliases);
    if (models.ok) table.set(alias, models.value);
    else if (typeof models.fault === 'string') faults.push({ path: [alias], rule: models.fault });
    else
      for (const { index, ...rest } of models.fault) faults.push({ path: isList ? [alias, index] : [alias], ...rest });
  }
  return faults.length === 0 ? ok(table) : fault(faults);
}

/** The models of one alias, frozen; or what is wrong with the list, or with some of its items. */
function readModels(
  items: readonly JsonValue[],
  aliases: ReadonlyMap<string, unknown>,
): Result<readonly string[], string | readonly ListFault[]> {
  if (items.length === 0 || items.length > MODELS_PER_ALIAS_MAX) {
    return fault(`must list 1 to ${MODELS_PER_ALIAS_MAX} models`);
  }
  const models = new Set<string>();
  const faults: ListFault[] = [];
  for (const [index, value] of items.entries()) {
    const name = value.kind === 'string' ? value.value : '';
    if (!isName(name)) faults.push({ index, value, rule: `a model ${NAME_RULE}` });
    else if (models.has(name)) faults.push({ index, value, rule: 'is listed twice' });
    else if (aliases.has(name)) faults.push({ index, value, rule: 'is an alias itself, and aliases do not chain' });
    models.add(name);
  }
  return faults.length === 0 ? ok(Object.freeze([...models])) : fault(faults);
}

function ruleOfAlias(alias: string, whyReal: WhyReal): string | undefined {
  if (!isName(alias)) return `an alias ${NAME_RULE}`;
  const why = whyReal(alias);
  return why === undefined ? undefined : `would hide the model of that name: ${why}`;
}
