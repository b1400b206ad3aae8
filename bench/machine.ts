// What a result was measured on, as far as it explains the figures and nobody is told more.

import { availableParallelism, cpus, loadavg } from 'node:os';

/** `amd-epyc-2`: the processor and how many cores of it. */
export function machineSlug(): string {
  const model = (cpus()[0]?.model ?? 'unknown').toLowerCase();
  return `${model.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')}-${availableParallelism()}`;
}

/** Processes that wanted a core over the last minute: above the number of cores, absolute figures are too high. */
export function load(): number {
  return Number((loadavg()[0] ?? 0).toFixed(2));
}

export function today(): string {
  return new Date().toISOString().slice(0, 10);
}
