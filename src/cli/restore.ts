// What a state directory held, brought back at a start. Keys and map come through the same doors as a push: what would no
// longer be accepted, since the settings are others now, is told and left in its file until the next push.

import { findContradictions } from '../admission/key-check.ts';
import type { KeyReplacement } from '../auth/key-document.ts';
import type { RouterPorts } from '../http/router-ports.ts';
import { fault, type Result } from '../lib/result.ts';
import { complete } from '../lib/steps.ts';
import type { PolicyStore } from '../policy/store.ts';
import type { DailyBudgets } from '../quota/daily-budget.ts';
import { parseSiblingMap } from '../site/parse-sibling-map.ts';
import { readKeys, readMapJson } from '../state/documents.ts';
import type { AgentCounters, State } from '../state/state.ts';

const DAY_MS = 86_400_000;

/** Where keys and map are brought back to, and the policies that keys must not contradict. */
export type Restoring = Pick<RouterPorts, 'auth' | 'redirect' | 'policies' | 'log'>;

export interface Restored {
  /** Unix ms, when keys or a map came back; otherwise undefined. */
  readonly atMs: number | undefined;
  /** Whether the keys of the file are in force. */
  readonly keys: boolean;
  /** By ID, for agents that come. */
  readonly agents: Map<string, AgentCounters>;
}

/** `nowMs`: of the start, Unix. */
export function restore(state: State, to: Restoring, tokens: DailyBudgets, nowMs: number): Restored {
  const today = Math.floor(nowMs / DAY_MS);
  // A clock that is set right over midnight finds its day, too.
  for (const day of [today - 1, today, today + 1]) for (const use of state.readDailyUse(day)) tokens.restore(use);
  const agents = new Map(state.readAgents().map((counters) => [counters.id, counters]));
  if (state.damagedRows > 0) to.log.error('Left out damaged counters of the state file', { rows: state.damagedRows });
  const keys = restoreKeys(state, to);
  const map = restoreMap(state, to);
  return { atMs: keys || map ? nowMs : undefined, keys, agents };
}

function restoreKeys(state: State, { auth, policies, log }: Restoring): boolean {
  const saved = auth.mode === 'dynamic' ? state.readDocument('keys') : undefined;
  if (auth.mode !== 'dynamic' || saved === undefined) return false;
  const read = judged(readKeys(saved), policies);
  if (!read.ok) {
    log.error('Cannot restore API keys, waiting for a push', { rule: read.fault });
    return false;
  }
  const { version, keys } = read.value;
  auth.registry.replace(version, keys);
  log.info('Restored API keys', { version, count: keys.size });
  return true;
}

function judged(read: Result<KeyReplacement, string>, policies: PolicyStore): Result<KeyReplacement, string> {
  const [contradiction] = read.ok ? complete(findContradictions(read.value.keys, policies)) : [];
  return contradiction === undefined ? read : fault(contradiction);
}

function restoreMap(state: State, { redirect, log }: Restoring): boolean {
  const saved = redirect && state.readDocument('map');
  if (redirect === undefined || saved === undefined) return false;
  const router = { ownSite: redirect.siteId, domains: redirect.domains };
  const map = complete(parseSiblingMap(readMapJson(saved), router));
  if (!map.ok) {
    log.error('Cannot restore the sibling map, waiting for a push', { rule: map.fault });
    return false;
  }
  redirect.maps.replace(map.value);
  log.info('Restored sibling map', { version: String(map.value.version), sites: map.value.sites.size });
  return true;
}
