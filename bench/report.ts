// Runs tasks beside their floor and prints both. Only ratios within one run are held to a bound: absolute times belong
// to the machine that they were measured on.

import { cpus } from 'node:os';
import { Bench } from 'tinybench';

/** A task and the least that it could cost: the bare primitive over the same bytes. */
export interface Measured {
  readonly name: string;
  readonly run: () => unknown;
  readonly floor: () => unknown;
  /** Bound of the ratio of the medians, task to floor. */
  readonly atMost: number;
}

const ROUND_MS = 300;

/** Prints the median ns per call of each task and of its floor. Throws when a ratio is above its bound. */
export async function report(title: string, tasks: readonly Measured[]): Promise<void> {
  const processors = cpus();
  console.log(`${title} · ${navigator.userAgent} · ${processors.length} × ${processors[0]?.model} · ${today()}`);
  const bench = new Bench({ time: ROUND_MS, warmupTime: ROUND_MS });
  for (const { name, run, floor } of tasks) {
    bench.add(name, run, { async: false }).add(floorOf(name), floor, { async: false });
  }
  await bench.run();
  const medianNs = (name: string) => {
    const result = bench.getTask(name)?.result;
    if (result === undefined || !('latency' in result)) throw new Error(`Cannot measure "${name}"`);
    return result.latency.p50 * 1e6;
  };
  const broken = tasks.filter(({ name, atMost }) => {
    const [taskNs, floorNs] = [medianNs(name), medianNs(floorOf(name))];
    const ratio = taskNs / floorNs;
    console.log(
      `  ${name.padEnd(44)} ${taskNs.toFixed(0).padStart(7)} ns/op   floor ${floorNs.toFixed(0).padStart(6)} ns/op` +
        `   ${ratio.toFixed(2).padStart(5)} × floor (at most ${atMost})`,
    );
    return ratio > atMost;
  });
  if (broken.length > 0) throw new Error(`Too far above the floor: ${broken.map(({ name }) => name).join(', ')}`);
}

function floorOf(name: string): string {
  return `floor of ${name}`;
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
