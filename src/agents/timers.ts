// Timers and the monotonic clock as one argument, so that a test decides when time passes.

export interface Timers {
  /** Milliseconds since some fixed moment, never set back; for durations only. */
  monotonicMs(): number;
  /** Runs once after `delayMs`. Returns what cancels it. */
  after(delayMs: number, run: () => void): () => void;
  /** Runs every `periodMs`, first after one period. Returns what stops it. */
  every(periodMs: number, run: () => void): () => void;
}

export const systemTimers: Timers = {
  monotonicMs: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  every: (periodMs, run) => {
    const timer = setInterval(run, periodMs);
    return () => clearInterval(timer);
  },
};
