// Everything that `bench` finds out, as its JSON document has it.

import type { Latencies } from './latency.ts';

/** Calls a second on one core, of the function alone. */
export interface PrimitiveFinding {
  readonly name: 'sha256_body' | 'hmac_sha256' | 'mint_token' | 'verify_token';
  readonly perSecond: number;
}

export type LoadName = 'redirect' | 'accepted_token' | 'served' | 'streamed';

/** One kind of request over HTTP. */
export interface LoadFinding {
  readonly name: LoadName;
  /** Connections that asked at the same time. */
  readonly connections: number;
  /** Answered requests a second when every connection asks again at once. */
  readonly maxPerSecond: number;
  /** The same with a fixed rate of half of that: from when a request was due to its last byte. */
  readonly atHalf: { readonly perSecond: number; readonly latencies: Latencies } | null;
  /** Answers that were not what they should be. */
  readonly failed: number;
  readonly failure: string;
  /** Processor time of the router for one request, in µs; null where the system does not tell it. */
  readonly routerCpuUs: number | null;
  /** Share of one core that the router had at the highest rate, 0 to 1 or a little more; null likewise. */
  readonly routerCoreShare: number | null;
  /** The most resident memory that the router had until its end, in MiB; null likewise. */
  readonly routerPeakMemoryMib: number | null;
}

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryMib: number;
  readonly system: string;
  readonly runtime: string;
  /** Processes that ran or wanted to, on the average of the minute before. */
  readonly loadBefore: number;
}

/** What an operator can plan with. */
export interface Recommendation {
  readonly servedPerSecond: number;
  readonly redirectsPerSecond: number;
  readonly limit: 'router' | 'machine' | 'unknown';
  readonly text: string;
}

export interface BenchFindings {
  readonly version: string;
  /** When it was begun, RFC 3339. */
  readonly measuredAt: string;
  readonly machine: Machine;
  readonly bodyBytes: number;
  readonly durationMs: number;
  readonly primitives: readonly PrimitiveFinding[];
  readonly loads: readonly LoadFinding[];
  readonly recommendation: Recommendation;
}
