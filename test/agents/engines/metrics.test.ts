// What each engine's metrics say, under its own names, in the versions that the fixtures name.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineName } from '../../../src/agents/agent-setting.ts';
import type { EngineReading } from '../../../src/agents/engine-metrics.ts';
import { ENGINES } from '../../../src/agents/engines/engines.ts';
import { fixture } from './fixture.ts';

type Figures = Omit<EngineReading, 'ttft' | 'itl'>;

const NONE: Figures = {
  kvCacheUse: undefined,
  runningRequests: undefined,
  waitingRequests: undefined,
  preemptionsTotal: undefined,
  generatedTokensPerSecond: undefined,
  promptTokensPerSecond: undefined,
};

interface Case {
  readonly name: `${EngineName}/${string}`;
  readonly what: string;
  readonly figures: Partial<Figures>;
  readonly ttft: readonly [count: number, sumSeconds: number] | undefined;
  readonly itl: readonly [count: number, sumSeconds: number] | undefined;
}

const CASES: readonly Case[] = [
  {
    name: 'vllm/metrics',
    what: 'one rank',
    figures: { kvCacheUse: 0.42, runningRequests: 3, waitingRequests: 2, preemptionsTotal: 7 },
    ttft: [20, 3.4],
    itl: [1000, 26.5],
  },
  {
    name: 'vllm/metrics-two-ranks',
    what: 'requests of two ranks added, their cache use averaged',
    figures: { kvCacheUse: 0.5, runningRequests: 8, waitingRequests: 2, preemptionsTotal: 7 },
    ttft: [40, 6.8],
    itl: [2000, 53],
  },
  {
    name: 'vllm/metrics-old',
    what: 'the old names',
    figures: { kvCacheUse: 0.125, runningRequests: 1, waitingRequests: 0, preemptionsTotal: 0 },
    ttft: [10, 2],
    itl: [100, 4],
  },
  {
    name: 'sglang/metrics',
    what: 'totals without the priorities they are made of, ranks added, both kinds of request together',
    figures: { kvCacheUse: 0.4, runningRequests: 9, waitingRequests: 5, preemptionsTotal: 3 },
    ttft: [20, 5],
    itl: [400, 5.2],
  },
  {
    name: 'sglang/metrics-old',
    what: 'the old name, and what two tensor-parallel ranks repeat only once',
    figures: { kvCacheUse: 0.04, runningRequests: 2, waitingRequests: 0 },
    ttft: [4, 0.6],
    itl: [100, 2],
  },
  {
    name: 'llamacpp/metrics',
    what: 'the time between tokens from its counters, and no cache use',
    figures: {
      runningRequests: 2,
      waitingRequests: 5,
      generatedTokensPerSecond: 39.604,
      promptTokensPerSecond: 550.88,
    },
    ttft: undefined,
    itl: [2000, 50.5],
  },
  {
    name: 'llamacpp/metrics-old',
    what: 'the cache use, and nothing for NaN',
    figures: { kvCacheUse: 0.0625, runningRequests: 1, waitingRequests: 0, promptTokensPerSecond: 550.88 },
    ttft: undefined,
    itl: [2000, 50.5],
  },
];

function read(engine: EngineName, text: string): EngineReading | undefined {
  return ENGINES[engine].metrics?.read(text);
}

function engineOf({ name }: Case): EngineName {
  return name.slice(0, name.indexOf('/')) as EngineName;
}

const roughly = (value: number | undefined) => (value === undefined ? undefined : Number(value.toFixed(9)));

describe('MetricsSource.read()', () => {
  for (const testCase of CASES) {
    const { name, what, figures, ttft, itl } = testCase;
    it(`reads of ${name} ${what}`, () => {
      const reading = read(engineOf(testCase), fixture(name).body);
      assert.ok(reading !== undefined);
      const { ttft: ttftRead, itl: itlRead, ...rest } = reading;
      assert.deepEqual({ ...rest, kvCacheUse: roughly(rest.kvCacheUse) }, { ...NONE, ...figures });
      assert.deepEqual(ttftRead && [ttftRead.count, roughly(ttftRead.sumSeconds)], ttft);
      assert.deepEqual(itlRead && [itlRead.count, roughly(itlRead.sumSeconds)], itl);
    });
  }

  it('adds the buckets of all series', () => {
    const { buckets } = read('vllm', fixture('vllm/metrics-two-ranks').body)?.ttft ?? {};
    assert.deepEqual(
      [0.08, 0.1, 0.25, 0.5, 2560, Number.POSITIVE_INFINITY].map((bound) => buckets?.get(bound)),
      [0, 10, 36, 40, 40, 40],
    );
    assert.equal(buckets?.size, 23);
  });

  it('tells no buckets of an engine without histograms', () => {
    assert.equal(read('llamacpp', fixture('llamacpp/metrics').body)?.itl?.buckets.size, 0);
  });

  it('keeps cache use within 0 and 1', () => {
    assert.equal(read('vllm', 'vllm:kv_cache_usage_perc 1.25')?.kvCacheUse, 1);
    assert.equal(read('vllm', 'vllm:kv_cache_usage_perc -0.1')?.kvCacheUse, 0);
  });

  it('takes the new name where an engine has both', () => {
    const both = 'vllm:gpu_cache_usage_perc 0.1\nvllm:kv_cache_usage_perc 0.2\n';
    assert.equal(read('vllm', both)?.kvCacheUse, 0.2);
  });

  it('reads several models of one exposition as one load', () => {
    const text = 'vllm:num_requests_running{model_name="a"} 2\nvllm:num_requests_running{model_name="b"} 3\n';
    assert.equal(read('vllm', text)?.runningRequests, 5);
  });

  for (const value of ['NaN', '+Inf', '-Inf']) {
    it(`takes ${value} for nothing told`, () => {
      assert.equal(
        read('vllm', `vllm:num_requests_running ${value}\nvllm:num_requests_waiting 1`)?.runningRequests,
        undefined,
      );
    });
  }

  for (const [engine, text] of [
    ['vllm', ''],
    ['vllm', '<html>not metrics</html>'],
    ['vllm', 'sglang:num_running_reqs 1\n'],
    ['sglang', fixture('sglang/metrics-off').body],
    ['llamacpp', fixture('llamacpp/metrics-off').body],
  ] as const) {
    it(`finds none of ${engine} in ${JSON.stringify(text.slice(0, 30))}`, () => {
      assert.equal(read(engine, text), undefined);
    });
  }

  for (const engine of ['ollama', 'infinity', 'custom'] as const) {
    it(`is not there for ${engine}`, () => assert.equal(ENGINES[engine].metrics, undefined));
  }
});
