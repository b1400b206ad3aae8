// How far an agent is trusted whose probes are good: an engine can answer its health check and fail every request. It is
// passed over, not shut out, and tried again now and then, so that nothing stays excluded by its own failures (half-open
// circuit breaker; routing.md §30, 16).

import type { Standing } from '../policy/policy-agent.ts';
import type { TrackRecord } from './track-record.ts';

/** Failed tries in a row after which an agent is passed over while another one has a free slot. */
const FAILURES_TO_PASS_OVER = 3;
/** From the last failed try to the next trial; doubles with each failure beyond. */
export const TRIAL_PAUSE_MS = 1_000;
export const TRIAL_PAUSE_MAX_MS = 30_000;

export interface Tried {
  readonly record: Pick<TrackRecord, 'consecutiveFailures' | 'lastFailedMs'>;
  /** Monotonic ms of its last turn: a trial that ended without a verdict is followed by a pause as well. */
  readonly lastTakenMs: number;
  /** Whether a request still runs that was given to it at `monotonicMs` or later. */
  isBusySince(monotonicMs: number): boolean;
}

/**
 * `nowMs` is monotonic. There is one trial at a time, however long it takes: an engine that hangs would else be given
 * request after request until it is full. Whatever runs since the last failure is one.
 */
export function standingOf(tried: Tried, nowMs: number): Standing {
  const { record, lastTakenMs } = tried;
  const excess = record.consecutiveFailures - FAILURES_TO_PASS_OVER;
  if (excess < 0) return 'trusted';
  const pauseMs = Math.min(TRIAL_PAUSE_MS * 2 ** excess, TRIAL_PAUSE_MAX_MS);
  const isPauseOver = nowMs - Math.max(record.lastFailedMs, lastTakenMs) >= pauseMs;
  return isPauseOver && !tried.isBusySince(record.lastFailedMs) ? 'trial' : 'passed_over';
}
