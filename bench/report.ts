// Runs a task beside its floor, in short rounds by turns, and takes the median of the ratios: what the machine does
// besides falls on both. Absolute times belong to the machine and are only told.

import { Bench } from 'tinybench';
import { type Figure, IS_QUICK, tell } from './figure.ts';
import type { TargetId } from './targets.ts';

/** A task and the least that it could cost: the bare primitives that it cannot avoid, over the same bytes. */
export interface Measured {
  readonly name: string;
  readonly run: () => unknown;
  /** Undefined: there is nothing to compare it with, and only the time is told. */
  readonly floor?: () => unknown;
  readonly target?: TargetId;
  /** Bound of the ratio where it is in no row of the table. */
  readonly atMost?: number;
}

const ROUNDS = IS_QUICK ? 3 : 7;
const ROUND_MS = IS_QUICK ? 20 : 40;
const WARM_UP_MS = 100;
/** Calls are timed in batches of about that long: one alone may be shorter than the clock's step. */
const BATCH_US = 20;

/** Where results go, so that no compiler leaves the work out. */
let sink: unknown;

/** Measures each task and tells what was found. */
export async function report(title: string, tasks: readonly Measured[]): Promise<void> {
  const figures: Figure[] = [];
  for (const task of tasks) figures.push(await measure(task));
  tell(title, figures);
  if (sink === figures) throw new Error('A task returned what it cannot know');
}

/** Median ns of one call. */
export async function medianNs(run: () => unknown, timeMs: number = ROUND_MS * ROUNDS): Promise<number> {
  const calls = callsPerBatch(run);
  return roundNs(batched(run, calls), calls, timeMs);
}

async function measure({ name, run, floor, target, atMost }: Measured): Promise<Figure> {
  if (floor === undefined) return { name, value: await medianNs(run), unit: 'ns' };
  const [runCalls, floorCalls] = [callsPerBatch(run), callsPerBatch(floor)];
  const [runs, floors] = [batched(run, runCalls), batched(floor, floorCalls)];
  const rounds: { readonly runNs: number; readonly floorNs: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({
      runNs: await roundNs(runs, runCalls, ROUND_MS),
      floorNs: await roundNs(floors, floorCalls, ROUND_MS),
    });
  }
  return {
    name,
    value: median(rounds.map(({ runNs, floorNs }) => runNs / floorNs)),
    unit: '×',
    ...(target === undefined ? {} : { target }),
    ...(atMost === undefined ? {} : { atMost }),
    note: `${ns(median(rounds.map(({ runNs }) => runNs)))}, floor ${ns(median(rounds.map(({ floorNs }) => floorNs)))}`,
  };
}

async function roundNs(batch: () => void, calls: number, timeMs: number): Promise<number> {
  const bench = new Bench({ time: timeMs, warmup: false, iterations: 3 }).add('batch', batch, { async: false });
  await bench.run();
  const result = bench.getTask('batch')?.result;
  if (result === undefined || !('latency' in result)) throw new Error('Cannot measure: the task failed');
  return (result.latency.p50 * 1e6) / calls;
}

/** Also warms the task up. */
function callsPerBatch(run: () => unknown): number {
  const startedMs = performance.now();
  let calls = 0;
  do {
    sink = run();
    calls += 1;
  } while (performance.now() - startedMs < WARM_UP_MS);
  const us = ((performance.now() - startedMs) * 1000) / calls;
  return Math.max(1, Math.round(BATCH_US / us));
}

function batched(run: () => unknown, calls: number): () => void {
  return () => {
    for (let call = 0; call < calls; call += 1) sink = run();
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function ns(value: number): string {
  if (value < 10_000) return `${value.toFixed(0)} ns`;
  return value < 10_000_000 ? `${(value / 1000).toFixed(1)} µs` : `${(value / 1e6).toFixed(1)} ms`;
}
