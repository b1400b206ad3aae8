// The table of every metric with every operator, for a figure that is present, missing or stale.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isBreached } from '../../src/policy/gates.ts';
import { MEASURED_FRESH_MS, METRICS, type MetricName, RECORD_FRESH_MS } from '../../src/policy/metric.ts';
import { OPERATORS, type Operator, type Threshold } from '../../src/policy/policy.ts';
import type { PolicyAgent } from '../../src/policy/policy-agent.ts';
import { agent, engineMetrics, gpu, hardware, NOW_MS, record } from './agents.ts';

interface Case {
  /** An agent for which the metric is exactly {@link Case.value}, measured `ageMs` ago. */
  readonly having: (ageMs: number) => PolicyAgent;
  readonly value: number;
  /** After this age it counts as missing; undefined: it is counted live. */
  readonly freshMs: number | undefined;
}

const RECORD = { freshMs: RECORD_FRESH_MS };
const MEASURED = { freshMs: MEASURED_FRESH_MS };
const TWO_GPUS = [
  gpu({ temperatureC: 60, utilPercent: 75, vramUsedBytes: 30, vramTotalBytes: 40 }),
  gpu({ temperatureC: 81, utilPercent: 50, vramUsedBytes: 40, vramTotalBytes: 80 }),
];

/** A new metric without a case does not compile. */
const CASES = {
  capacity_utilization: { having: () => agent({ active: 5 }), value: 0.5, freshMs: undefined },
  success_rate: { having: (age) => agent({ record: record({ successRate: 0.75 }, age) }), value: 0.75, ...RECORD },
  srtt: { having: (age) => agent({ record: record({ srttMs: 250 }, age) }), value: 250, ...RECORD },
  consecutive_failures: {
    having: (age) => agent({ record: record({ consecutiveFailures: 3 }, age) }),
    value: 3,
    ...RECORD,
  },
  kv_cache_utilization: {
    having: (age) => agent({ engineMetrics: engineMetrics({ kvCacheUse: 0.25 }, age) }),
    value: 0.25,
    ...MEASURED,
  },
  running_requests: {
    having: (age) => agent({ engineMetrics: engineMetrics({ runningRequests: 7 }, age) }),
    value: 7,
    ...MEASURED,
  },
  waiting_requests: {
    having: (age) => agent({ engineMetrics: engineMetrics({ waitingRequests: 9 }, age) }),
    value: 9,
    ...MEASURED,
  },
  avg_ttft_seconds: {
    having: (age) => agent({ engineMetrics: engineMetrics({ ttftMs: 1500 }, age) }),
    value: 1.5,
    ...MEASURED,
  },
  p90_ttft_seconds: {
    having: (age) => agent({ engineMetrics: engineMetrics({ ttftP90Ms: 2500 }, age) }),
    value: 2.5,
    ...MEASURED,
  },
  avg_itl_seconds: {
    having: (age) => agent({ engineMetrics: engineMetrics({ itlMs: 125 }, age) }),
    value: 0.125,
    ...MEASURED,
  },
  p90_itl_seconds: {
    having: (age) => agent({ engineMetrics: engineMetrics({ itlP90Ms: 250 }, age) }),
    value: 0.25,
    ...MEASURED,
  },
  gpu_temperature_c: {
    having: (age) => agent({ hardware: hardware({ gpus: TWO_GPUS }, age) }),
    value: 81,
    ...MEASURED,
  },
  gpu_util_percent: {
    having: (age) => agent({ hardware: hardware({ gpus: TWO_GPUS }, age) }),
    value: 0.75,
    ...MEASURED,
  },
  gpu_vram_used_percent: {
    having: (age) => agent({ hardware: hardware({ gpus: TWO_GPUS }, age) }),
    value: 0.75,
    ...MEASURED,
  },
  memory_used_percent: {
    having: (age) => agent({ hardware: hardware({ memoryUsedPercent: 50 }, age) }),
    value: 0.5,
    ...MEASURED,
  },
  cpu_usage_percent: {
    having: (age) => agent({ hardware: hardware({ cpuUsagePercent: 25 }, age) }),
    value: 0.25,
    ...MEASURED,
  },
} satisfies Record<MetricName, Case>;

/** Whether a value below, at and above the threshold breaches it. */
const BREACHED: Readonly<Record<Operator, readonly [below: boolean, at: boolean, above: boolean]>> = {
  gt: [false, false, true],
  gte: [false, true, true],
  lt: [true, false, false],
  lte: [true, true, false],
};

const EPSILON = 0.001;

describe('isBreached()', () => {
  for (const [name, { having, value, freshMs }] of Object.entries<Case>(CASES)) {
    const metric = name as MetricName;
    for (const operator of OPERATORS) {
      const breaches = (threshold: number, ageMs: number, whose = having(ageMs)) =>
        isBreached({ metric, operator, value: threshold }, whose, NOW_MS);

      it(`${metric} ${operator}: present, on both sides of the threshold and at it`, () => {
        const found = [value + EPSILON, value, value - EPSILON].map((threshold) => breaches(threshold, 0));
        assert.deepEqual(found, BREACHED[operator]);
      });

      it(`${metric} ${operator}: missing passes`, () => {
        if (metric === 'capacity_utilization') return; // never is
        const empty = [
          agent(),
          agent({ record: record({}), engineMetrics: engineMetrics({}), hardware: hardware({}) }),
        ];
        for (const whose of empty) {
          for (const threshold of [-1, 0, 1e9]) assert.equal(breaches(threshold, 0, whose), false);
        }
      });

      it(`${metric} ${operator}: stale counts as missing`, () => {
        const breached = operator.startsWith('g') ? value - EPSILON : value + EPSILON;
        if (freshMs === undefined) {
          assert.equal(breaches(breached, 1e12), true);
          return;
        }
        assert.deepEqual([breaches(breached, freshMs), breaches(breached, freshMs + 1)], [true, false]);
      });
    }
  }

  it('takes no part of a GPU that tells no memory', () => {
    const threshold: Threshold = { metric: 'gpu_vram_used_percent', operator: 'gte', value: 0 };
    const told = (...gpus: ReturnType<typeof gpu>[]) =>
      isBreached(threshold, agent({ hardware: hardware({ gpus }) }), NOW_MS);
    assert.equal(told(gpu()), false);
    assert.equal(told(gpu(), gpu({ vramTotalBytes: 1 })), true);
  });
});

describe('METRICS', () => {
  it('has the sixteen of the Go router, with their units (routing.md §17)', () => {
    const units = Object.entries(METRICS).map(([name, { unit }]) => `${name} ${unit}`);
    assert.equal(units.length, 16);
    assert.deepEqual(
      units.filter((line) => !line.endsWith(' share')),
      [
        'srtt milliseconds',
        'consecutive_failures count',
        'running_requests count',
        'waiting_requests count',
        'avg_ttft_seconds seconds',
        'p90_ttft_seconds seconds',
        'avg_itl_seconds seconds',
        'p90_itl_seconds seconds',
        'gpu_temperature_c celsius',
      ],
    );
  });
});
