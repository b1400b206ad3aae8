import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { parsePolicy } from '../../src/policy/document.ts';
import { describeFindings, exhaustionCode, FINDINGS_MAX_CHARACTERS } from '../../src/policy/exhaustion.ts';
import {
  type FailedTry,
  mayServePlan,
  type Plan,
  type PlanStep,
  planOf,
  type Search,
  selectFromPlan,
} from '../../src/policy/plan.ts';
import { BUILT_IN_POLICY, PROVIDERS } from '../../src/policy/policy.ts';
import type { PolicyAgent } from '../../src/policy/policy-agent.ts';
import { agent, engineMetrics, NOW_MS } from './agents.ts';

const SEARCH: Search = { failedTries: [], session: undefined, nowMs: NOW_MS };

function plan(yaml: string): Plan {
  const policy = parsePolicy(yaml, 'global', new Set(PROVIDERS));
  if (!policy.ok) assert.fail(policy.fault.join('\n'));
  return planOf(policy.value, 3);
}

/** Two steps: agents of `here`, then any. */
const TWO = plan('routing_policy: { match: { region: here } }\nfallback_chain: [{ name: any, max_tries: 1 }]');
const [PRIMARY, ANY] = TWO.steps as readonly [PlanStep, PlanStep];

const here = (id: string, active = 0, fields: Partial<PolicyAgent> = {}) =>
  agent({ id, region: 'here', capacity: 2, active, ...fields });
const there = (id: string, active = 0, fields: Partial<PolicyAgent> = {}) =>
  agent({ id, region: 'there', capacity: 2, active, ...fields });

const after = (...failedTries: FailedTry[]): Search => ({ ...SEARCH, failedTries });
const failed = (step: PlanStep, agentId: string, countsAsTry = true): FailedTry => ({ step, agentId, countsAsTry });

/** `STEP AGENT`, or the kind and the findings as the operator reads them. */
function selected(agents: readonly PolicyAgent[], search = SEARCH, of = TWO): string {
  const selection = selectFromPlan(of, agents, search);
  if (selection.kind === 'agent') return `${selection.step.name} ${selection.agent.id}`;
  return `${selection.kind} ${describeFindings(selection.findings)} → ${exhaustionCode(selection.findings)}`;
}

describe('planOf()', () => {
  it('has one plain step and no provider without a policy', () => {
    const { steps, provider } = planOf(BUILT_IN_POLICY, 3);
    assert.deepEqual(
      [steps.map(({ name, maxTries }) => [name, maxTries]), provider],
      [[['routing_policy', 3]], undefined],
    );
  });

  it('gives steps the router’s tries where they have none of their own', () => {
    assert.deepEqual(
      TWO.steps.map(({ maxTries }) => maxTries),
      [3, 1],
    );
  });
});

/** What one step finds. */
function selectAgent(step: PlanStep, agents: readonly PolicyAgent[], search: Search) {
  const selection = selectFromPlan({ steps: [step], provider: undefined }, agents, search);
  return selection.kind === 'agent' ? selection : selection.findings[0];
}

describe('selectFromPlan() in one step', () => {
  it('tells a full step from an empty one', () => {
    assert.equal(selectAgent(PRIMARY, [here('a')], SEARCH)?.kind, 'agent');
    assert.equal(selectAgent(PRIMARY, [here('a', 2)], SEARCH)?.kind, 'full');
    assert.equal(selectAgent(PRIMARY, [there('a', 2)], SEARCH)?.kind, 'empty');
    assert.equal(selectAgent(PRIMARY, [], SEARCH)?.kind, 'empty');
  });

  it('is full as soon as one agent lacks nothing but a slot, whatever holds the others back', () => {
    const others = [there('b'), here('c', 0, { isHealthy: false }), here('d')];
    const search = after(failed(PRIMARY, 'd'));
    const selection = selectAgent(PRIMARY, [here('a', 2), ...others], search);
    assert.deepEqual(selection, {
      step: PRIMARY,
      kind: 'full',
      bars: new Map([
        ['capacity', 1],
        ['match.region', 1],
        ['health', 1],
        ['prev_failures', 1],
      ]),
    });
    assert.equal(selectAgent(PRIMARY, others, search)?.kind, 'empty');
  });

  it('ends a step with its last try, and not before', () => {
    const agents = ['a', 'b', 'c', 'd'].map((id) => here(id));
    const tries = ['a', 'b', 'c'].map((id) => failed(PRIMARY, id));
    assert.deepEqual(selectAgent(PRIMARY, agents, after(...tries.slice(0, 2))), {
      kind: 'agent',
      step: PRIMARY,
      agent: agents[2],
    });
    assert.equal(selectAgent(PRIMARY, agents, after(...tries))?.kind, 'spent');
  });

  it('spends no try on a connection that was never made, and asks that agent no more in this step', () => {
    const agents = ['a', 'b', 'c', 'd'].map((id) => here(id));
    const free = ['a', 'b', 'c'].map((id) => failed(PRIMARY, id, false));
    assert.deepEqual(selectAgent(PRIMARY, agents, after(...free)), { kind: 'agent', step: PRIMARY, agent: agents[3] });
  });
});

describe('selectFromPlan()', () => {
  it('takes the first step that has an agent', () => {
    assert.equal(selected([there('b'), here('a', 1)]), 'routing_policy a');
    assert.equal(selected([there('b')]), 'any b');
  });

  it('goes on to the next step rather than wait for a full one', () => {
    assert.equal(selected([here('a', 2), there('b', 1)]), 'any b');
  });

  it('waits when no step has an agent and one of them is full', () => {
    assert.equal(
      selected([here('a', 2), there('b', 0, { isHealthy: false })]),
      'wait routing_policy: capacity=1 health=1 | any: capacity=1 health=1 → no_capacity',
    );
  });

  it('comes back to a step that has an agent again, which a step that has failed never has', () => {
    const agents = [here('a'), there('b')];
    assert.equal(selected(agents, after(failed(ANY, 'b'))), 'routing_policy a');
    assert.equal(selected(agents, after(failed(PRIMARY, 'a'))), 'any a');
    assert.equal(
      selected(agents, after(failed(PRIMARY, 'a'), failed(ANY, 'a'))),
      'exhausted routing_policy: prev_failures=1 match.region=1 | any: max_tries=1 → no_agents_available',
    );
  });

  it('tells the gates that hold every agent back, who serve the model all the same (R-022, R-023)', () => {
    const gated = plan('routing_policy: { exclude_if: { kv_cache_utilization: { gt: 0.9 } } }');
    const hot = { engineMetrics: engineMetrics({ kvCacheUse: 0.95 }) };
    assert.equal(
      selected([here('a', 0, hot)], SEARCH, gated),
      'exhausted routing_policy: exclude_if.kv_cache_utilization=1 → no_agents_available',
    );
    assert.equal(
      selected([here('a', 0, hot), here('b', 2)], SEARCH, gated),
      'wait routing_policy: exclude_if.kv_cache_utilization=1 capacity=1 → no_capacity',
    );
  });

  it('has no capacity as soon as one step is full (routing.md §30, 6)', () => {
    assert.equal(
      selected([here('a', 2)], after(failed(ANY, 'b'))),
      'wait routing_policy: capacity=1 | any: max_tries=1 → no_capacity',
    );
  });

  it('says so when nobody has the model', () => {
    assert.equal(selected([]), 'exhausted routing_policy: no agents | any: no agents → no_agents_available');
  });
});

describe('describeFindings()', () => {
  it('has a bound', () => {
    const findings = (count: number) => {
      const step = { ...PRIMARY, name: 'x'.repeat(88) };
      return Array.from({ length: count }, () => ({ kind: 'empty', bars: new Map(), step }) as const);
    };
    const whole = describeFindings(findings(19));
    assert.ok(whole.length <= FINDINGS_MAX_CHARACTERS && whole.endsWith('no agents'), `${whole.length}`);
    const cut = describeFindings(findings(20));
    assert.equal(cut.length, FINDINGS_MAX_CHARACTERS + 1);
    assert.ok(cut.endsWith('…') && cut.startsWith(whole));
  });

  it('cuts no character in two', () => {
    for (const name of ['\u{1f600}'.repeat(1_100), `x${'\u{1f600}'.repeat(1_100)}`]) {
      const line = describeFindings([{ kind: 'empty', bars: new Map(), step: { ...PRIMARY, name } }]);
      assert.ok(line.isWellFormed() && line.endsWith('…'));
    }
  });
});

describe('mayServePlan()', () => {
  it('wakes for an agent that some step takes, and for no other', () => {
    const strict = plan('routing_policy: { match: { region: here } }');
    assert.equal(mayServePlan(strict, here('a'), SEARCH), true);
    assert.equal(mayServePlan(strict, there('a'), SEARCH), false);
    assert.equal(mayServePlan(strict, here('a', 2), SEARCH), false);
    assert.equal(mayServePlan(TWO, there('a'), SEARCH), true);
  });

  it('wakes for no step whose tries are spent', () => {
    assert.equal(mayServePlan(TWO, there('a'), after(failed(ANY, 'b'))), false);
    assert.equal(mayServePlan(TWO, here('a'), after(failed(ANY, 'b'))), true);
    assert.equal(mayServePlan(TWO, here('a'), after(failed(PRIMARY, 'a'), failed(ANY, 'b'))), false);
  });

  it('is true of exactly the agents that would end a wait, alone or among others (routing.md §30, 5)', () =>
    fc.assert(
      fc.property(fleets, failures, (agents, failedTries) => {
        const search = { ...SEARCH, failedTries };
        const selection = selectFromPlan(TWO, agents, search);
        const servers = agents.filter((each) => mayServePlan(TWO, each, search));
        assert.equal(selection.kind === 'agent', servers.length > 0);
        if (selection.kind === 'agent') assert.ok(servers.includes(selection.agent));
        if (selection.kind === 'wait')
          assert.ok(agents.some((each) => mayServePlan(TWO, { ...each, active: 0 }, search)));
        if (selection.kind === 'exhausted')
          assert.ok(!agents.some((each) => mayServePlan(TWO, { ...each, active: 0 }, search)));
      }),
      { numRuns: 1_000 },
    ));
});

const ids = fc.constantFrom('a', 'b', 'c', 'd');

const fleets = fc.uniqueArray(
  fc
    .record({ id: ids, region: fc.constantFrom('here', 'there'), isHealthy: fc.boolean(), active: fc.nat({ max: 2 }) })
    .map((fields) => agent({ ...fields, capacity: 2 })),
  { selector: ({ id }) => id },
);

const failures = fc.array(fc.record({ step: fc.constantFrom(PRIMARY, ANY), agentId: ids, countsAsTry: fc.boolean() }), {
  maxLength: 4,
});
