// How many requests wait for a slot, and how long they did. Models are names that an agent here lists: for another one no
// request waits.

import type { Registry } from 'prom-client';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';

export interface QueueDepth {
  readonly model: string;
  /** Requests that wait now. */
  readonly depth: number;
}

/** From 10 ms, doubling, to 41 s (routing.md §24). */
const WAIT_BUCKETS = Array.from({ length: 13 }, (_, power) => 0.01 * 2 ** power);

/** The depth is read at each scrape, so that a model that is gone leaves no series behind. */
export function queueMetrics(registers: Registry[], depths: () => readonly QueueDepth[]) {
  new Gauge({
    name: 'hivenet_queue_depth',
    help: 'Requests that wait for a slot of an agent',
    labelNames: ['model'],
    registers,
    collect() {
      this.reset();
      for (const { model, depth } of depths()) this.labels(model).set(depth);
    },
  });
  const wait = new Histogram({
    name: 'hivenet_queue_wait_seconds',
    help: 'Time that requests waited for the slot that they got',
    labelNames: ['model'],
    buckets: WAIT_BUCKETS,
    registers,
  });
  return { waited: (model: string, seconds: number) => wait.labels(model).observe(seconds) };
}
