// What limits requests, as `serve` begins: empty buckets of quotas, and gates with nobody in them.

import { TokenRatios } from '../admission/estimate.ts';
import { Occupancy } from '../admission/occupancy.ts';
import { TokenRates } from '../admission/token-rates.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import { systemTimers } from '../agents/timers.ts';
import type { Config } from '../config/config.ts';
import type { RouterPorts } from '../http/router-ports.ts';
import type { PolicyStore } from '../policy/store.ts';
import type { TokenBudgets } from '../quota/daily-budget.ts';
import { TokenBuckets } from '../quota/token-bucket.ts';
import type { HeldRoom } from '../telemetry/limit-metrics.ts';

/** `closing`: aborted when nobody shall wait any more. */
export function limitPorts(
  { limits }: Pick<Config, 'limits'>,
  tokens: TokenBudgets,
  closing: AbortSignal,
): Pick<RouterPorts, 'quotas' | 'gates' | 'ratios'> {
  const occupancy = new Occupancy({
    fraction: limits.admitFraction,
    parkMs: limits.admitParkMs,
    after: systemTimers.after,
  });
  closing.addEventListener('abort', () => occupancy.close());
  return {
    quotas: { requests: new TokenBuckets(), tokens, burstSeconds: limits.burstSeconds },
    gates: {
      occupancy,
      inputRates: new TokenRates(),
      outputRates: new TokenRates(),
      // Buckets count in whole milliseconds.
      monotonicMs: () => Math.floor(systemTimers.monotonicMs()),
    },
    ratios: new TokenRatios(),
  };
}

/**
 * What the metrics show of the gates. Only generations pass them, so that other agents of a model do not count. A model that
 * no agent has is left out: its requests, on their way to a provider, have room for a moment, and no client makes up a label
 * (R-200).
 */
export function heldRooms(
  { gates }: Pick<RouterPorts, 'gates'>,
  agents: AgentRegistry,
  policies: PolicyStore,
): readonly HeldRoom[] {
  return gates.occupancy.held().flatMap((room) => {
    const known = agents.serving(room.model, 'llm');
    if (known.length === 0) return [];
    const { admitBudgetTokens: budgetTokens, maxInflight } = policies.policyFor(room.model).limits;
    const replicas = known.filter(({ state }) => state === 'healthy').length;
    return [{ ...room, ...gates.occupancy.limitsOf({ replicas, budgetTokens, maxInflight }) }];
  });
}
