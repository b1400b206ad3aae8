// What became of requests under their policies, and of the policies themselves (routing.md §24).

import type { Registry } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';
import { Series } from './series.ts';
import { SeriesCounter } from './series-metrics.ts';

export interface PolicyMetrics {
  /** An agent's answer was used; `isFallback`: it was not the primary step's. `model` is one that an agent here has. */
  routed(model: string, isFallback: boolean): void;
  /** The fallback provider's answer was used. `model` here and below may also be one that a document is for, or `other`. */
  providerUsed(model: string): void;
  /** No step had an agent, nor had the provider an answer. */
  exhausted(model: string): void;
  reloaded(labels: { readonly trigger: 'api' | 'sighup'; readonly result: 'success' | 'error' }): void;
}

export function policyMetrics(registers: Registry[]): PolicyMetrics {
  const ofModel = (name: string, help: string) => {
    const series = new Series(['model'], () => ({ count: 0 }));
    new SeriesCounter({ name, help, registers }, series, ({ count }) => count);
    return (model: string): void => {
      series.of([model]).count += 1;
    };
  };
  const primary = ofModel('hivenet_policy_primary_routed_total', 'Requests that the primary step served');
  const fallback = ofModel('hivenet_policy_fallback_routed_total', 'Requests that a step of the fallback chain served');
  const provider = ofModel('hivenet_policy_provider_fallback_total', 'Requests that the fallback provider served');
  const exhausted = ofModel('hivenet_policy_exhausted_total', 'Requests that nothing in their policy could serve');
  const reloads = new Counter({
    name: 'hivenet_policy_reload_total',
    help: 'Policies read anew, by what asked for it and whether they were put in force',
    labelNames: ['trigger', 'result'],
    registers,
  });
  return {
    routed: (model, isFallback) => (isFallback ? fallback : primary)(model),
    providerUsed: provider,
    exhausted,
    reloaded: ({ trigger, result }) => reloads.labels(trigger, result).inc(),
  };
}
