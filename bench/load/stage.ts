// The processes of one comparison: started, pinned to a core where there are two, and ended together.

import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { Child, cpuMs } from '../../src/bench/child.ts';
import { type Job, type JobOutcome, rateOf } from '../../src/bench/job.ts';
import { LoadDriver } from '../../src/bench/load-driver.ts';
import { BINARY } from '../../test/support/child-process.ts';
import { median } from '../report.ts';

const BARE = new URL('./bare.ts', import.meta.url).pathname;

/** What is measured has the first core, what measures it and what stands behind it the second. */
export const MEASURED_CORE = 0;
export const OTHER_CORE = 1;
const IS_PINNED = availableParallelism() >= 2 && spawnSync('taskset', ['--version']).status === 0;

export function pinned(core: number, command: readonly string[]): readonly string[] {
  return IS_PINNED ? ['taskset', '-c', String(core), ...command] : command;
}

/** This binary, to be started on a core. */
export function router(core: number): readonly string[] {
  return pinned(core, [BINARY]);
}

/** For so long a server under load is still compiled. */
const WARM_UP_MS = 3_000;

export interface Server {
  readonly child: Child;
  readonly port: number;
}

export class Stage {
  readonly #children: Child[] = [];
  readonly load: LoadDriver;

  constructor() {
    this.load = new LoadDriver(router(OTHER_CORE));
    this.#children.push(this.load.child);
  }

  readonly join = (child: Child): void => void this.#children.push(child);

  /** One of the bare servers. */
  async bare(core: number, role: string, ...args: readonly string[]): Promise<Server> {
    const environment = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' };
    const child = new Child(pinned(core, [process.execPath, BARE, role, ...args]), environment);
    this.join(child);
    return { child, port: Number(await child.after('listening ')) };
  }

  async end(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.kill()));
  }
}

export interface Side {
  readonly job: Job;
  /** Whose processor time counts. */
  readonly pid: number;
}

/** Of one side, over all rounds. */
export interface Measurement {
  readonly perSecond: number;
  readonly p50Ms: number;
  /** Processor time of the measured process, in µs a request. */
  readonly cpuUs: number;
}

/** Both by turns: the ratio of their rates in each round, and what each was in the middle. */
export async function compareSides(load: LoadDriver, one: Side, other: Side, rounds: number) {
  for (const { job } of [one, other]) {
    // Tokens end: there are none to warm up with.
    await load.run(job.tokens === 'use' ? job : { ...job, durationMs: WARM_UP_MS });
  }
  const found: { readonly one: Measurement; readonly other: Measurement }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    found.push({ one: await measureSide(load, one), other: await measureSide(load, other) });
  }
  const medianOf = (pick: (round: (typeof found)[number]) => number) => median(found.map(pick));
  const middle = (side: 'one' | 'other'): Measurement => ({
    perSecond: medianOf((round) => round[side].perSecond),
    p50Ms: medianOf((round) => round[side].p50Ms),
    cpuUs: medianOf((round) => round[side].cpuUs),
  });
  return {
    rateRatio: medianOf((round) => round.one.perSecond / round.other.perSecond),
    cpuRatio: medianOf((round) => round.one.cpuUs / round.other.cpuUs),
    addedMs: medianOf((round) => round.one.p50Ms - round.other.p50Ms),
    one: middle('one'),
    other: middle('other'),
  };
}

async function measureSide(load: LoadDriver, { job, pid }: Side): Promise<Measurement> {
  const before = cpuMs(pid) ?? Number.NaN;
  const outcome = await load.run(job);
  const cpuUs = (((cpuMs(pid) ?? Number.NaN) - before) * 1_000) / outcome.answered;
  failIfAny(outcome);
  return { perSecond: rateOf(outcome), p50Ms: outcome.latencies.p50Ms, cpuUs };
}

function failIfAny({ failed, failure }: JobOutcome): void {
  if (failed > 0) throw new Error(`${failed} requests failed, the first by: ${failure}`);
}

/** `12,345/s and 45.6 µs of CPU`. */
export function describe({ perSecond, cpuUs }: Measurement): string {
  return `${Math.round(perSecond).toLocaleString('en')}/s, ${cpuUs.toFixed(1)} µs CPU`;
}
