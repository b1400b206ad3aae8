import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRestarted, type LatencyTotals, metricsBetween } from '../../src/agents/engine-metrics.ts';
import { latency, reading } from './readings.ts';

const between = (earlier: LatencyTotals | undefined, later: LatencyTotals | undefined) => {
  const { ttftMs, ttftP90Ms, itlMs, itlP90Ms } = metricsBetween(reading({ ttft: earlier }), reading({ ttft: later }));
  assert.deepEqual([itlMs, itlP90Ms], [undefined, undefined]);
  return [ttftMs, ttftP90Ms];
};

const INF = Number.POSITIVE_INFINITY;

describe('metricsBetween()', () => {
  it('takes the gauges of the later reading', () => {
    const metrics = metricsBetween(reading({ kvCacheUse: 0.1 }), reading({ kvCacheUse: 0.2, runningRequests: 3 }));
    assert.equal(metrics.kvCacheUse, 0.2);
    assert.equal(metrics.runningRequests, 3);
    assert.equal(metrics.waitingRequests, undefined);
  });

  it('has the mean of what was observed between the two, in milliseconds', () => {
    assert.deepEqual(between(latency(10, 5), latency(14, 6)), [250, undefined]);
  });

  it('has the mean time between tokens beside it', () => {
    const { itlMs } = metricsBetween(reading({ itl: latency(100, 2) }), reading({ itl: latency(200, 5) }));
    assert.equal(itlMs, 30);
  });

  it('takes a histogram that is told for the first time for one that was empty', () => {
    assert.deepEqual(between(undefined, latency(10, 5)), [500, undefined]);
  });

  it('has no latency when nothing was observed, or the later reading tells none', () => {
    assert.deepEqual(between(latency(10, 5), latency(10, 5)), [undefined, undefined]);
    assert.deepEqual(between(undefined, undefined), [undefined, undefined]);
    assert.deepEqual(between(latency(10, 5), undefined), [undefined, undefined]);
  });

  const p90: readonly (readonly [what: string, buckets: readonly (readonly [number, number])[], expected: unknown])[] =
    [
      [
        'within a bucket, linear',
        [
          [0.1, 0],
          [0.2, 10],
          [INF, 10],
        ],
        190,
      ],
      [
        'within the first bucket, from 0',
        [
          [0.1, 10],
          [0.2, 10],
          [INF, 10],
        ],
        90,
      ],
      [
        'at a bound',
        [
          [0.1, 9],
          [0.2, 10],
          [INF, 10],
        ],
        100,
      ],
      [
        'beyond the last finite bound, that bound',
        [
          [0.1, 1],
          [0.2, 2],
          [INF, 10],
        ],
        200,
      ],
      [
        'whatever the order',
        [
          [INF, 10],
          [0.2, 10],
          [0.1, 0],
        ],
        190,
      ],
      ['without finite bounds', [[INF, 10]], undefined],
      [
        'of torn buckets, no number below their bounds',
        [
          [0.1, 5],
          [0.2, 4],
          [0.4, 10],
          [INF, 10],
        ],
        360,
      ],
    ];
  for (const [what, buckets, expected] of p90) {
    it(`has the 90th percentile ${what} (routing.md §10)`, () => {
      const [, p90Ms] = between(latency(0, 0), latency(10, 1, buckets));
      assert.equal(p90Ms === undefined ? undefined : Math.round(p90Ms), expected);
    });
  }

  it('has the 90th percentile of the time between, not of the engine’s whole life', () => {
    const before = latency(100, 1, [
      [0.1, 100],
      [0.2, 100],
      [INF, 100],
    ]);
    const after = latency(110, 3, [
      [0.1, 100],
      [0.2, 110],
      [INF, 110],
    ]);
    assert.equal(Math.round(between(before, after)[1] ?? 0), 190);
  });

  it('counts a bucket that is new as one that was empty', () => {
    assert.equal(
      Math.round(
        between(
          latency(0, 0),
          latency(10, 1, [
            [0.1, 10],
            [INF, 10],
          ]),
        )[1] ?? 0,
      ),
      90,
    );
  });
});

describe('isRestarted()', () => {
  const cases: readonly (readonly [what: string, later: LatencyTotals | undefined, expected: boolean])[] = [
    ['counters that stand', latency(10, 5), false],
    ['counters that grow', latency(11, 6), false],
    ['a smaller count', latency(9, 6), true],
    ['a smaller sum', latency(11, 4.9), true],
    ['no latency told any more', undefined, false],
  ];
  for (const [what, later, expected] of cases) {
    it(`is ${expected} for ${what}`, () => {
      assert.equal(isRestarted(reading({ ttft: latency(10, 5) }), reading({ ttft: later })), expected);
      assert.equal(isRestarted(reading({ itl: latency(10, 5) }), reading({ itl: later })), expected);
    });
  }
});
