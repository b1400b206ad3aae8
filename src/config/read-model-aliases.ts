// The alias file at start. A name that an engine is pinned to is a model already; what other engines list is not known
// before they are asked.

import type { AgentSetting } from '../agents/agent-setting.ts';
import { type AliasTable, NO_ALIASES } from '../routing/alias.ts';
import { parseAliasFile } from '../routing/alias-document.ts';
import { SETTINGS } from './settings.ts';
import type { SettingsReader } from './settings-reader.ts';

export interface AliasConfig {
  /** Undefined: nothing to reload. */
  readonly file: string | undefined;
  readonly table: AliasTable;
}

/** An empty table without a file, and when something was refused. */
export function readModelAliases(reader: SettingsReader, agents: readonly AgentSetting[]): AliasConfig {
  const file = reader.readOptional(SETTINGS.modelAliasesFile);
  const text = file === undefined ? undefined : reader.readFile(SETTINGS.modelAliasesFile, file, { isPrivate: false });
  if (file === undefined || text === undefined) return { file, table: NO_ALIASES };
  const pinned = new Set(agents.flatMap(({ models }) => models));
  const parsed = parseAliasFile(text, (name) => (pinned.has(name) ? 'an agent here serves it' : undefined));
  if (parsed.ok) return { file, table: parsed.value };
  for (const rule of parsed.fault) reader.refuseFile(SETTINGS.modelAliasesFile, rule, file);
  return { file, table: NO_ALIASES };
}
