// What the load process is asked to do, and what it found: lines of JSON between two processes of one binary.

import { Buffer } from 'node:buffer';
import type { Latencies } from './latency.ts';

/** One kind of request, sent to one listener. */
export interface Job {
  /** On 127.0.0.1. */
  readonly port: number;
  readonly path: string;
  /** The body, base64. */
  readonly body: string;
  /** Whole lines, such as `Authorization: Bearer …`. */
  readonly headers: readonly string[];
  /** What every answer must have: anything else is counted as failed. */
  readonly status: number;
  readonly connections: number;
  readonly durationMs: number;
  /** Requests a second, due at fixed times; undefined: every connection asks again as soon as it is answered. */
  readonly perSecond?: number;
  /**
   * `keep`: the tokens in the Locations of the answers are kept for later jobs. `use`: every request takes one of them, and
   * the job ends when there are none left.
   */
  readonly tokens?: 'keep' | 'use';
}

export interface JobOutcome {
  readonly answered: number;
  /** Another status, a broken connection, or no answer in time. */
  readonly failed: number;
  /** What the first of them was, in a few words; '' for none. */
  readonly failure: string;
  readonly elapsedMs: number;
  /** From when a request was due (at a fixed rate) or sent, to its last byte. */
  readonly latencies: Latencies;
  /** Tokens that are left. */
  readonly tokens: number;
}

/** Requests a second. */
export function rateOf({ answered, elapsedMs }: JobOutcome): number {
  return elapsedMs === 0 ? 0 : (answered * 1_000) / elapsedMs;
}

/** Body bytes as a job carries them. */
export function encodeBody(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64');
}
