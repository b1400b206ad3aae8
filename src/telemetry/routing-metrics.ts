// What became of the requests that this site was to serve, by region, engine, model and tenant (routing.md §24). Each
// counts once, where its record ends; what single tries came to is counted for each agent.

import type { Registry } from 'prom-client';
import type { RequestRecord } from './request-record.ts';
import { Series } from './series.ts';
import { SeriesCounter } from './series-metrics.ts';

/** Names that operators gave, never what a client made up. */
export interface RoutedLabels {
  /** Of the agent that was asked last, `cloud` for a provider; empty when nobody was. */
  readonly region: string;
  readonly engine: string;
  /** One that an agent here lists, that the map starts here from zero, or that a policy document is for; else `other`. */
  readonly model: string;
  /** Owner of the key. */
  readonly tenant_id: string;
}

const LABELS = ['region', 'engine', 'model', 'tenant_id'] as const satisfies readonly (keyof RoutedLabels)[];

/**
 * Takes each ended record. Routed: a 200 that came to its end. Failed: the router or its engines let the client down,
 * before the answer or in the middle of it. Neither: redirects, a client's mistake, a client that left.
 */
export function routingMetrics(registers: Registry[]): (record: RequestRecord) => void {
  const series = new Series(LABELS, () => ({ routed: 0, failed: 0 }));
  new SeriesCounter(
    {
      name: 'hivenet_routing_requests_routed_total',
      help: 'Requests that an engine here, or the provider of the policy, answered to the end',
      registers,
    },
    series,
    ({ routed }) => routed || undefined,
  );
  new SeriesCounter(
    {
      name: 'hivenet_routing_requests_failed_total',
      help: 'Requests for a model of this site that got no answer, or a broken one; each once, whatever was tried',
      registers,
    },
    series,
    ({ failed }) => failed || undefined,
  );
  return (record) => {
    const { routing } = record;
    const outcome = outcomeOf(record);
    if (routing === undefined || outcome === 'neither') return;
    const { region, engine, model, tenant_id: tenant } = routing;
    series.of([region, engine, model, tenant])[outcome] += 1;
  };
}

/** What a request that this site was to serve has come to. */
export function outcomeOf({ status, errorCode }: RequestRecord): 'routed' | 'failed' | 'neither' {
  const isWhole = errorCode === undefined;
  if (status === 200 && isWhole) return 'routed';
  return status >= 500 || (status === 200 && !isWhole) ? 'failed' : 'neither';
}
