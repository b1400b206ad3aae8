// Quotas and gates of a router without sockets: on the test's clock, with nobody parked unless a test says so.

import { TokenRatios } from '../../src/admission/estimate.ts';
import { Occupancy } from '../../src/admission/occupancy.ts';
import { TokenRates } from '../../src/admission/token-rates.ts';
import { systemTimers, type Timers } from '../../src/agents/timers.ts';
import type { RouterPorts } from '../../src/http/router-ports.ts';
import { DailyBudgets } from '../../src/quota/daily-budget.ts';
import { TokenBuckets } from '../../src/quota/token-bucket.ts';

export interface LimitSettings {
  /** How long a request waits for room in its model's budget; not at all by default. */
  readonly parkMs?: number;
  readonly parkTimers?: Timers;
}

export function testLimits(
  { parkMs = 0, parkTimers = systemTimers }: LimitSettings,
  monotonicMs: () => number,
): Pick<RouterPorts, 'quotas' | 'gates' | 'ratios'> {
  return {
    quotas: { requests: new TokenBuckets(), tokens: new DailyBudgets(), burstSeconds: 0 },
    gates: {
      occupancy: new Occupancy({ fraction: 1, parkMs, after: (delayMs, run) => parkTimers.after(delayMs, run) }),
      inputRates: new TokenRates(),
      outputRates: new TokenRates(),
      monotonicMs,
    },
    ratios: new TokenRatios(),
  };
}
