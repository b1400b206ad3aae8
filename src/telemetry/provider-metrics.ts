// How long the providers of chat completions take, and what they answer (routing.md §24).

import type { Registry } from 'prom-client';
import Histogram from 'prom-client/lib/histogram.js';

const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Takes each call: `status` 0 is one to which no answer came. */
export function providerMetrics(registers: Registry[]): (provider: string, status: number, seconds: number) => void {
  const duration = new Histogram({
    name: 'http_client_request_duration_seconds',
    help: 'Time until a provider answers; status_code 0: no answer came',
    labelNames: ['provider', 'status_code'],
    buckets: BUCKETS,
    registers,
  });
  return (provider, status, seconds) => duration.labels(provider, String(status)).observe(seconds);
}
