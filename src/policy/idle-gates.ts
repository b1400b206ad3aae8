// Gates that are valid and hold nobody back: agents that dial in would tell their metrics, and this version has none. Whoever
// carries such a policy over is warned, for nothing else would ever show it.

import { quoteText } from '../lib/document-fault.ts';
import { tellFaults } from '../lib/tell-faults.ts';
import { METRICS, type MetricName } from './metric.ts';
import type { Policy } from './policy.ts';
import type { PolicySet } from './store.ts';

/** A line for each policy with such gates, at most 21: which policy, which metrics. */
export function tellIdleGates({ global, documents }: PolicySet): readonly string[] {
  const named = [...documents].map(([name, policy]) => [`policy document ${quoteText(name)}`, policy] as const);
  const idle = [['the global policy', global] as const, ...named].flatMap(([name, policy]) => {
    const metrics = idleMetrics(policy);
    return metrics.length === 0 ? [] : [{ name, metrics }];
  });
  return tellFaults(idle, ({ name, metrics }) => {
    return `${name}: exclude_if never excludes by ${metrics.join(', ')}: no agent of this version tells it`;
  });
}

/** Each once, however many steps ask for it. */
function idleMetrics({ steps }: Policy): readonly MetricName[] {
  const asked = steps.flatMap(({ excludeIf }) => excludeIf.map(({ metric }) => metric));
  return [...new Set(asked)].filter((metric) => METRICS[metric].source === 'machine');
}
