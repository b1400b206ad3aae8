// The life of one dispatched request: what may end it early, and what has to happen exactly once when it is over. It is
// apart because an end can come from five sides at any moment, and a slot must be returned by whichever comes first.

import type { Timers } from '../agents/timers.ts';
import type { LivesUnderWay } from './lives-under-way.ts';
import type { Reading } from './meter.ts';

/** Why the router ends a request itself: whoever reads this knows that no engine broke. */
export type Cut = 'client_gone' | 'client_stalled' | 'request_timeout' | 'stream_idle' | 'stream_too_long' | 'shutdown';

/** How an answer ended. `client_gone` never counts against the agent (E7). */
export interface RequestEnd {
  /** As sent, or 499 when the client left or stopped reading. */
  readonly status: number;
  /** `broken`: the client got the beginning of an answer and was told so, as far as the format allows. */
  readonly outcome: 'complete' | 'client_gone' | 'broken';
  /** Why the router ended it early; undefined when it did not. */
  readonly cut: Cut | undefined;
  /** Milliseconds from dispatch until there was a first byte for the client; undefined when there was none. */
  readonly firstByteMs: number | undefined;
  /** What the answer told of itself, up to this end. */
  readonly reading: Reading;
}

export interface LifeLimits {
  readonly timers: Timers;
  /** E9: from dispatch to the response head; a non-streaming answer must be complete within it. */
  readonly requestTimeoutMs: number;
  /** Longest silence before the first chunk of a stream and between two (E9). */
  readonly streamIdleTimeoutMs: number;
  /** From a stream's first chunk to its last (E9); undefined: however long it takes. */
  readonly streamMaxDurationMs: number | undefined;
  /** All of this router: cut when the grace of a shutdown is over (E13). */
  readonly lives: LivesUnderWay;
}

interface Answer {
  readonly status: number;
  /** Called once, at the end. */
  readonly read: () => Reading;
  /** Told once, before whoever asked is: what the end says of who gave the answer. */
  readonly onEnd: (end: RequestEnd) => void;
}

export class RequestLife {
  readonly #aborter = new AbortController();
  readonly #timers: Timers;
  readonly #startedMs: number;
  readonly #onEnd: (end: RequestEnd) => void;
  readonly #cleanUps: (() => void)[] = [];
  readonly #limits: LifeLimits;
  #cancelDeadline: () => void = () => undefined;
  #cut: Cut | undefined;
  #answer: Answer | undefined;
  #firstByteMs: number | undefined;
  #isOver = false;

  /** `clientGone` and `onEnd` are the request's; an already aborted signal cuts it at once. */
  constructor(request: { clientGone: AbortSignal; onEnd: (end: RequestEnd) => void }, limits: LifeLimits) {
    this.#timers = limits.timers;
    this.#startedMs = limits.timers.monotonicMs();
    this.#onEnd = request.onEnd;
    this.#limits = limits;
    this.#limitTo(limits.requestTimeoutMs, 'request_timeout');
    this.#cutOn(request.clientGone);
    limits.lives.add(this);
  }

  /** Ends whatever the engine is doing for this request. */
  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  /** Set once the router has ended the request itself; the first cause counts. */
  get cut(): Cut | undefined {
    return this.#cut;
  }

  /** Runs `cleanUp` once, at the end or now if that has come: gives back a slot, cancels a timer. */
  whenOver(cleanUp: () => void): void {
    if (this.#isOver) cleanUp();
    else this.#cleanUps.push(cleanUp);
  }

  /** What is left of the request timeout counts, as at the start. */
  limitToRequest(): void {
    const leftMs = this.#startedMs + this.#limits.requestTimeoutMs - this.#timers.monotonicMs();
    this.#limitTo(Math.max(0, leftMs), 'request_timeout');
  }

  /** The head of a stream has arrived: only silence ends it until its first chunk (E9). */
  limitToSilence(): void {
    this.#limitTo(this.#limits.streamIdleTimeoutMs, 'stream_idle');
  }

  /** A stream is being passed on, by somebody who watches for silence: only its own length ends it, if that is bounded. */
  limitToStream(): void {
    const { streamMaxDurationMs } = this.#limits;
    if (streamMaxDurationMs === undefined) this.#cancelDeadline();
    else this.#limitTo(streamMaxDurationMs, 'stream_too_long');
  }

  /** There is a first byte for the client; later calls change nothing. */
  noteFirstByte(): void {
    this.#firstByteMs ??= this.#timers.monotonicMs() - this.#startedMs;
  }

  /** The client is being given this answer: the end, whenever it comes, is reported. It may have come already. */
  answerWith(answer: Answer): void {
    this.#answer = answer;
    // The head can arrive in the turn in which the client leaves: nobody would read it, and nothing free the slot.
    if (this.#cut !== undefined) this.end('broken');
  }

  /** Ends the request and the engine's work on it at once. */
  cutShort(cut: Cut): void {
    if (this.#isOver) return;
    this.#cut ??= cut;
    if (this.#answer !== undefined) this.end('broken');
    this.#aborter.abort(cut);
  }

  /** The request is over; later calls change nothing. Reported only when there is an answer to report. */
  end(how: 'complete' | 'broken'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelDeadline();
    this.#limits.lives.delete(this);
    for (const cleanUp of this.#cleanUps) cleanUp();
    if (this.#answer === undefined) return;
    const end = this.#endOf(this.#answer, how);
    this.#answer.onEnd(end);
    this.#onEnd(end);
  }

  #endOf({ status, read }: Answer, how: 'complete' | 'broken'): RequestEnd {
    const reading = read();
    // Clients close on the last word, and need no end of the connection after it: they have the whole answer.
    const isServed = this.#cut === 'client_gone' && reading.lastWord === 'said';
    const isClientGone = !isServed && (this.#cut === 'client_gone' || this.#cut === 'client_stalled');
    const served = isServed ? 'complete' : how;
    return {
      status: isClientGone ? 499 : status,
      outcome: isClientGone ? 'client_gone' : served,
      cut: isServed ? undefined : this.#cut,
      firstByteMs: this.#firstByteMs,
      reading,
    };
  }

  #limitTo(ms: number, cut: Cut): void {
    this.#cancelDeadline();
    this.#cancelDeadline = this.#timers.after(ms, () => this.cutShort(cut));
  }

  /** The listener goes with the signal, which is the request's own: to take it away would cost more than it does. */
  #cutOn(clientGone: AbortSignal): void {
    const onAbort = (): void => this.cutShort('client_gone');
    if (clientGone.aborted) onAbort();
    else clientGone.addEventListener('abort', onAbort);
  }
}
