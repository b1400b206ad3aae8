// Requests that are held at site A, before agents that the test brings in, on timers that it moves.

import type { Agent } from '../../src/agents/agent.ts';
import { AgentRegistry } from '../../src/agents/registry.ts';
import { SeatQueue } from '../../src/dispatch/queue.ts';
import { type HoldBounds, type HoldEnd, HoldQueue, type HoldRequest } from '../../src/hold/hold-queue.ts';
import type { WantedModel } from '../../src/hold/wake.ts';
import { ok } from '../../src/lib/result.ts';
import { PolicyStore } from '../../src/policy/store.ts';
import type { SiblingMap } from '../../src/site/sibling-map.ts';
import { FakeTimers } from '../agents/fake-timers.ts';
import { endpointOf, REQUEST_TIMEOUT_MS } from '../dispatch/test-site.ts';
import { edited, type Json, mapOf, ROUTER, VALID_MAP } from '../site/map-document.ts';

export interface Asked {
  readonly client: AbortController;
  /** Undefined while it waits. */
  end: HoldEnd | undefined;
}

/** A placement at site A that wakes. */
export function placed(model: string, more: Readonly<Record<string, Json>> = {}): Json {
  return { model, kind: 'chat', site: ROUTER.ownSite, scale_from_zero: true, ...more };
}

export function mapWith(...placements: readonly Json[]): SiblingMap {
  return mapOf(edited(VALID_MAP, 'placements', placements));
}

/** Holds 120 s, 100 requests a model and 1,000 bytes unless the bounds say otherwise; `m` and `n` wake here. */
export function holding(bounds: Partial<HoldBounds> = {}) {
  const timers = new FakeTimers();
  const registry = new AgentRegistry(() => undefined, { nowMs: Date.now, monotonicMs: () => timers.monotonicMs() });
  const seats = new SeatQueue({ registry, timers, depth: 10, onWaited: () => undefined });
  const wakes: (readonly [what: string, wanted: WantedModel])[] = [];
  const site = { map: mapWith(placed('m'), placed('n')), nowMs: 0, isCallUnderWay: false };
  const holds = new HoldQueue({
    ...{ defaultHoldMs: 120_000, maxPerModel: 100, maxBytes: 1_000, ...bounds },
    ...{ registry, seats, timers, policies: new PolicyStore(), requestTimeoutMs: REQUEST_TIMEOUT_MS },
    nowMs: () => site.nowMs,
    here: () => ({ siteId: ROUTER.ownSite, map: site.map }),
    wake: {
      announce: (event, wanted) => void wakes.push([event, wanted]),
      call: (wanted) => {
        if (!site.isCallUnderWay) wakes.push(['call', wanted]);
        return !site.isCallUnderWay;
      },
    },
  });
  const ask = (model: string, change: Partial<HoldRequest> = {}): Asked => {
    const client = new AbortController();
    const asked: Asked = { client, end: undefined };
    const endpoint = endpointOf('/v1/chat/completions');
    const request = { model, endpoint, headers: new Headers(), bytes: 1, maxWaitMs: undefined, ...change };
    void holds.hold({ clientGone: client.signal, ...request }).then((end) => {
      asked.end = end;
    });
    return asked;
  };
  /** An agent that is healthy from now on. */
  const wake = (capacity: number, models: readonly string[] = ['m']): Agent => {
    const fixed = { engine: 'vllm', capability: 'llm', backendUrl: 'http://engine' } as const;
    const agent = registry.add({ ...fixed, id: `agent-${registry.all().length}`, models, capacity });
    agent.reportProbe(ok(models));
    return agent;
  };
  return { timers, registry, seats, holds, site, wakes, ask, wake };
}

export const endOf = ({ end }: Asked): string => end?.kind ?? 'waits';

/** The slot that a request was held for. */
export function releaseSeat({ end }: Asked): void {
  if (end?.kind !== 'ready' || end.held === undefined) throw new Error('It has no slot');
  end.held.seat.release();
}
