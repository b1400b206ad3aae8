import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { type Bar, barOf, mayServe } from '../../src/policy/gates.ts';
import { MEASURED_FRESH_MS, RECORD_FRESH_MS } from '../../src/policy/metric.ts';
import { type Match, OPERATORS, PLAIN_STEP, type Step } from '../../src/policy/policy.ts';
import type { PolicyAgent } from '../../src/policy/policy-agent.ts';
import { agent, engineMetrics, hardware, NOW_MS, record } from './agents.ts';

const LOOK = { failed: new Set<string>(), nowMs: NOW_MS };

const step = (fields: Partial<Step>): Step => ({ ...PLAIN_STEP, ...fields });
const match = (fields: Partial<Match>): Step => step({ match: { ...PLAIN_STEP.match, ...fields } });

describe('barOf()', () => {
  it('passes a healthy, capable agent with a slot', () => {
    assert.equal(barOf(PLAIN_STEP, agent(), LOOK), undefined);
    assert.equal(mayServe(PLAIN_STEP, agent(), LOOK), true);
    assert.equal(mayServe(PLAIN_STEP, agent({ active: 10 }), LOOK), false);
  });

  const LABELS = [
    ['region', match({ region: 'eu' }), { region: 'eu' }, { region: 'EU' }],
    ['engine', match({ engine: 'vllm' }), { engine: 'vllm' }, { engine: 'vllm2' }],
    ['organization', match({ organization: 'o' }), { organization: 'o' }, { organization: '' }],
    ['machine', match({ machine: 'm' }), { machine: 'm' }, { machine: undefined }],
    ['gpu_model', match({ gpuModel: 'H100' }), { gpuModel: 'H100' }, { gpuModel: 'h100' }],
    ['tags', match({ tags: ['x', 'y'] }), { tags: ['y', 'z', 'x'] }, { tags: ['x'] }],
  ] as const;

  for (const [name, asking, good, bad] of LABELS) {
    it(`compares match.${name} byte by byte`, () => {
      assert.equal(barOf(asking, agent(good), LOOK), undefined);
      assert.equal(barOf(asking, agent(bad), LOOK), `match.${name}`);
    });
  }

  it('names the first gate that holds an agent back, in one order', () => {
    const hard: Step = {
      ...match({ region: 'eu' }),
      excludeIf: [
        { metric: 'srtt', operator: 'gt', value: 100 },
        { metric: 'kv_cache_utilization', operator: 'gt', value: 0.5 },
      ],
    };
    const worst = agent({
      isHealthy: false,
      isCapable: false,
      record: record({ srttMs: 200 }),
      engineMetrics: engineMetrics({ kvCacheUse: 1 }),
      active: 10,
    });
    const look = { failed: new Set(['a']), nowMs: NOW_MS };
    const mend: readonly (readonly [Bar, Partial<PolicyAgent>])[] = [
      ['health', { isHealthy: true }],
      ['capability', { isCapable: true }],
      ['match.region', { region: 'eu' }],
      ['prev_failures', { id: 'b' }],
      ['exclude_if.srtt', { record: undefined }],
      ['exclude_if.kv_cache_utilization', { engineMetrics: undefined }],
      ['capacity', { active: 9 }],
    ];
    let mended = worst;
    for (const [bar, fields] of mend) {
      assert.equal(barOf(hard, mended, look), bar);
      mended = { ...mended, ...fields };
    }
    assert.equal(barOf(hard, mended, look), undefined);
  });

  it('lets a full agent be full, not overloaded: waiting for its slot is what helps', () => {
    const spill = step({ excludeIf: [{ metric: 'capacity_utilization', operator: 'gt', value: 0.8 }] });
    const bars = [8, 9, 10, 11].map((active) => barOf(spill, agent({ active }), LOOK));
    assert.deepEqual(bars, [undefined, 'exclude_if.capacity_utilization', 'capacity', 'capacity']);
  });

  it('agrees with a naive evaluator', () =>
    fc.assert(
      fc.property(agents, steps, fc.constantFrom('a', 'b'), (subject, asking, failed) => {
        const look = { failed: new Set([failed]), nowMs: NOW_MS };
        assert.equal(mayServe(asking, subject, look), naivelyServes(asking, subject, failed));
      }),
      { numRuns: 2_000 },
    ));
});

const label = fc.constantFrom(undefined, 'x', 'y');
const figure = fc.constantFrom(undefined, 0, 0.5, 1);
const age = fc.constantFrom(0, MEASURED_FRESH_MS, MEASURED_FRESH_MS + 1, RECORD_FRESH_MS, RECORD_FRESH_MS + 1);

const agents = fc
  .record({
    region: label,
    gpuModel: label,
    tags: fc.subarray(['s', 't']),
    isHealthy: fc.constantFrom(true, true, false),
    active: fc.constantFrom(0, 1, 2),
    success: figure,
    kv: figure,
    cpu: figure,
    age,
  })
  .map(({ success, kv, cpu, age: ageMs, ...fields }) =>
    agent({
      ...fields,
      capacity: 2,
      record: record({ successRate: success }, ageMs),
      engineMetrics: engineMetrics({ kvCacheUse: kv }, ageMs),
      hardware: hardware({ cpuUsagePercent: cpu === undefined ? undefined : cpu * 100 }, ageMs),
    }),
  );

const NAIVE = ['success_rate', 'kv_cache_utilization', 'cpu_usage_percent'] as const;

const steps = fc
  .record({
    region: label,
    gpuModel: label,
    tags: fc.subarray(['s', 't']),
    excludeIf: fc.array(
      fc.record({
        metric: fc.constantFrom(...NAIVE),
        operator: fc.constantFrom(...OPERATORS),
        value: fc.constantFrom(0, 0.5, 1),
      }),
      { maxLength: 3 },
    ),
  })
  .map(({ excludeIf, ...asked }) => ({ ...match(asked), excludeIf }));

/** Written from the words of routing.md §5 and §17, without a look at the code. */
function naivelyServes({ match: asked, excludeIf }: Step, subject: PolicyAgent, failed: string): boolean {
  if (!subject.isHealthy || subject.active >= subject.capacity || subject.id === failed) return false;
  if (asked.region !== undefined && asked.region !== subject.region) return false;
  if (asked.gpuModel !== undefined && asked.gpuModel !== subject.gpuModel) return false;
  for (const tag of asked.tags) if (!subject.tags.includes(tag)) return false;
  for (const { metric, operator, value } of excludeIf) {
    const isRecord = metric === 'success_rate';
    const taken = isRecord ? subject.record : subject.engineMetrics;
    if (NOW_MS - (taken?.takenMs ?? 0) > (isRecord ? 30_000 : 10_000)) continue;
    const percent = subject.hardware?.metrics.cpuUsagePercent;
    const found = {
      success_rate: subject.record?.successRate,
      kv_cache_utilization: subject.engineMetrics?.metrics.kvCacheUse,
      cpu_usage_percent: percent === undefined ? undefined : percent / 100,
    }[metric as (typeof NAIVE)[number]];
    if (found === undefined) continue;
    if (operator === 'gt' && found > value) return false;
    if (operator === 'gte' && !(found < value)) return false;
    if (operator === 'lt' && found < value) return false;
    if (operator === 'lte' && !(found > value)) return false;
  }
  return true;
}
