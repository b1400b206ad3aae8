// The state directory of `serve`: what it held is restored before anybody listens, and what changes from then on is
// written. Without one, a restart forgets everything.

import { systemTimers } from '../agents/timers.ts';
import type { KeptPushes, RouterPorts } from '../http/router-ports.ts';
import { ok, type Result } from '../lib/result.ts';
import type { DailyBudgets } from '../quota/daily-budget.ts';
import { EMPTY_MAP } from '../site/sibling-map.ts';
import { keyPart, keysDocument, mapDocument } from '../state/documents.ts';
import { openState } from '../state/open-state.ts';
import type { State, StoredDocument } from '../state/state.ts';
import { StateWriter } from '../state/state-writer.ts';
import type { Log } from '../telemetry/log.ts';
import { type Restored, restore } from './restore.ts';

/** Opens `--state-dir`, undefined without one. The fault is a sentence for the operator, who must mend it first. */
export function openStateDirectory(directory: string | undefined, log: Log): Result<State | undefined, string> {
  if (directory === undefined) return ok(undefined);
  const opened = openState(directory);
  if (!opened.ok) return opened;
  for (const trouble of opened.value.troubles) log.error(trouble);
  return ok(opened.value.state);
}

/** A router that a restart would leave with nothing. */
export type ForgetfulPorts = Omit<RouterPorts, 'kept' | 'restoredAtMs'>;

export interface Keeping {
  readonly ports: RouterPorts;
  /** Writes what is left. */
  readonly end: () => Promise<void>;
}

interface Kept {
  readonly ports: ForgetfulPorts;
  readonly tokens: DailyBudgets;
}

/** Restores what `state` holds, all in one go, and keeps it up to date from then on. */
export function keepState(state: State | undefined, { ports, tokens }: Kept): Keeping {
  if (state === undefined) {
    return { ports: { ...ports, kept: undefined, restoredAtMs: undefined }, end: async () => undefined };
  }
  const restored = restore(state, ports, tokens, Date.now());
  const writer = new StateWriter({
    state,
    after: systemTimers.after,
    pause: () => ports.turns.pause(),
    nowMs: ports.nowMs,
    documents: { keys: () => heldKeys(ports), map: () => heldMap(ports) },
    ...tellOf(ports),
  });
  tokens.onUse((use) => writer.noteUse(use));
  ports.agents.onAdded(({ setting: { id }, record }) => {
    const before = restored.agents.get(id);
    if (before !== undefined) record.restore(before);
    // One that is removed and comes again begins anew, as without a state directory.
    restored.agents.delete(id);
    record.onChange(() => writer.noteAgent({ id, ...record.lifetime }));
  });
  const kept = keptPushes(writer, ports, restored);
  return { ports: { ...ports, kept, restoredAtMs: restored.atMs }, end: () => writer.close() };
}

function heldKeys({ auth }: ForgetfulPorts): StoredDocument | undefined {
  if (auth.mode !== 'dynamic' || auth.registry.version() === '') return undefined;
  return keysDocument(auth.registry.version(), auth.registry.all());
}

function heldMap({ redirect }: ForgetfulPorts): StoredDocument | undefined {
  const map = redirect?.maps.current() ?? EMPTY_MAP;
  return map === EMPTY_MAP ? undefined : mapDocument(map);
}

function tellOf({ metrics, log }: ForgetfulPorts) {
  return {
    onFailure: (reason: string, isNews: boolean) => {
      metrics.stateWriteFailed();
      if (isNews) log.error('Cannot write to the state directory, trying again', { reason });
    },
    onRecovery: () => log.info('The state directory is written to again'),
  };
}

function keptPushes(writer: StateWriter, { auth }: ForgetfulPorts, restored: Restored): KeptPushes {
  /** The file may hold keys that were not restored: a single one must not join them. */
  let isHeld = restored.keys;
  const keysReplaced = (): Promise<void> => {
    isHeld = true;
    return writer.replaced('keys');
  };
  const keyChanged = (id: string): Promise<void> => {
    if (auth.mode !== 'dynamic') return Promise.resolve();
    if (!isHeld) return keysReplaced();
    const key = auth.registry.byId(id);
    return writer.partChanged('keys', auth.registry.version(), id, key && keyPart(key).body);
  };
  return { keysReplaced, keyChanged, mapReplaced: () => writer.replaced('map') };
}
