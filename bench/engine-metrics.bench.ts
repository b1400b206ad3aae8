// Reading one scrape of a vLLM with eight data-parallel ranks, against its floor: finding the ends of the lines. It runs
// twice a second for every agent, so it must stay far below 5 ms.

import assert from 'node:assert/strict';
import { vllm } from '../src/agents/engines/vllm.ts';
import { fixture } from '../test/agents/engines/fixture.ts';
import { type Measured, report } from './report.ts';

const RANKS = 8;
/** Families beside the ones that are read; a real page has about as many. */
const OTHER_FAMILIES = 16;

/** The page of one rank, told by every rank and followed by families that the router does not read. */
function exposition(): string {
  const { body } = fixture('vllm/metrics');
  const lines = body.split('\n').filter((line) => line.startsWith('vllm:'));
  const buckets = lines.filter((line) => line.includes('first_token_seconds_bucket'));
  const others = Array.from({ length: OTHER_FAMILIES }, (_, index) =>
    buckets.map((line) => line.replace('time_to_first_token', `e2e_latency_${index}`)),
  );
  const rank = [...lines, ...others.flat()];
  return Array.from({ length: RANKS }, (_, index) =>
    rank.map((line) => line.replace('engine="0"', `engine="${index}"`)).join('\n'),
  ).join('\n');
}

const TEXT = exposition();

function floor(): number {
  let lines = 0;
  for (let at = TEXT.indexOf('\n'); at !== -1; at = TEXT.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

function reading(): Measured {
  const run = () => vllm.metrics?.read(TEXT);
  assert.equal(run()?.runningRequests, 3 * RANKS);
  assert.equal(run()?.ttft?.count, 20 * RANKS);
  const name = `read, ${(TEXT.length / 1024).toFixed(0)} KiB, ${floor()} lines`;
  return { name, run, floor, atMost: 40 };
}

await report('Engine metrics', [reading()]);
