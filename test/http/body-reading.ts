// Bodies for the tests of their reading: streams of given pieces, a reader outside of a router, and what it took.

import { systemTimers, type Timers } from '../../src/agents/timers.ts';
import { RouterError } from '../../src/errors.ts';
import { type BodyOrder, readBody, readContent } from '../../src/http/body.ts';
import { BodyBudget, type BodyShare } from '../../src/http/body-budget.ts';

/** `{"model":"m","x":"…"}` of exactly `size` bytes. */
export function bodyOf(size: number): string {
  const frame = '{"model":"m","x":""}';
  return frame.replace('""', `"${'x'.repeat(size - frame.length)}"`);
}

/** A body that arrives in these pieces. */
export function chunks(...parts: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

/** The bytes in pieces of `size`. */
export function inPieces(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  const count = Math.ceil(bytes.byteLength / size);
  return chunks(...Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size)));
}

/** A body that no reader may ask for. */
export function untouched(): ReadableStream<Uint8Array> {
  const pull = (): never => {
    throw new Error('the body was read');
  };
  return new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
}

export interface Endless {
  readonly stream: ReadableStream<Uint8Array>;
  given: number;
  isCancelled: boolean;
}

/** Pieces of 100 bytes for as long as somebody asks. */
export function endless(): Endless {
  const body: Endless = {
    given: 0,
    isCancelled: false,
    stream: new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          body.given += 1;
          controller.enqueue(new Uint8Array(100));
        },
        cancel: () => {
          body.isCancelled = true;
        },
      },
      { highWaterMark: 0 },
    ),
  };
  return body;
}

export interface Reading {
  readonly maxBytes?: number;
  readonly budgetBytes?: number;
  readonly isHashed?: boolean;
  readonly headers?: Record<string, string>;
  readonly timers?: Timers;
}

/** One reader with a budget of its own. */
export function reader(body: BodyInit | null, reading: Reading = {}) {
  const { maxBytes = 100_000, budgetBytes = 1_000_000, isHashed = false, headers = {} } = reading;
  const request = new Request('https://x', { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
  const silence: string[] = [];
  const share: BodyShare = { bodyBytes: 0 };
  const budget = new BodyBudget(budgetBytes);
  const connection = {
    remoteAddress: '',
    allowSilence: (untilMs?: number) => void silence.push(`allow ${untilMs} ms`),
    endSilence: () => void silence.push('end'),
    closeSoon: () => void silence.push('close'),
  };
  const ports = { budget, timeoutMs: 60_000, timers: reading.timers ?? systemTimers };
  const order: BodyOrder = { request, connection, share, maxBytes, isHashed };
  return {
    budget,
    share,
    silence,
    read: () => readBody(ports, order),
    readContent: async () => readContent(ports, order, await readBody(ports, order)),
  };
}

/** How a reading ends: `read`, or the code of its error. */
export async function codeOf(reading: Promise<unknown>): Promise<string> {
  return reading.then(
    () => 'read',
    (error: unknown) => (error instanceof RouterError ? error.code : String(error)),
  );
}
