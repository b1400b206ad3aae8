// Gate B2: who enters a model's pool, and who waits a moment for room in it. First come, first served, so that a large
// request is not passed for ever by small ones; nobody can get between the freeing of room and its taking.

import { fault, ok, type Result } from '../lib/result.ts';
import {
  budgetOf,
  type Footprint,
  inflightMaxOf,
  Pool,
  type PoolRoom,
  type Reservation,
  type Verdict,
} from './pool.ts';

/** Requests that wait for one model; one more is refused at once. */
export const PARKED_MAX = 1_000;

export interface OccupancyPorts {
  /** Of the budget that is given out, above 0 to 1 (`--admit-fraction`). */
  readonly fraction: number;
  /** How long a request waits for room, from 0: not at all (`--admit-park-timeout`). */
  readonly parkMs: number;
  /** Runs once after `delayMs`. Returns what cancels it. */
  readonly after: (delayMs: number, run: () => void) => () => void;
}

/** One request at the gate. */
export interface Entry {
  readonly model: string;
  readonly footprint: Footprint;
  /** Asked anew whenever the request could enter: agents come and go, and policies change, while it waits. */
  readonly room: () => PoolRoom;
  /** Aborted when the client leaves. */
  readonly clientGone: AbortSignal;
}

/** `closed`: the router ends. */
export type NoEntry = Exclude<Verdict, 'fits'> | 'client_gone' | 'closed';

export type Entered = Result<Reservation, NoEntry>;

type Asking = Omit<Entry, 'clientGone'>;

interface Waiter {
  readonly entry: Asking;
  /** Ends the wait. */
  readonly leave: (entered: Entered) => void;
}

/** One model's requests, inside and in front of the door. */
interface Door {
  readonly model: string;
  readonly pool: Pool;
  /** In the order of arrival. */
  readonly line: Set<Waiter>;
}

export class Occupancy {
  readonly #ports: OccupancyPorts;
  /** By model; only those with a request. */
  readonly #doors = new Map<string, Door>();
  #isClosed = false;

  constructor(ports: OccupancyPorts) {
    this.#ports = ports;
  }

  /**
   * The reservation, at once or after a wait; it is held even if nobody looks at the result, so a caller whose client
   * has left meanwhile must release it. Who waits already goes first.
   */
  async enter(entry: Entry): Promise<Entered> {
    if (entry.clientGone.aborted) return fault('client_gone');
    if (this.#isClosed) return fault('closed');
    const door = this.#doorOf(entry.model);
    const verdict = this.#verdict(door, entry);
    const isWorthWaiting = verdict === 'full' || (verdict === 'fits' && door.line.size > 0);
    if (!isWorthWaiting) return this.#settle(door, entry, verdict);
    if (this.#ports.parkMs > 0 && door.line.size < PARKED_MAX) return this.#park(door, entry);
    return this.#settle(door, entry, 'full');
  }

  /**
   * Waits in the same line as those who park, for as long as it takes and beyond their bound: whoever holds requests bounds
   * both. Calls `onEntered` once, before it returns where nothing is to be waited for. What it returns ends the wait.
   */
  awaitRoom(entry: Asking, onEntered: (entered: Entered) => void): () => void {
    if (this.#isClosed) onEntered(fault('closed'));
    if (this.#isClosed) return () => undefined;
    const door = this.#doorOf(entry.model);
    const leave: Waiter['leave'] = (entered) => {
      door.line.delete(waiter);
      onEntered(entered);
    };
    const waiter: Waiter = { entry, leave };
    door.line.add(waiter);
    this.#letIn(door);
    return () => {
      if (door.line.delete(waiter)) this.#letIn(door);
    };
  }

  /** There may be more room than before: an agent came, or a policy. Releases are noticed without. */
  roomMayHaveGrown(): void {
    for (const door of [...this.#doors.values()]) this.#letIn(door);
  }

  /** Nobody enters any more, and whoever waits is told. */
  close(): void {
    this.#isClosed = true;
    for (const { line } of [...this.#doors.values()]) for (const { leave } of [...line]) leave(fault('closed'));
  }

  /** What is held for each model that has a request, for the gauges. */
  held(): readonly { readonly model: string; readonly tokens: number; readonly requests: number }[] {
    return Array.from(this.#doors, ([model, { pool }]) => ({ model, tokens: pool.tokens, requests: pool.requests }));
  }

  /** How much may be held with this room; undefined: no limit. */
  limitsOf(room: PoolRoom): { readonly tokensMax: number | undefined; readonly requestsMax: number | undefined } {
    return { tokensMax: budgetOf(room, this.#ports.fraction), requestsMax: inflightMaxOf(room) };
  }

  #doorOf(model: string): Door {
    const door = this.#doors.get(model) ?? { model, pool: new Pool(), line: new Set() };
    this.#doors.set(model, door);
    return door;
  }

  #verdict({ pool }: Door, { footprint, room }: Asking): Verdict {
    return pool.verdict(footprint, room(), this.#ports.fraction);
  }

  #settle(door: Door, entry: Asking, verdict: Verdict): Entered {
    if (verdict === 'fits') return ok(door.pool.reserve(entry.footprint, () => this.#letIn(door)));
    this.#forgetUnused(door);
    return fault(verdict);
  }

  #park(door: Door, entry: Entry): Promise<Entered> {
    const { promise, resolve } = Promise.withResolvers<Entered>();
    const giveUp = (why: NoEntry): void => {
      if (!door.line.has(waiter)) return;
      waiter.leave(fault(why));
      // Who waits behind a large request may fit where that one did not.
      this.#letIn(door);
    };
    const onGone = (): void => giveUp('client_gone');
    const cancel = this.#ports.after(this.#ports.parkMs, () => {
      this.#letIn(door);
      giveUp('full');
    });
    const leave: Waiter['leave'] = (entered) => {
      door.line.delete(waiter);
      cancel();
      entry.clientGone.removeEventListener('abort', onGone);
      resolve(entered);
    };
    const waiter: Waiter = { entry, leave };
    door.line.add(waiter);
    entry.clientGone.addEventListener('abort', onGone);
    return promise;
  }

  /** Ends the wait of the first ones for whom there is an answer now. */
  #letIn(door: Door): void {
    for (const { entry, leave } of door.line) {
      const verdict = this.#verdict(door, entry);
      if (verdict === 'full') return;
      leave(this.#settle(door, entry, verdict));
    }
    this.#forgetUnused(door);
  }

  #forgetUnused({ model, pool, line }: Door): void {
    if (pool.requests === 0 && line.size === 0) this.#doors.delete(model);
  }
}
