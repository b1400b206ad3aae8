import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MetricsWindow, WINDOW_MS } from '../../src/agents/metrics-window.ts';
import { latency, reading } from './readings.ts';

type Taking = readonly [takenMs: number, count: number, sumSeconds: number];

/** A window that is given the totals of the time to first token, each taken at its time. */
function windowOf(...takings: Taking[]) {
  const window = new MetricsWindow();
  for (const [takenMs, count, sum] of takings) window.add(reading({ ttft: latency(count, sum) }), takenMs);
  return window.latest;
}

const ttftOf = (...takings: Taking[]) => windowOf(...takings)?.metrics.ttftMs;

describe('MetricsWindow', () => {
  it('has nothing before the first reading, and no latency after it alone', () => {
    assert.equal(windowOf(), undefined);
    assert.equal(ttftOf([0, 10, 5]), undefined);
  });

  it('keeps the gauges and the time of the last reading', () => {
    const window = new MetricsWindow();
    window.add(reading({ runningRequests: 1 }), 0);
    window.add(reading({ runningRequests: 2 }), 500);
    assert.equal(window.latest?.takenMs, 500);
    assert.equal(window.latest?.metrics.runningRequests, 2);
  });

  it('is over all readings of the last half minute', () => {
    assert.equal(ttftOf([0, 0, 0], [500, 1, 1], [1000, 2, 4]), 2000);
    assert.equal(ttftOf([0, 0, 0], [10_000, 1, 1], [WINDOW_MS, 2, 4]), 2000);
  });

  it('forgets what was observed before', () => {
    assert.equal(ttftOf([0, 0, 0], [10_000, 1, 1], [WINDOW_MS + 1, 2, 4]), 3000);
  });

  it('has no latency half a minute after the last observation', () => {
    const takings = Array.from({ length: 70 }, (_, index): Taking => [1000 + index * 500, 1, 1]);
    assert.equal(ttftOf([0, 0, 0], ...takings.slice(0, 58)), 1000);
    assert.equal(ttftOf([0, 0, 0], ...takings), undefined);
  });

  it('begins anew after a pause as long as the window', () => {
    assert.equal(ttftOf([0, 0, 0], [60_000, 100, 100]), undefined);
    assert.equal(ttftOf([0, 0, 0], [60_000, 100, 100], [60_500, 101, 102]), 2000);
  });

  it('begins anew when the engine was restarted', () => {
    assert.equal(ttftOf([0, 100, 50], [500, 101, 51], [1000, 2, 8]), undefined);
    assert.equal(ttftOf([0, 100, 50], [500, 101, 51], [1000, 2, 8], [1500, 3, 9]), 1000);
  });
});
