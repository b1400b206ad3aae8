import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { heldRooms, limitPorts } from '../../src/cli/wire-limits.ts';
import { PolicyStore } from '../../src/policy/store.ts';
import { DailyBudgets } from '../../src/quota/daily-budget.ts';
import { configOf } from '../config/reading.ts';
import { registryOf } from '../support/test-agents.ts';

const ROOM = { replicas: 1, budgetTokens: 100, maxInflight: 1 };

function entering(ports: ReturnType<typeof limitPorts>, promptTokens: number) {
  const footprint = { keyId: 'k', promptTokens, declaredOutputTokens: 0, share: 0 };
  return ports.gates.occupancy.enter({
    model: 'm',
    footprint,
    room: () => ROOM,
    clientGone: new AbortController().signal,
  });
}

describe('limitPorts()', () => {
  it('gives out the fraction of a budget that the settings say', async () => {
    const ports = limitPorts(
      configOf({ args: ['--admit-fraction', '0.5'] }),
      new DailyBudgets(),
      new AbortController().signal,
    );
    assert.equal((await entering(ports, 51)).ok, false);
    assert.equal((await entering(ports, 50)).ok, true);
  });

  it('lets whoever is parked go when the grace of a shutdown is over, and nobody in after that', async () => {
    const closing = new AbortController();
    const ports = limitPorts(configOf({ args: ['--admit-park-timeout', '1m'] }), new DailyBudgets(), closing.signal);
    assert.equal((await entering(ports, 1)).ok, true);
    const parked = entering(ports, 1);
    closing.abort();
    for (const entered of [await parked, await entering(ports, 1)]) {
      assert.deepEqual(entered, { ok: false, fault: 'closed' });
    }
  });
});

describe('heldRooms()', () => {
  it('shows what is held beside what may be, by the policy and the healthy agents of each model', async () => {
    const ports = limitPorts(configOf({}), new DailyBudgets(), new AbortController().signal);
    const agents = registryOf([{ models: ['m'] }, { models: ['m'] }, { models: ['m'], down: true }], {
      nowMs: () => 0,
      monotonicMs: () => 0,
    });
    const policies = new PolicyStore();
    const limits = { ...policies.global.limits, admitBudgetTokens: 100 };
    policies.replaceGlobal({ ...policies.global, limits });
    await entering(ports, 7);
    const room = { model: 'm', tokens: 7, requests: 1, tokensMax: 180, requestsMax: undefined };
    assert.deepEqual(heldRooms(ports, agents, policies), [room]);
  });

  it('shows no model that only a client has named (R-200)', async () => {
    const ports = limitPorts(configOf({}), new DailyBudgets(), new AbortController().signal);
    const agents = registryOf([], { nowMs: () => 0, monotonicMs: () => 0 });
    await entering(ports, 7);
    assert.deepEqual(heldRooms(ports, agents, new PolicyStore()), []);
  });
});
