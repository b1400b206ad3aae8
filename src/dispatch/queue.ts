// Who waits for a slot, and who gets the next one: first come, first served among those whose policies take it. A slot is
// taken in the very turn in which it is handed over, so that nobody can get between, and none is offered twice.

import type { Agent } from '../agents/agent.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import type { Timers } from '../agents/timers.ts';
import type { PlanStep } from '../policy/plan.ts';
import type { Capability } from '../routing/endpoint.ts';

/** An agent with a free slot, and the step of the request's plan that takes it. */
export interface Choice {
  readonly agent: Agent;
  readonly step: PlanStep;
}

/** A slot that is taken, and what gives it back, however often it is called only once. */
export interface Seat extends Choice {
  readonly release: () => void;
}

/** What a request looks for. */
export interface SeatSearch {
  readonly model: string;
  readonly capability: Capability;
  /** The agent that it would be given to now. `full`: a slot that is in use would do. `none`: waiting will not help. */
  choose(): Choice | 'full' | 'none';
  /** Whether a free slot of this agent is one for it. */
  mayUse(agent: Agent): boolean;
  /** The agents with a slot that this request can use now. */
  freeAgents(): readonly Agent[];
}

/** Takes the slot of a choice, in the turn in which it was made. */
function seatAt(choice: Choice | 'full' | 'none'): Seat | undefined {
  if (typeof choice === 'string') return undefined;
  const release = choice.agent.take();
  return release === undefined ? undefined : { agent: choice.agent, step: choice.step, release };
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
 * How often those who wait are looked at without a cause. Nothing tells when a model's last agent is gone, or when a
 * figure of an engine comes back within its gate; and should a vacancy ever go unsaid, it costs a second and no request.
 */
const LOOK_MS = 1_000;

/** What a held request needs beside a slot. */
export interface Pass {
  /** Asks for it, unless that was done: an agent is there. `onGranted` is called when it is granted later than at once. */
  ask(onGranted: () => void): void;
  readonly isGranted: boolean;
  /** As if it had never been asked for: no agent is there. */
  giveBack(): void;
}

/** How a held request waits. */
export interface HoldOptions {
  /** Of a wait before, whose slot was of no use; by default the last one. */
  readonly place?: number | undefined;
  /** By default it needs none. */
  readonly pass?: Pass | undefined;
}

interface Waiter extends Pick<HoldOptions, 'pass'> {
  readonly search: SeatSearch;
  /** Grows with every arrival. */
  readonly place: number;
  /** It waits for an agent to come, and not only for a slot. */
  readonly isHeld: boolean;
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
   * request, and as soon as `signal` aborts. No promise where there is nothing to wait for.
   */
  take(search: SeatSearch, signal: AbortSignal): Seat | undefined | Promise<Seat | undefined> {
    // What is free while others wait, should a vacancy have gone unsaid, is theirs first.
    if (this.#lines.size > 0) this.offer(search);
    const choice = search.choose();
    if (choice !== 'full') return seatAt(choice);
    const isFull = queuedIn(this.#lines.get(keyOf(search))) >= this.#ports.depth;
    return signal.aborted || isFull ? undefined : this.#wait(search, signal);
  }

  /**
   * Waits also while no agent is there, in the same line as those who wait for a slot and beyond its bound: whoever holds
   * requests bounds them. Calls `onTurn` once, with a slot as soon as there is one; or without, within a second, when
   * agents are there and the request's policy takes none of them. `stop` ends the wait before that.
   */
  hold(
    search: SeatSearch,
    onTurn: (seat: Seat | undefined) => void,
    options: HoldOptions = {},
  ): { readonly place: number; readonly stop: () => void } {
    const leave: Waiter['leave'] = (seat) => {
      this.#remove(waiter);
      onTurn(seat);
    };
    const waiter = this.#add(search, { isHeld: true, leave, ...options });
    return { place: waiter.place, stop: () => this.#remove(waiter) };
  }

  /** Gives what is free for this search to those who wait, oldest first. */
  offer(search: SeatSearch): void {
    for (const agent of search.freeAgents()) this.#handOver(agent);
  }

  /** How many wait for a slot of each model that an agent lists. */
  depths(): readonly { readonly model: string; readonly depth: number }[] {
    const lines = [...this.#lines.values()];
    return this.#ports.registry.models().map(({ id }) => ({
      model: id,
      depth: lines.filter((line) => modelOf(line) === id).reduce((depth, line) => depth + queuedIn(line), 0),
    }));
  }

  #wait(search: SeatSearch, signal: AbortSignal): Promise<Seat | undefined> {
    const { timers, onWaited } = this.#ports;
    const { promise, resolve } = Promise.withResolvers<Seat | undefined>();
    const sinceMs = timers.monotonicMs();
    const giveUp = (): void => waiter.leave(undefined);
    const leave: Waiter['leave'] = (seat) => {
      this.#remove(waiter);
      signal.removeEventListener('abort', giveUp);
      if (seat !== undefined) onWaited(search.model, (timers.monotonicMs() - sinceMs) / 1000);
      resolve(seat);
    };
    const waiter = this.#add(search, { isHeld: false, leave });
    signal.addEventListener('abort', giveUp);
    return promise;
  }

  /** By default the last one of all. */
  #add(search: SeatSearch, how: Pick<Waiter, 'isHeld' | 'leave'> & HoldOptions): Waiter {
    this.#arrivals += 1;
    const waiter: Waiter = { search, ...how, place: how.place ?? this.#arrivals };
    const key = keyOf(search);
    const line = this.#lines.get(key);
    if (line === undefined) this.#lines.set(key, new Set([waiter]));
    else line.add(waiter);
    this.#stopLooking ??= this.#ports.timers.every(LOOK_MS, () => this.#look());
    return waiter;
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
   * Gives the free slots of `agent` to those who can use them, oldest first over all models that it serves. Whom a gate
   * keeps from it, or who has asked it already, is passed over and keeps the place.
   */
  #handOver(agent: Agent): void {
    if (this.#lines.size === 0) return;
    const waiters = this.#waiters(({ model, capability }) => agent.serves(model, capability));
    // All of them before any newcomer, also those for whom there is no slot yet.
    if (agent.state === 'healthy') for (const waiter of waiters) this.#askForPass(waiter);
    for (const { search, pass, leave } of waiters) {
      if (agent.active >= agent.setting.capacity) return;
      const isOffered = pass?.isGranted !== false && search.mayUse(agent);
      const seat = isOffered ? seatAt(search.choose()) : undefined;
      if (seat !== undefined) leave(seat);
    }
  }

  #askForPass({ search, pass }: Waiter): void {
    pass?.ask(() => this.offer(search));
  }

  /** Those in the lines that are meant, oldest first. */
  #waiters(isMeant: (search: SeatSearch) => boolean): readonly Waiter[] {
    const waiters: Waiter[] = [];
    for (const line of this.#lines.values()) {
      const [first] = line;
      if (first !== undefined && isMeant(first.search)) waiters.push(...line);
    }
    return waiters.sort((a, b) => a.place - b.place);
  }

  /** Serves those whose gates have opened, and ends the wait of those for whom no agent is left, unless they wait for one. */
  #look(): void {
    const isServed = ({ model, capability }: SeatSearch): boolean =>
      this.#ports.registry.presence(model, capability) === 'healthy';
    const asleep = this.#waiters((search) => !isServed(search));
    for (const { pass } of asleep) pass?.giveBack();
    const lost = asleep.filter(({ isHeld }) => !isHeld);
    for (const waiter of [...lost, ...this.#waiters(isServed)]) {
      this.#askForPass(waiter);
      const { search, pass, leave } = waiter;
      const choice = pass?.isGranted === false ? 'full' : search.choose();
      if (choice !== 'full') leave(seatAt(choice));
    }
  }
}

/** How many of the line wait for a slot. */
function queuedIn(line: ReadonlySet<Waiter> = new Set()): number {
  let count = 0;
  for (const { isHeld } of line) if (!isHeld) count += 1;
  return count;
}

function modelOf([first]: ReadonlySet<Waiter>): string | undefined {
  return first?.search.model;
}

function keyOf({ model, capability }: SeatSearch): string {
  return `${capability} ${model}`;
}
