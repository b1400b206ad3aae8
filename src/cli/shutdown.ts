// How `serve` ends (E13): on the first signal it reports not ready and goes on for a while, then takes nothing new and
// lets what runs come to its end, within a grace. A second signal ends at once.

import process from 'node:process';
import type { Timers } from '../agents/timers.ts';
import type { ActiveRequests } from '../http/active-requests.ts';
import type { Listener } from '../runtime/runtime.ts';
import type { Log } from '../telemetry/log.ts';

export interface ShutdownTimes {
  readonly delayMs: number;
  readonly graceMs: number;
}

/** For the error events of cut streams to leave before the sockets close. */
const LAST_BYTES_MS = 1_000;

export class Shutdown {
  readonly #times: ShutdownTimes;
  readonly #timers: Timers;
  readonly #log: Log;
  readonly #graceOver = new AbortController();
  readonly #stopping = new AbortController();

  constructor(times: ShutdownTimes, timers: Timers, log: Log) {
    this.#times = times;
    this.#timers = timers;
    this.#log = log;
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Aborted at the first signal: what would go on for ever has to end by itself. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Aborted when what still runs has to be cut short. */
  get graceOver(): AbortSignal {
    return this.#graceOver.signal;
  }

  /** Resolves when both listeners are closed and every request has ended or was cut. */
  async run(listeners: { readonly http: Listener; readonly metrics: Listener }, active: ActiveRequests): Promise<void> {
    const name = await firstSignal();
    process.once('SIGTERM', () => process.exit(1));
    process.once('SIGINT', () => process.exit(1));
    this.#stopping.abort();
    this.#log.info('Stopping', { signal: name });
    await this.#wait(this.#times.delayMs);
    await this.#drain(listeners.http, active);
    listeners.metrics.abort();
    this.#log.info('Stopped');
  }

  async #drain(listener: Listener, active: ActiveRequests): Promise<void> {
    const closed = listener.stop();
    if (!(await this.#endsWithin(closed, this.#times.graceMs))) {
      this.#log.warn('Grace is over: cutting what still runs', { requests: active.count });
      this.#graceOver.abort();
      await this.#endsWithin(closed, LAST_BYTES_MS);
    }
    listener.abort();
  }

  /** Whether `work` came to its end in time. The timer ends with it: a process lives as long as its timers. */
  #endsWithin(work: Promise<void>, ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#timers.after(ms, () => resolve(false));
      void work.finally(cancel).then(() => resolve(true));
    });
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timers.after(ms, resolve);
    });
  }
}

function firstSignal(): Promise<string> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve('SIGTERM'));
    process.once('SIGINT', () => resolve('SIGINT'));
  });
}
