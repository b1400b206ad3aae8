// What of a request counts for or against the agent that had it. Only what the engine did: a client that leaves, a
// client's mistake and the router's own end say nothing about an engine (E7).

import type { Agent } from '../agents/agent.ts';
import type { Attempt } from './forward.ts';
import type { Cut, RequestEnd } from './request-life.ts';

/** After an attempt; one with an answer counts when that has ended. */
export function trackAttempt(agent: Agent, attempt: Attempt): void {
  if (hasFailed(attempt)) agent.record.failed();
}

function hasFailed(attempt: Attempt): boolean {
  switch (attempt.kind) {
    case 'refused':
    case 'failed':
    case 'disconnected':
      return true;
    case 'cut':
      // An engine that has come to a standstill shows only so: its health may well still answer.
      return isTooSlow(attempt.cut);
    case 'stream':
    case 'whole':
    case 'client_fault':
      return false;
  }
}

/** After the last byte, or the cut. Past the head, the request timeout can be the doing of a client that reads slowly. */
export function trackEnd({ agent, status, outcome, cut, reading }: RequestEnd): void {
  if (outcome === 'complete' && status === 200) agent.record.succeeded(reading.use);
  if (outcome === 'broken' && (cut === undefined || cut === 'stream_idle')) agent.record.failed();
}

function isTooSlow(cut: Cut): boolean {
  return cut === 'request_timeout' || cut === 'stream_idle';
}
