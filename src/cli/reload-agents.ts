// The agents file, read again: what changed in it changes here, and running requests are not cut.

import { replaceFileAgents } from '../agents/file-agents.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import { rereadAgents } from '../config/read-agents.ts';
import { rereadTextFile } from '../config/text-file.ts';
import type { Reloadable } from './reload.ts';

/** Nothing to do without a file. */
export function agentsReload(file: string | undefined, agents: AgentRegistry): readonly Reloadable[] {
  if (file === undefined) return [];
  const reload: Reloadable['reload'] = () => {
    const read = rereadAgents(file, rereadTextFile);
    return read.ok ? replaceFileAgents(agents, read.value) : read;
  };
  return [{ name: 'agents', reload }];
}
