import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Schedule } from '../../src/bench/schedule.ts';

function takeAll(schedule: Schedule, nowMs: number): readonly number[] {
  const due: number[] = [];
  for (let at = schedule.take(nowMs); at !== undefined; at = schedule.take(nowMs)) due.push(at);
  return due;
}

describe('Schedule', () => {
  it('has the first request due at once and the others at even times', () => {
    const schedule = new Schedule(100, 50);
    assert.equal(schedule.total, 5);
    assert.deepEqual(takeAll(schedule, 0), [0]);
    assert.deepEqual(takeAll(schedule, 9.9), []);
    assert.equal(schedule.nextDueMs(), 10);
    assert.deepEqual(takeAll(schedule, 20), [10, 20]);
  });

  it('keeps the times of requests that nobody could send: a stall delays them, and does not leave them out', () => {
    const schedule = new Schedule(1_000, 10);
    assert.deepEqual(takeAll(schedule, 500), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.equal(schedule.isOver, true);
    assert.equal(schedule.nextDueMs(), undefined);
  });

  it('has one request at least', () => {
    assert.equal(new Schedule(0.1, 1_000).total, 1);
  });
});
