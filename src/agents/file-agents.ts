// The agents of the file, made those of the registry: which are new, which have changed and which leave. All or none, so
// that a file with one clash changes nothing.

import { isDeepStrictEqual } from 'node:util';
import { fault, ok, type Result } from '../lib/result.ts';
import { tellFaults } from '../lib/tell-faults.ts';
import type { AgentSetting } from './agent-setting.ts';
import { AGENTS_MAX, type AgentOrigin, type AgentRegistry } from './registry.ts';

const OWNERS: Readonly<Record<Exclude<AgentOrigin, 'file'>, string>> = {
  engine: 'is that of an --engine already',
  push: 'is that of a pushed agent already',
};

/** A type and no interface: it is logged as it is. */
type Change = { readonly count: number; readonly added: number; readonly changed: number; readonly removed: number };

/**
 * Agents that are not in `settings` any more leave once nothing runs on them; what did not change is not touched. The
 * fault is every reason, at least one, why nothing changed. The IDs of `settings` differ.
 */
export function replaceFileAgents(
  registry: AgentRegistry,
  settings: readonly AgentSetting[],
): Result<Change, readonly string[]> {
  const faults = clashes(registry, settings);
  if (faults.length > 0) return fault(tellFaults(faults, (rule) => rule));
  const held = registry.all().filter((agent) => registry.ownerOf(agent.setting.id) === 'file');
  const wanted = new Set(settings.map(({ id }) => id));
  const removed = held.filter(({ setting }) => !wanted.has(setting.id));
  for (const agent of removed) agent.leave();
  const before = new Map(held.map(({ setting }) => [setting.id, setting]));
  const added = settings.filter(({ id }) => !before.has(id));
  const changed = settings.filter((setting) => {
    const old = before.get(setting.id);
    return old !== undefined && !isDeepStrictEqual(old, setting);
  });
  for (const setting of [...added, ...changed]) registry.put(setting, 'file');
  return ok({ count: settings.length, added: added.length, changed: changed.length, removed: removed.length });
}

function clashes(registry: AgentRegistry, settings: readonly AgentSetting[]): readonly string[] {
  const taken = settings.flatMap(({ id }) => {
    const owner = registry.ownerOf(id);
    return owner === undefined || owner === 'file' ? [] : [`agent "${id}": the ID ${OWNERS[owner]}`];
  });
  const others = registry.all().filter((agent) => registry.originOf(agent) !== 'file').length;
  const isMany = others + settings.length > AGENTS_MAX;
  return isMany ? [...taken, `more than ${AGENTS_MAX} agents with those of --engine and pushes`] : taken;
}
