// What of a request counts for or against the agent that had it. Only what the engine did: a client that leaves, a
// client's mistake and the router's own end say nothing about an engine (E7).

import type { Agent } from '../agents/agent.ts';
import type { Attempt } from './forward.ts';
import type { LifeLimits, RequestEnd } from './request-life.ts';

/** After an attempt; one with an answer counts when that has ended. */
export function trackAttempt(agent: Agent, attempt: Attempt, limits: Pick<LifeLimits, 'requestTimeoutMs'>): void {
  if (hasFailed(attempt, limits.requestTimeoutMs)) agent.record.failed();
}

function hasFailed(attempt: Attempt, requestTimeoutMs: number): boolean {
  switch (attempt.kind) {
    case 'refused':
    case 'failed':
    case 'disconnected':
      return true;
    case 'cut':
      return wasTooSlow(attempt, requestTimeoutMs);
    case 'stream':
    case 'whole':
    case 'client_fault':
      return false;
  }
}

/**
 * An engine that has come to a standstill shows only so: its health may well still answer. But the time that a request
 * spent in the router's queue, or with other agents, is not this one's: it must have had at least half of the timeout.
 */
function wasTooSlow({ cut, afterMs }: Attempt & { readonly kind: 'cut' }, requestTimeoutMs: number): boolean {
  return cut === 'stream_idle' || (cut === 'request_timeout' && afterMs * 2 >= requestTimeoutMs);
}

/** After the last byte, or the cut. Past the head, the request timeout can be the doing of a client that reads slowly. */
export function trackEnd(agent: Agent, { status, outcome, cut, reading }: RequestEnd): void {
  if (outcome === 'complete' && status === 200) agent.record.succeeded(reading.use);
  // The engine has worked for them, however the answer ended; the access log tells them too.
  if (outcome !== 'complete') agent.record.used(reading.use);
  if (outcome === 'broken' && (cut === undefined || cut === 'stream_idle')) agent.record.failed();
}
