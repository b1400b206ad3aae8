// Site A with a model that is asleep there, requests that wait for it, and the agent that wakes.

import assert from 'node:assert/strict';
import { hashKey } from '../../src/auth/api-key.ts';
import { ok } from '../../src/lib/result.ts';
import { FakeTimers } from '../agents/fake-timers.ts';
import { KEYS } from '../support/test-keys.ts';
import { bearer, FIXTURE_MAP, placement, type TestRouter, type TestRouterSettings } from '../support/test-router.ts';
import { CHAT, CHAT_BODY, present, siteA } from './redirect-fixture.ts';

export const HERE = 'site-fr-1';
export const SIBLING = 'site-fr-2';

/** A placement of `m` that wakes at `site`. */
export function wakesAt(site: string, more: object = {}): object {
  return { ...placement('m', 'chat', site), scale_from_zero: true, ...more };
}

export function mapOf(placements: readonly object[], more: object = {}): object {
  return { ...FIXTURE_MAP, placements, ...more };
}

export interface Sleeper {
  readonly site: TestRouter;
  readonly timers: FakeTimers;
  /** Asks for `m`; what comes of it. */
  ask(headers?: Record<string, string>, init?: RequestInit): Promise<Response>;
  /** Resolves once that many requests are held. */
  held(count: number): Promise<void>;
  /** The agent answers its probe. */
  wake(): void;
  outcomes(): Promise<readonly string[]>;
}

/** A site whose only agent of `m` is down, and whose map has that it wakes there, unless the settings say otherwise. */
export function sleeper(settings: TestRouterSettings = {}): Sleeper {
  const timers = new FakeTimers();
  const agents = [{ models: ['m'], capacity: 4, down: true }];
  const site = siteA({ agents, map: mapOf([wakesAt(HERE)]), holdTimers: timers, ...settings });
  return {
    site,
    timers,
    ask: (headers = bearer('key-1'), init = {}) =>
      site.send(CHAT, { method: 'POST', body: CHAT_BODY, headers, ...init }),
    held: (count) => untilHeld(site, count),
    wake: () => present(site.ports.agents.get('agent-1')).reportProbe(ok(['m']), true),
    outcomes: async () => {
      const lines = await site.family('hivenet_hold_total');
      return lines.flatMap((line) => {
        const [, outcome, count] = /outcome="(\w+)"\} (\d+)$/.exec(line) ?? [];
        return count === '0' ? [] : `${outcome} ${count}`;
      });
    },
  };
}

/** `key-1` as it is pushed anew; undefined: it is gone. */
export async function pushKey(site: TestRouter, fields: object | undefined): Promise<void> {
  const key = { id: 'key-1', key_hash: hashKey(KEYS['key-1']), owner: 'owner-1', name: 'key-1', enabled: true };
  const keys = fields === undefined ? [] : [{ ...key, ...fields }];
  assert.equal((await site.admin('POST', '/admin/api-keys/replace', { version: '2', keys })).status, 200);
}

/** Long enough for a body that is decoded beside the event loop of a busy machine. */
const HELD_WITHIN_MS = 10_000;

async function untilHeld(site: TestRouter, count: number): Promise<void> {
  const held = () => site.ports.holds.counts().reduce((sum, line) => sum + line.held, 0);
  const startedMs = performance.now();
  while (held() !== count) {
    if (performance.now() - startedMs > HELD_WITHIN_MS) throw new Error(`${held()} held instead of ${count}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
