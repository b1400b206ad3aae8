// Who waits for a model to wake in a router without sockets, and what was told of it.

import { systemTimers, type Timers } from '../../src/agents/timers.ts';
import type { DispatchPorts } from '../../src/dispatch/dispatch.ts';
import { type HoldBounds, type HoldPorts, HoldQueue } from '../../src/hold/hold-queue.ts';
import type { WantedModel } from '../../src/hold/wake.ts';

export interface HoldSettings {
  /** Two minutes, 100 requests for a model and 256 MiB unless given. */
  readonly hold?: Partial<HoldBounds>;
  /** What ends holds. */
  readonly holdTimers?: Timers;
}

/** `wake_wanted` and `wake_done` as they were announced, and each `call` of whoever starts models. */
export type Wake = readonly [what: string, wanted: WantedModel];

const BOUNDS: HoldBounds = { defaultHoldMs: 120_000, maxPerModel: 100, maxBytes: 268_435_456 };

export function testHolds(
  { registry, policies, queue: seats, requestTimeoutMs, ...ports }: DispatchPorts & Pick<HoldPorts, 'here' | 'nowMs'>,
  { hold, holdTimers: timers = systemTimers }: HoldSettings,
) {
  const wakes: Wake[] = [];
  const wake: HoldPorts['wake'] = {
    announce: (event, wanted) => void wakes.push([event, wanted]),
    call: (wanted) => wakes.push(['call', wanted]) > 0,
  };
  const { here, nowMs } = ports;
  const holds = new HoldQueue({
    ...BOUNDS,
    ...hold,
    ...{ registry, policies, timers, seats, requestTimeoutMs, nowMs, here, wake },
  });
  return { holds, wakes };
}
