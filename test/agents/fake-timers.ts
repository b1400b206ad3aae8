// Timers whose time passes only when the test says so.

import type { Timers } from '../../src/agents/timers.ts';

interface Alarm {
  atMs: number;
  readonly periodMs: number | undefined;
  readonly run: () => void;
}

export class FakeTimers implements Timers {
  #nowMs = 0;
  readonly #alarms = new Set<Alarm>();

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, run: () => void): () => void {
    return this.#set({ atMs: this.#nowMs + delayMs, periodMs: undefined, run });
  }

  every(periodMs: number, run: () => void): () => void {
    return this.#set({ atMs: this.#nowMs + periodMs, periodMs, run });
  }

  /** Timers that are set and have not run out. */
  get pending(): number {
    return this.#alarms.size;
  }

  /** Milliseconds until the next timer runs out; undefined when none is set. */
  get nextMs(): number | undefined {
    const atMs = [...this.#alarms].map((alarm) => alarm.atMs);
    return atMs.length === 0 ? undefined : Math.min(...atMs) - this.#nowMs;
  }

  /** Lets time pass and runs what falls due, in order. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      this.#nowMs = next.atMs;
      if (next.periodMs === undefined) this.#alarms.delete(next);
      else next.atMs += next.periodMs;
      next.run();
    }
    this.#nowMs = endMs;
  }

  #set(alarm: Alarm): () => void {
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  #next(endMs: number): Alarm | undefined {
    return [...this.#alarms].filter((alarm) => alarm.atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
  }
}
