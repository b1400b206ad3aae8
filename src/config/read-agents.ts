// The agents that a router starts with: one for each `--engine`, and those of the agents file, whose keys lie in files
// of their own.

import { parseAgentsFile } from '../agents/agent-document.ts';
import type { AgentSetting } from '../agents/agent-setting.ts';
import { AGENTS_MAX } from '../agents/registry.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import { nameOf, quote } from './setting.ts';
import { SETTINGS } from './settings.ts';
import { type ReadFile, SettingsReader } from './settings-reader.ts';

export interface AgentsConfig {
  readonly engines: readonly AgentSetting[];
  /** Undefined: nothing to reload. */
  readonly file: string | undefined;
  readonly fromFile: readonly AgentSetting[];
}

/** Their IDs differ. Each part is empty when something in it was refused. */
export function readAgents(reader: SettingsReader): AgentsConfig {
  const engines = readEngines(reader);
  const file = reader.readOptional(SETTINGS.agentsFile);
  const fromFile = file === undefined ? [] : readFileAgents(reader, file);
  if (file !== undefined) {
    const taken = new Set(engines.map(({ id }) => id));
    for (const { id } of fromFile) {
      if (taken.has(id)) reader.refuseFile(SETTINGS.agentsFile, `agent "${id}": the ID is that of an --engine`, file);
    }
  }
  if (engines.length + fromFile.length > AGENTS_MAX) reader.refuse(SETTINGS.engines, `more than ${AGENTS_MAX} agents`);
  return { engines, file, fromFile };
}

/** The same file, read again and judged as at the start. The fault is every reason against it. */
export function rereadAgents(file: string, readFile: ReadFile): Result<readonly AgentSetting[], readonly string[]> {
  const reader = new SettingsReader({ flags: new Map(), env: {}, readFile });
  const agents = readFileAgents(reader, file);
  return reader.errors.length === 0 ? ok(agents) : fault(reader.errors);
}

function readFileAgents(reader: SettingsReader, file: string): readonly AgentSetting[] {
  const text = reader.readFile(SETTINGS.agentsFile, file, { isPrivate: false });
  if (text === undefined) return [];
  const parsed = parseAgentsFile(text, (path) => reader.readOther(nameOf(SETTINGS.agentsFile), path));
  if (parsed.ok) return parsed.value;
  for (const rule of parsed.fault) reader.refuseFile(SETTINGS.agentsFile, rule, file);
  return [];
}

function readEngines(reader: SettingsReader): readonly AgentSetting[] {
  const agents = apart(reader.readEach(SETTINGS.engines));
  const ids = agents.map((agent) => agent.id);
  const repeated = new Set(ids.filter((id, index) => ids.indexOf(id) < index));
  for (const id of repeated) reader.refuse(SETTINGS.engines, 'more than one engine has this agent ID', quote(id));
  return agents;
}

/** One engine may serve two capabilities, as Infinity does: the second agent of its address is named after its own. */
function apart(agents: readonly AgentSetting[]): readonly AgentSetting[] {
  const firstOf = new Map(agents.toReversed().map((agent) => [agent.id, agent]));
  return agents.map((agent) =>
    firstOf.get(agent.id)?.capability === agent.capability
      ? agent
      : { ...agent, id: `${agent.id}-${agent.capability}` },
  );
}
