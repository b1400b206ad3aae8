// An engine's body on its way to the client, chunk by chunk: bytes untouched, read only as fast as the client takes
// them, and never with a clean end that the engine did not make.

import type { OpenedBody } from '../agents/engine-body.ts';
import type { Timers } from '../agents/timers.ts';
import type { Meter } from './meter.ts';
import type { Cut, RequestLife } from './request-life.ts';
import { EMPTY_TAIL, followingTail, type Tail } from './sse.ts';

export interface RelayPlan {
  /**
   * What tells the client that the answer is broken, and by whom (undefined: the engine). Undefined as a whole when
   * the format has no word for it: then the connection is broken.
   */
  readonly errorEvent: ((cut: Cut | undefined, tail: Tail) => Uint8Array<ArrayBuffer>) | undefined;
  /** Longest time between two chunks; undefined when the request timeout still runs. */
  readonly idle: { readonly timers: Timers; readonly timeoutMs: number } | undefined;
  readonly meter: Meter;
  /** Told after each chunk how many tokens of output have passed, estimated. */
  readonly onOutput: (seenTokens: number) => void;
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** What a reader gives; without a value at the end. */
interface Part {
  readonly value?: Uint8Array | undefined;
}

/**
 * The body for the client. A reader wrapper, because a body handed to the runtime as it is shows neither its end nor
 * its errors (bun.md, rule 14); nothing is read ahead. Ends `life` at the last byte, the error, or the client's leave.
 */
export function relay(body: OpenedBody, life: RequestLife, plan: RelayPlan): ReadableStream<Uint8Array> {
  const read = readerOf(body);
  const silence = plan.idle === undefined ? undefined : watchSilence(life, plan.idle.timers, plan.idle.timeoutMs);
  let tail = EMPTY_TAIL;
  let isReading = false;
  const pass = (controller: Controller, part: Part | undefined): void => {
    isReading = false;
    silence?.waitFor('client');
    if (part === undefined) {
      life.end('broken');
      if (life.cut !== 'client_gone') breakOff(controller, plan.errorEvent?.(life.cut, tail));
    } else if (part.value === undefined) {
      life.end('complete');
      controller.close();
    } else {
      life.noteFirstByte();
      tail = followingTail(tail, part.value);
      plan.meter.take(part.value);
      plan.onOutput(plan.meter.seenTokens);
      controller.enqueue(part.value);
    }
  };
  // It returns no promise: what the runtime does with one is up to a seventh of a chunk's cost. So it can be asked
  // again before the chunk has come.
  const pull = (controller: Controller): void => {
    if (isReading) return;
    isReading = true;
    silence?.waitFor('engine');
    const take = (part: Part | undefined): void => {
      try {
        pass(controller, part);
      } catch (error) {
        // A client that has left takes nothing, which this does not change; a bug breaks its own stream and no other.
        controller.error(error);
      }
    };
    void read().then(take, () => take(undefined));
  };
  return new ReadableStream({ pull, cancel: () => life.cutShort('client_gone') }, { highWaterMark: 0 });
}

/** What was read already, then the rest. */
export function readerOf({ chunks, rest }: OpenedBody): () => Promise<Part> {
  const waiting = [...chunks];
  return () => {
    const value = waiting.shift();
    return value === undefined && rest !== undefined ? rest.read() : Promise.resolve({ value });
  };
}

function breakOff(controller: Controller, event: Uint8Array | undefined): void {
  if (event === undefined) {
    controller.error(new Error('The answer of the engine was cut short'));
  } else {
    controller.enqueue(event);
    controller.close();
  }
}

type Party = 'engine' | 'client';

/**
 * Cuts a stream that has been silent for `timeoutMs`, whichever side it waits for: a client that takes nothing would
 * hold the slot for ever. A chunk only notes the time; the timer looks at it when it fires.
 */
function watchSilence(life: RequestLife, timers: Timers, timeoutMs: number): { waitFor(party: Party): void } {
  let sinceMs = timers.monotonicMs();
  let waitsFor: Party = 'client';
  const look = (): void => {
    const leftMs = sinceMs + timeoutMs - timers.monotonicMs();
    if (leftMs > 0) cancel = timers.after(leftMs, look);
    else life.cutShort(waitsFor === 'engine' ? 'stream_idle' : 'client_stalled');
  };
  let cancel = timers.after(timeoutMs, look);
  life.whenOver(() => cancel());
  return {
    waitFor: (party) => {
      sinceMs = timers.monotonicMs();
      waitsFor = party;
    },
  };
}
