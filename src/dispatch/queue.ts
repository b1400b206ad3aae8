// Who waits for a slot, and who gets the next one: first come, first served for each model and capability. A slot is
// taken in the very turn in which it is handed over, so that nobody can get between, and none is offered twice.

import type { Agent } from '../agents/agent.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import type { Timers } from '../agents/timers.ts';
import type { Capability } from '../routing/endpoint.ts';

/** A slot that is taken, and what gives it back, however often it is called only once. */
export interface Seat {
  readonly agent: Agent;
  readonly release: () => void;
}

/** What a request looks for. */
export interface SeatSearch {
  readonly model: string;
  readonly capability: Capability;
  /** Takes a slot that this request can use now. */
  takeSeat(): Seat | undefined;
  /** The agents with a slot that this request can use now. */
  freeAgents(): readonly Agent[];
  /** Whether any agent is left that could serve it, full ones included. */
  hasAgents(): boolean;
}

export interface QueuePorts {
  readonly registry: AgentRegistry;
  readonly timers: Timers;
  /** Requests that may wait for one model and capability, from 0: none waits. */
  readonly depth: number;
  /** Told of every wait that ended with a slot. */
  readonly onWaited: (model: string, seconds: number) => void;
}

/**
 * How often those who wait are looked at without a cause. Nothing tells when a model's last agent is gone; and should a
 * vacancy ever go unsaid, it costs a second and no request.
 */
const LOOK_MS = 1_000;

interface Waiter {
  readonly search: SeatSearch;
  /** Grows with every arrival. */
  readonly number: number;
  /** Ends the wait: with the slot, or with nothing. */
  readonly leave: (seat: Seat | undefined) => void;
}

export class SeatQueue {
  readonly #ports: QueuePorts;
  /** By capability and model, each in the order of arrival; none is empty. */
  readonly #lines = new Map<string, Set<Waiter>>();
  #arrivals = 0;
  #stopLooking: (() => void) | undefined;

  /** Listens to the registry for as long as that lives. */
  constructor(ports: QueuePorts) {
    this.#ports = ports;
    ports.registry.onVacancy((agent) => this.#handOver(agent));
  }

  /**
   * A slot, at once or after a wait. Undefined when the line is full, when no agent is left that could serve the
   * request, and as soon as `signal` aborts.
   */
  async take(search: SeatSearch, signal: AbortSignal): Promise<Seat | undefined> {
    // What is free while others wait, should a vacancy have gone unsaid, is theirs first.
    if (this.#lines.size > 0) for (const agent of search.freeAgents()) this.#handOver(agent);
    const seat = search.takeSeat();
    const waiting = this.#lines.get(keyOf(search))?.size ?? 0;
    if (seat !== undefined || signal.aborted || waiting >= this.#ports.depth || !search.hasAgents()) return seat;
    return this.#wait(search, signal);
  }

  /** How many wait for each model that an agent lists. */
  depths(): readonly { readonly model: string; readonly depth: number }[] {
    const waiters = [...this.#lines.values()].flatMap((line) => [...line]);
    return this.#ports.registry.models().map(({ id }) => ({
      model: id,
      depth: waiters.filter(({ search }) => search.model === id).length,
    }));
  }

  #wait(search: SeatSearch, signal: AbortSignal): Promise<Seat | undefined> {
    const { timers, onWaited } = this.#ports;
    const { promise, resolve } = Promise.withResolvers<Seat | undefined>();
    const sinceMs = timers.monotonicMs();
    this.#arrivals += 1;
    const giveUp = (): void => waiter.leave(undefined);
    const leave: Waiter['leave'] = (seat) => {
      this.#remove(waiter);
      signal.removeEventListener('abort', giveUp);
      if (seat !== undefined) onWaited(search.model, (timers.monotonicMs() - sinceMs) / 1000);
      resolve(seat);
    };
    const waiter: Waiter = { search, number: this.#arrivals, leave };
    this.#add(waiter);
    signal.addEventListener('abort', giveUp);
    return promise;
  }

  #add(waiter: Waiter): void {
    const key = keyOf(waiter.search);
    const line = this.#lines.get(key);
    if (line === undefined) this.#lines.set(key, new Set([waiter]));
    else line.add(waiter);
    this.#stopLooking ??= this.#ports.timers.every(LOOK_MS, () => this.#look());
  }

  #remove(waiter: Waiter): void {
    const key = keyOf(waiter.search);
    const line = this.#lines.get(key);
    line?.delete(waiter);
    if (line?.size === 0) this.#lines.delete(key);
    if (this.#lines.size > 0) return;
    this.#stopLooking?.();
    this.#stopLooking = undefined;
  }

  /**
   * Gives the free slots of `agent` to those who can use them, oldest first over all models that it serves. Who has
   * asked it already is passed over and keeps the place.
   */
  #handOver(agent: Agent): void {
    for (const { search, leave } of this.#waitersFor(agent)) {
      if (agent.active >= agent.setting.capacity) return;
      const seat = search.takeSeat();
      if (seat !== undefined) leave(seat);
    }
  }

  #waitersFor(agent: Agent): readonly Waiter[] {
    if (this.#lines.size === 0) return [];
    return [...this.#lines.values()]
      .flatMap((line) => [...line])
      .filter(({ search }) => agent.serves(search.model, search.capability))
      .sort((a, b) => a.number - b.number);
  }

  /** Ends the wait of those for whom no agent is left. */
  #look(): void {
    for (const line of [...this.#lines.values()]) {
      for (const { search, leave } of [...line]) {
        const seat = search.takeSeat();
        if (seat !== undefined || !search.hasAgents()) leave(seat);
      }
    }
  }
}

function keyOf({ model, capability }: SeatSearch): string {
  return `${capability} ${model}`;
}
