// Bytes of a provider's stream as events: split anywhere, in any of the three line ends, and never more of an unfinished
// event in memory than one bound.

import { createParser } from 'eventsource-parser';
import { fault, ok, type Result } from '../../lib/result.ts';

/** Characters of an event that has not ended. The longest real one holds a whole tool input. */
export const EVENT_MAX = 1_048_576;

/** One Server-Sent Event; its name, where it has one, is repeated in the data by both providers. */
export interface ProviderEvent {
  readonly data: string;
}

/** What some bytes have brought. */
export interface EventBatch {
  /** In order; none while an event is still incomplete. */
  readonly events: readonly ProviderEvent[];
  /** There was an event or a comment: the provider is at work. */
  readonly isAlive: boolean;
}

export class EventReader {
  readonly #decoder = new TextDecoder();
  #events: ProviderEvent[] = [];
  #hasComment = false;
  #isTooLong = false;
  readonly #parser = createParser({
    maxBufferSize: EVENT_MAX,
    onEvent: ({ data }) => void this.#events.push({ data }),
    onComment: () => {
      this.#hasComment = true;
    },
    onError: ({ type }) => {
      // The other errors are lines that the standard tells a reader to ignore.
      if (type === 'max-buffer-size-exceeded') this.#isTooLong = true;
    },
  });

  /** What these bytes complete. After a fault it must not be fed again. */
  read(bytes: Uint8Array): Result<EventBatch, string> {
    this.#events = [];
    this.#hasComment = false;
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    if (this.#isTooLong) return fault(`an event is longer than ${EVENT_MAX} characters`);
    return ok({ events: this.#events, isAlive: this.#hasComment || this.#events.length > 0 });
  }
}
