// A router with a state directory, restarted again and again: in one process, without sockets.

import assert from 'node:assert/strict';
import { hashKey } from '../../src/auth/api-key.ts';
import { keepState, openStateDirectory } from '../../src/cli/wire-state.ts';
import { createFetch } from '../../src/http/app.ts';
import type { RouterPorts } from '../../src/http/router-ports.ts';
import { DailyBudgets } from '../../src/quota/daily-budget.ts';
import type { State } from '../../src/state/state.ts';
import { ADMIN_KEY, createTestRouter, type TestRouterSettings } from '../support/test-router.ts';

const OFFLINE = {
  remoteAddress: '192.0.2.1',
  allowSilence: () => undefined,
  endSilence: () => undefined,
  closeSoon: () => undefined,
};

/** A started router: its admin API, what it wrote to its log, and its daily budgets. `wrap`: its disk. */
export function started(directory: string, settings: TestRouterSettings = {}, wrap = (state: State): State => state) {
  const site = createTestRouter({ siteId: 'site-fr-1', isWithoutKeys: true, ...settings });
  const state = openStateDirectory(directory, site.ports.log);
  if (!state.ok) assert.fail(state.fault);
  const tokens = new DailyBudgets();
  const { ports, end } = keepState(state.value && wrap(state.value), { ports: site.ports, tokens });
  const fetch = createFetch(ports);
  const admin = async (method: string, path: string, body?: unknown): Promise<string> => {
    const headers = { host: 'site-fr-1.example.com', authorization: `Bearer ${ADMIN_KEY}` };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const answer = await fetch(new Request(`https://site-fr-1.example.com${path}`, init), OFFLINE);
    return `${answer.status} ${await answer.text()}`;
  };
  return {
    site,
    ports,
    tokens,
    end,
    admin,
    log: () => site.written.filter((line) => / (INFO|WARN|ERROR) /.test(line)),
  };
}

/** One life of a router, to its end. */
export async function life<Value>(
  directory: string,
  live: (router: ReturnType<typeof started>) => Value | Promise<Value>,
  settings: TestRouterSettings = {},
): Promise<Value> {
  const router = started(directory, settings);
  try {
    return await live(router);
  } finally {
    await router.end();
  }
}

/** As pushed; its secret is `sk-` and the ID. */
export const entry = (id: string) => ({ id, key_hash: hashKey(`sk-${id}`), owner: 'o', name: 'n', enabled: true });
export const keys = (version: string, ...ids: readonly string[]) => ({ version, keys: ids.map(entry) });
export const REPLACE = '/admin/api-keys/replace';
export const MAP = '/admin/sibling-map';

/** `version: id,id` */
export function heldKeys({ auth }: RouterPorts): string {
  if (auth.mode !== 'dynamic') return auth.mode;
  return `${auth.registry.version()}: ${auth.registry.all().map(({ id }) => id)}`;
}
