// Which engine metrics the router shows: those of agents that it still has, while they are fresh.

import type { EngineSeries } from '../telemetry/engine-gauges.ts';
import type { Agent } from './agent.ts';

/** Older metrics are not shown: a frozen gauge looks like a calm engine (routing.md §30, 17). */
export const SHOWN_MAX_AGE_MS = 10_000;

/** What the Go router puts where nothing is configured (routing.md §3). */
const UNKNOWN = 'Unknown';

export function engineSeries(agents: readonly Agent[], nowMs: number): readonly EngineSeries[] {
  return agents.flatMap(({ setting, models, metrics }) => {
    if (metrics === undefined || nowMs - metrics.takenMs > SHOWN_MAX_AGE_MS) return [];
    const { id, engine } = setting;
    const labels = { peer_id: id, model: models[0] ?? '', engine, organization: UNKNOWN, machine: UNKNOWN };
    return [{ labels, figures: metrics.metrics }];
  });
}
