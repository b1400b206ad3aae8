// Choosing the agent of one request under a policy with six gates and a fallback chain, and by dispatch without one, against
// their floor: for a session one hash an agent, else one look at each agent. It runs for every request and every wake-up.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { AgentRegistry } from '../src/agents/registry.ts';
import { systemTimers } from '../src/agents/timers.ts';
import { AgentChoice } from '../src/dispatch/agent-choice.ts';
import { ok } from '../src/lib/result.ts';
import { parsePolicy } from '../src/policy/document.ts';
import { planOf, selectFromPlan } from '../src/policy/plan.ts';
import type { Strategy } from '../src/policy/policy.ts';
import { PolicyStore } from '../src/policy/store.ts';
import { ENDPOINTS } from '../src/routing/endpoint.ts';
import { agent, engineMetrics, NOW_MS, record } from '../test/policy/agents.ts';
import { type Measured, report } from './report.ts';

const POLICY = parsePolicy(
  `routing_policy:
  match: { region: north, engine: vllm, tags: [production] }
  exclude_if:
    kv_cache_utilization: { gt: 0.9 }
    waiting_requests: { gt: 20 }
    capacity_utilization: { gt: 0.9 }
    success_rate: { lt: 0.9 }
    consecutive_failures: { gte: 3 }
    gpu_temperature_c: { gt: 80 }
fallback_chain: [{ name: any }]`,
  'global',
  new Set(),
);
assert.ok(POLICY.ok);
const { value: policy } = POLICY;

function selecting(strategy: Strategy, count: number): Measured {
  const plan = planOf({ ...policy, steps: policy.steps.map((step) => ({ ...step, strategy })) }, 3);
  const agents = Array.from({ length: count }, (_, index) =>
    agent({
      id: `agent-${index}`,
      region: 'north',
      tags: ['production'],
      active: index % 5,
      record: record({ successRate: 1, srttMs: 100 + index, consecutiveFailures: 0 }),
      engineMetrics: engineMetrics({ kvCacheUse: 0.5, waitingRequests: 1 }),
    }),
  );
  const search = { failedTries: [], session: new TextEncoder().encode('conv-1'), nowMs: NOW_MS };
  const run = () => selectFromPlan(plan, agents, search);
  assert.equal(run().kind, 'agent');
  const digest = () => agents.map(({ id }) => hash('sha256', id, 'hex'));
  const look = () => agents.filter(({ active, capacity }) => active < capacity);
  const isHashing = strategy === 'session-affinity';
  return { name: `${strategy}, ${count} agents`, run, floor: isHashing ? digest : look, atMost: isHashing ? 10 : 200 };
}

/** Everything that dispatch does to find the agent of a request by the built-in policy. */
function dispatching(count: number): Measured {
  const registry = new AgentRegistry(() => undefined);
  const agents = Array.from({ length: count }, (_, index) => {
    const backendUrl = `http://engine-${index}`;
    const engine = { engine: 'vllm', capability: 'llm', models: ['m'], capacity: 10 } as const;
    const one = registry.add({ id: `agent-${index}`, backendUrl, ...engine });
    one.reportProbe(ok(['m']));
    for (let slot = 0; slot < index % 5; slot += 1) one.take();
    return one;
  });
  const ports = { registry, policies: new PolicyStore(), timers: systemTimers };
  const endpoint = ENDPOINTS.find(({ path }) => path === '/v1/chat/completions');
  assert.ok(endpoint !== undefined);
  const request = { model: 'm', endpoint, headers: new Headers() };
  const run = () => new AgentChoice(request, ports).choose();
  assert.notEqual(typeof run(), 'string');
  const floor = () => agents.filter(({ active, setting }) => active < setting.capacity);
  return { name: `dispatch without a policy, ${count} agents`, run, floor, atMost: 200 };
}

const COUNTS = [3, 30, 300] as const;

await report('Agent selection', [
  ...(['least-loaded', 'lowest-latency', 'session-affinity'] as const).flatMap((strategy) =>
    COUNTS.map((count) => selecting(strategy, count)),
  ),
  ...COUNTS.map(dispatching),
]);
