// How far an agent is trusted whose probes are good: an engine can answer its health check and fail every request. It is
// passed over, not shut out, and tried again now and then, so that nothing stays excluded by its own failures (half-open
// circuit breaker; routing.md §30, 16).

import type { TrackRecord } from './track-record.ts';

/** Failed tries in a row after which an agent is passed over while another one has a free slot. */
const FAILURES_TO_PASS_OVER = 3;
/** From the last failed try to the next trial; doubles with each failure beyond. */
export const TRIAL_PAUSE_MS = 1_000;
export const TRIAL_PAUSE_MAX_MS = 30_000;

/** `trial`: the next request goes there first. `passed_over`: only when nobody else has a slot. */
export type Standing = 'trusted' | 'trial' | 'passed_over';

export interface Tried {
  readonly record: Pick<TrackRecord, 'consecutiveFailures' | 'lastFailedMs'>;
  /** Monotonic ms of its last turn. A turn is a trial: until it has ended, there is no second one within a pause. */
  readonly lastTakenMs: number;
}

/** `nowMs` is monotonic. */
export function standingOf({ record, lastTakenMs }: Tried, nowMs: number): Standing {
  const excess = record.consecutiveFailures - FAILURES_TO_PASS_OVER;
  if (excess < 0) return 'trusted';
  const pauseMs = Math.min(TRIAL_PAUSE_MS * 2 ** excess, TRIAL_PAUSE_MAX_MS);
  return nowMs - Math.max(record.lastFailedMs, lastTakenMs) >= pauseMs ? 'trial' : 'passed_over';
}
