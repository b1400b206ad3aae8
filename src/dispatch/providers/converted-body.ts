// A provider's stream in the client's dialect, as a body like any other: read only as fast as the client takes it, and
// each event on its way before the next is read.

import type { OpenedBody } from '../../agents/engine-body.ts';
import { fault, ok, type Result } from '../../lib/result.ts';
import { encodeUtf8 } from '../../lib/utf8.ts';
import type { Failure } from '../failure.ts';
import { readerOf } from '../stream.ts';
import { EventReader } from './event-reader.ts';
import { type StreamConversion, strayEvent } from './stream-conversion.ts';

export interface ConvertedBody {
  readonly body: OpenedBody;
  /** Why it broke, once a read of it has been rejected. */
  readonly failure: () => Failure | undefined;
}

/**
 * Reads the provider's events until there is something for the client: what fails before can still become an error of
 * its own, and is the fault. `onChunk` is told of whatever comes meanwhile: who sends is not silent.
 */
export async function openConverted(
  source: OpenedBody,
  conversion: StreamConversion,
  onChunk: () => void,
): Promise<Result<ConvertedBody, Failure>> {
  const stream = new ConvertedStream(source, conversion);
  let first = '';
  while (first === '' && stream.failure === undefined) {
    first = (await stream.next())?.text ?? '';
    if (stream.failure === undefined) onChunk();
  }
  if (first === '' && stream.failure !== undefined) return fault(stream.failure);
  const rest = new ReadableStream({ pull: (controller) => stream.pull(controller) }, { highWaterMark: 0 });
  return ok({ body: { chunks: [encodeUtf8(first)], rest: rest.getReader() }, failure: () => stream.failure });
}

/** What one chunk of the provider became. */
interface Step {
  readonly text: string;
  /** The provider is at work, whether or not the client is shown it. */
  readonly isAlive: boolean;
}

class ConvertedStream {
  readonly #source: OpenedBody;
  readonly #read: ReturnType<typeof readerOf>;
  readonly #conversion: StreamConversion;
  readonly #events = new EventReader();
  #failure: Failure | undefined;

  constructor(source: OpenedBody, conversion: StreamConversion) {
    this.#source = source;
    this.#read = readerOf(source);
    this.#conversion = conversion;
  }

  get failure(): Failure | undefined {
    return this.#failure;
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    let text = '';
    while (text === '' && this.#failure === undefined && !this.#conversion.isOver) {
      const step = await this.next();
      text = step?.text || (step?.isAlive ? this.#conversion.keepAlive : '');
    }
    if (text !== '') controller.enqueue(encodeUtf8(text));
    else if (this.#failure === undefined) controller.close();
    else controller.error(new Error('The stream of the provider is broken'));
  }

  /** Undefined once it is broken. Events that came before the one that breaks it are still the client's. */
  async next(): Promise<Step | undefined> {
    const part = await this.#read().catch(() => undefined);
    const batch = part?.value === undefined ? strayEvent('it ended too early') : this.#events.read(part.value);
    if (!batch.ok) {
      this.#failure = typeof batch.fault === 'string' ? strayEvent(batch.fault).fault : batch.fault;
      this.#stop();
      return undefined;
    }
    let text = '';
    for (const event of batch.value.events) {
      if (this.#conversion.isOver) break;
      const made = this.#conversion.next(event);
      if (!made.ok) {
        this.#failure = made.fault;
        break;
      }
      text += made.value;
    }
    if (this.#failure !== undefined || this.#conversion.isOver) this.#stop();
    return { text, isAlive: batch.value.isAlive };
  }

  /** Nothing more is wanted of the provider. */
  #stop(): void {
    this.#source.rest?.cancel().catch(() => undefined);
  }
}
