import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TrackRecord } from '../../src/agents/track-record.ts';

describe('TrackRecord', () => {
  it('has no latency and no success rate before the first request', () => {
    const record = new TrackRecord();
    assert.deepEqual([record.srttMs, record.rttvarMs, record.successRate], [undefined, undefined, undefined]);
  });

  it('smooths latencies as RFC 6298 does, and improvements by half', () => {
    const record = new TrackRecord();
    const seen = [100, 60, 120].map((ms) => {
      record.sample(ms);
      return [record.srttMs, record.rttvarMs];
    });
    assert.deepEqual(seen, [
      [100, 50],
      [80, 47.5],
      [85, 45.625],
    ]);
  });

  it('takes a first sample of 0 for a sample', () => {
    const record = new TrackRecord();
    record.sample(0);
    record.sample(8);
    assert.deepEqual([record.srttMs, record.rttvarMs], [1, 2]);
  });

  it('counts outcomes over its whole life and failures since the last success', () => {
    const record = new TrackRecord();
    record.failed();
    record.succeeded({ inputTokens: 3, outputTokens: 4 });
    record.failed();
    record.failed();
    record.succeeded();
    record.succeeded({ inputTokens: 10, outputTokens: 0 });
    record.failed();
    const { successes, failures, successRate, consecutiveFailures, inputTokens, outputTokens } = record;
    assert.deepEqual(
      { successes, failures, successRate, consecutiveFailures, inputTokens, outputTokens },
      { successes: 3, failures: 4, successRate: 3 / 7, consecutiveFailures: 1, inputTokens: 13, outputTokens: 4 },
    );
  });
});

describe('TrackRecord.lifetime', () => {
  it('goes on where another record ended (routing.md §23), but for failures in a row', () => {
    const before = new TrackRecord();
    before.sample(42);
    before.succeeded({ inputTokens: 3, outputTokens: 4 });
    before.failed();
    before.wentDown('probes');
    before.wentDown('refused');
    before.wentDown('refused');
    const record = new TrackRecord();
    record.restore(before.lifetime);
    assert.deepEqual(record.lifetime, before.lifetime);
    assert.deepEqual([record.timesLost, record.successRate, record.consecutiveFailures], [3, 0.5, 0]);
    // The check value of routing.md §23: warm start 42, sample 10.
    record.sample(10);
    record.succeeded({ inputTokens: 1, outputTokens: 1 });
    const { srttMs, successes, inputTokens, outputTokens } = record;
    assert.deepEqual([srttMs, successes, inputTokens, outputTokens], [26, 2, 4, 5]);
  });

  it('is told of with each change, once', () => {
    const record = new TrackRecord();
    let changes = 0;
    record.onChange(() => {
      changes += 1;
    });
    record.restore(record.lifetime);
    record.touch();
    assert.equal(changes, 0);
    for (const change of [
      () => record.sample(1),
      () => record.sample(2),
      () => record.succeeded({ inputTokens: 1, outputTokens: 1 }),
      () => record.used({ inputTokens: 1, outputTokens: 1 }),
      () => record.failed(),
      () => record.wentDown('probes'),
    ]) {
      const before = record.lifetime;
      change();
      assert.notDeepEqual(record.lifetime, before);
    }
    assert.equal(changes, 6);
  });
});
