// Gate B3: sheds requests while the engines of a model say that they are full (api.md §14). No request waits here; the
// figures are as old as the last poll, so waiting 250 ms would see the same ones.

import type { Operator, Threshold } from '../policy/policy.ts';

/** What one healthy agent of the model tells now; undefined is what it does not tell, or told too long ago. */
export interface Pressure {
  /** Share of the KV cache in use, 0 to 1. */
  readonly kvCacheUse: number | undefined;
  readonly waitingRequests: number | undefined;
}

const BREAKS: Readonly<Record<Operator, (mean: number, value: number) => boolean>> = {
  gt: (mean, value) => mean > value,
  gte: (mean, value) => mean >= value,
  lt: (mean, value) => mean < value,
  lte: (mean, value) => mean <= value,
};

/** The first rule that the mean over the agents that tell the metric breaks. A metric that none tells breaks none. */
export function findShedRule(rules: readonly Threshold[], pool: readonly Pressure[]): Threshold | undefined {
  return rules.find(({ metric, operator, value }) => {
    const mean = meanOf(pool.map((agent) => figureOf(agent, metric)));
    return mean !== undefined && BREAKS[operator](mean, value);
  });
}

function figureOf({ kvCacheUse, waitingRequests }: Pressure, metric: Threshold['metric']): number | undefined {
  switch (metric) {
    case 'kv_cache_utilization':
      return kvCacheUse;
    case 'waiting_requests':
      return waitingRequests;
    default:
      return undefined;
  }
}

function meanOf(figures: readonly (number | undefined)[]): number | undefined {
  const told = figures.filter((figure) => figure !== undefined);
  return told.length === 0 ? undefined : told.reduce((sum, figure) => sum + figure, 0) / told.length;
}
