// The whole of `bench` from one end to the other: functions, fleet, loads, and what they mean.

import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { chatBody } from './chat-body.ts';
import type { Child } from './child.ts';
import type { BenchFindings, Machine } from './findings.ts';
import { startFleet } from './fleet.ts';
import { LoadDriver } from './load-driver.ts';
import { measureLoads } from './measure-loads.ts';
import type { BenchOptions } from './options.ts';
import { measurePrimitives } from './primitives.ts';
import { recommend } from './recommendation.ts';

/** Of the time, what the functions have. */
const PRIMITIVES_SHARE = 0.1;

export interface BenchPorts {
  readonly version: string;
  /** How this program is started. */
  readonly self: readonly string[];
  /** Told of each process that is started: whoever ends the benchmark early ends them. */
  readonly started: (child: Child) => void;
  /** What is being done now, for somebody who waits. */
  readonly progress: (text: string) => void;
}

export async function measureMachine(options: BenchOptions, ports: BenchPorts): Promise<BenchFindings> {
  const { bodyBytes, durationMs } = options;
  const measuredAt = new Date().toISOString();
  const machine = describeMachine();
  ports.progress('Hashing, signing and checking tokens');
  const body = chatBody(bodyBytes, { model: 'llama-3-70b' });
  const primitives = measurePrimitives(body, durationMs * PRIMITIVES_SHARE);
  ports.progress('Starting two routers, a mock engine and a load process');
  const fleet = await startFleet(ports.self, ports.started);
  const load = new LoadDriver(ports.self);
  ports.started(load.child);
  ports.progress('Redirects, accepted tokens, served and streamed requests over HTTP');
  const loads = await measureLoads(fleet, load, { bodyBytes, durationMs: durationMs * (1 - PRIMITIVES_SHARE) });
  return {
    version: ports.version,
    measuredAt,
    machine,
    bodyBytes,
    durationMs,
    primitives,
    loads,
    recommendation: recommend(loads, bodyBytes, machine),
  };
}

function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryMib: Math.round(totalmem() / 1_048_576),
    system: `${platform()} ${release()} ${arch()}`,
    runtime: navigator.userAgent,
    loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}
