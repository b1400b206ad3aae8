// Requests that wait here while their model wakes: how many may, how long each may, and what ends its wait. Who comes
// first when there is an agent is the seat queue's matter, so that nobody gets between those held and those who queue.

import type { Timers } from '../agents/timers.ts';
import { AgentChoice, type ChoicePorts, type ChoosingRequest } from '../dispatch/agent-choice.ts';
import type { HeldSeat } from '../dispatch/dispatch.ts';
import type { Pass, Seat, SeatQueue } from '../dispatch/queue.ts';
import type { NowMs } from '../lib/clock.ts';
import { type Here, holdBudgetMs } from '../routing/hold-budget.ts';
import type { HeldCount } from '../telemetry/hold-metrics.ts';
import { SaidWords, type WakePorts, WakeSignal } from './wake.ts';

export interface HoldRequest extends ChoosingRequest {
  /** What it keeps in memory beside a fixed part. */
  readonly bytes: number;
  /** As long as the client wants to wait; undefined: as long as it takes. */
  readonly maxWaitMs: number | undefined;
  readonly clientGone: AbortSignal;
  /** What it needs beside a slot; undefined: nothing. Whoever holds the request gives it back. */
  readonly room?: Pass | undefined;
  /** Of the hold before, for a request that found no agent after it. */
  readonly since?: HoldStart | undefined;
}

/** When and where a request began to wait. */
export interface HoldStart {
  /** Monotonic. */
  readonly startedMs: number;
  /** In the seat queue. */
  readonly place: number;
}

/**
 * `ready`: an agent is there, and usually a slot of it; without one, the request's policy takes none of the agents.
 * `unplaced`: by the map held now it would not be held. `overdue`: nor was it, but an agent was there, and busy until the
 * request timeout. `full`: it was not let in.
 */
export type HoldEnd =
  | { readonly kind: 'ready'; readonly held: HeldSeat | undefined; readonly start: HoldStart }
  | { readonly kind: 'timeout' | 'client_gone' | 'unplaced' | 'overdue' | 'shutdown' | 'full' };

/** Who may wait. */
export interface HoldBounds {
  /** For a placement without `hold_budget`, 0 or more. */
  readonly defaultHoldMs: number;
  /** Requests for one model. */
  readonly maxPerModel: number;
  /** Of all requests together. */
  readonly maxBytes: number;
}

export interface HoldPorts extends ChoicePorts, HoldBounds {
  readonly timers: Timers;
  /** How long who is not held any more may wait for a slot, as anybody may. */
  readonly requestTimeoutMs: number;
  /** Unix time, for those who are told since when. */
  readonly nowMs: NowMs;
  readonly seats: Pick<SeatQueue, 'hold' | 'offer'>;
  /** This site with the map held now; undefined: cross-site redirect is off. */
  readonly here: () => Here | undefined;
  readonly wake: WakePorts;
}

/** One timer looks at all deadlines that often, and is not set while nothing is held. */
const TICK_MS = 100;

interface Held {
  readonly request: HoldRequest;
  /** Monotonic ms, as its deadline: a map can move that one. */
  readonly startedMs: number;
  deadlineMs: number;
  /** The map has no time for it any more: it waits for a slot of the agent that is there. */
  isQueued: boolean;
  readonly end: (end: HoldEnd) => void;
}

/** Those who wait for one model. */
interface Line {
  readonly model: string;
  readonly held: Set<Held>;
  readonly wake: WakeSignal;
}

export class HoldQueue {
  readonly #ports: HoldPorts;
  /** By model, which has one placement at a site and so one kind at a time; none is empty. */
  readonly #lines = new Map<string, Line>();
  readonly #said = new SaidWords();
  #bytes = 0;
  #isStopped = false;
  #stopTicking: (() => void) | undefined;

  constructor(ports: HoldPorts) {
    this.#ports = ports;
  }

  /** Where the map does not say how long. */
  get defaultHoldMs(): number {
    return this.#ports.defaultHoldMs;
  }

  /** Whether any request waits: then engines are probed closely. */
  get isHolding(): boolean {
    return this.#lines.size > 0;
  }

  counts(): readonly HeldCount[] {
    return [...this.#lines.values()].map(({ model, held }) => ({ model, held: held.size }));
  }

  /** Waits until the model has an agent, or something else comes first. */
  async hold(request: HoldRequest): Promise<HoldEnd> {
    if (this.#isStopped) return { kind: 'shutdown' };
    if (request.clientGone.aborted) return { kind: 'client_gone' };
    // By the map of now: the one that the request came under may have been replaced while its body came.
    const budgetMs = this.#budgetMs(request);
    if (budgetMs <= 0) return { kind: 'unplaced' };
    const nowMs = this.#ports.timers.monotonicMs();
    const startedMs = request.since?.startedMs ?? nowMs;
    if (nowMs >= startedMs + budgetMs) return { kind: 'timeout' };
    const { maxPerModel, maxBytes } = this.#ports;
    const held = this.#lines.get(request.model)?.held.size ?? 0;
    if (held >= maxPerModel || this.#bytes + request.bytes > maxBytes) return { kind: 'full' };
    return this.#wait(request, startedMs, budgetMs);
  }

  /**
   * Another map counts. Who is not held by it any more goes, or keeps the place in the line where an agent is there; others
   * have its time, from their start on.
   */
  mapReplaced(): void {
    for (const { held } of this.#lines.values()) for (const waiting of held) this.#judgeAgain(waiting);
  }

  /** The router stops: nobody is kept waiting, and nobody is let in any more. */
  stop(): void {
    this.#isStopped = true;
    for (const { held } of this.#lines.values()) for (const waiting of held) waiting.end({ kind: 'shutdown' });
  }

  #judgeAgain(waiting: Held): void {
    const budgetMs = this.#budgetMs(waiting.request);
    const wasQueued = waiting.isQueued;
    waiting.isQueued = budgetMs <= 0;
    if (!waiting.isQueued) waiting.deadlineMs = waiting.startedMs + budgetMs;
    else if (!this.#isAwake(waiting.request)) waiting.end({ kind: 'unplaced' });
    else if (!wasQueued) waiting.deadlineMs = this.#ports.timers.monotonicMs() + this.#ports.requestTimeoutMs;
  }

  #isAwake({ model, endpoint }: HoldRequest): boolean {
    return this.#ports.registry.presence(model, endpoint.capability) === 'healthy';
  }

  #budgetMs({ model, endpoint, maxWaitMs }: HoldRequest): number {
    const { here, defaultHoldMs } = this.#ports;
    return holdBudgetMs({ model, kind: endpoint.kind, here: here(), defaultHoldMs, maxWaitMs });
  }

  #wait(request: HoldRequest, startedMs: number, budgetMs: number): Promise<HoldEnd> {
    const { promise, resolve } = Promise.withResolvers<HoldEnd>();
    const choice = new AgentChoice(request, this.#ports);
    const line = this.#lineOf(request);
    const leave = (): void => held.end({ kind: 'client_gone' });
    const onTurn = (seat: Seat | undefined): void =>
      held.end({ kind: 'ready', held: seat && { choice, seat }, start: { startedMs, place } });
    const { place, stop: stopWaiting } = this.#ports.seats.hold(choice, onTurn, {
      place: request.since?.place,
      pass: request.room,
    });
    const held: Held = {
      request,
      startedMs,
      deadlineMs: startedMs + budgetMs,
      isQueued: false,
      end: (end) => {
        stopWaiting();
        request.clientGone.removeEventListener('abort', leave);
        if (end.kind === 'ready') line.wake.woken();
        this.#remove(line, held);
        resolve(end);
      },
    };
    request.clientGone.addEventListener('abort', leave);
    this.#add(line, held);
    // An agent may have come since it was decided that there is none.
    this.#ports.seats.offer(choice);
    return promise;
  }

  #lineOf(request: HoldRequest): Line {
    const { model, endpoint, since } = request;
    const known = this.#lines.get(model);
    if (known !== undefined) return known;
    const { nowMs, wake } = this.#ports;
    const due = this.#said.take(model, since !== undefined);
    const wanted = { model, kind: endpoint.kind, sinceMs: nowMs() };
    const signal = new WakeSignal(wanted, wake, { said: this.#said, due });
    const line: Line = { model, held: new Set(), wake: signal };
    this.#lines.set(model, line);
    return line;
  }

  #add({ held, wake }: Line, newcomer: Held): void {
    held.add(newcomer);
    this.#bytes += newcomer.request.bytes;
    this.#stopTicking ??= this.#ports.timers.every(TICK_MS, () => this.#tick());
    if (held.size === 1) wake.look(this.#ports.timers.monotonicMs(), 1);
  }

  #remove({ model, held, wake }: Line, leaver: Held): void {
    held.delete(leaver);
    this.#bytes -= leaver.request.bytes;
    if (held.size > 0) return;
    this.#lines.delete(model);
    wake.end(this.#ports.timers.monotonicMs());
    if (this.#lines.size > 0) return;
    this.#stopTicking?.();
    this.#stopTicking = undefined;
  }

  #tick(): void {
    const nowMs = this.#ports.timers.monotonicMs();
    for (const { held, wake } of this.#lines.values()) {
      const queued = [...held].filter(({ isQueued }) => isQueued);
      if (queued.length < held.size) wake.look(nowMs, held.size - queued.length);
      this.#endStranded(queued);
      for (const waiting of held) {
        if (nowMs >= waiting.deadlineMs) waiting.end({ kind: waiting.isQueued ? 'overdue' : 'timeout' });
      }
    }
  }

  /** The agent that these wait for is gone. */
  #endStranded(queued: readonly Held[]): void {
    const [first] = queued;
    if (first === undefined || this.#isAwake(first.request)) return;
    for (const waiting of queued) waiting.end({ kind: 'unplaced' });
  }
}
