// Ends an answer that its client has stopped taking: a socket that is never read would hold its listing, its buffers and
// its place in a stop for ever (T-41).

import type { Timers } from '../agents/timers.ts';
import type { Connection } from '../runtime/runtime.ts';

export interface StallLimit {
  readonly timers: Timers;
  /** Longest time between two chunks that the client takes (E9). */
  readonly timeoutMs: number;
}

/**
 * The same stream, broken off once a chunk has waited `timeoutMs` for the client to ask for the next one. Then, as when
 * the client leaves, `stream` is cancelled.
 */
export function cutWhenStalled(
  stream: ReadableStream<Uint8Array>,
  limit: StallLimit,
  connection: Pick<Connection, 'closeSoon'>,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  let cancelTimer = (): void => undefined;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    cancelTimer();
    const { value } = await reader.read();
    if (value === undefined) return controller.close();
    controller.enqueue(value);
    cancelTimer = limit.timers.after(limit.timeoutMs, () => {
      controller.error(new Error('The client has stopped taking its answer'));
      // What was sent before would keep the socket until the client reads it.
      connection.closeSoon();
      void reader.cancel();
    });
  };
  const cancel = (): Promise<void> => {
    cancelTimer();
    return reader.cancel();
  };
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}
