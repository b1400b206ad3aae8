// A provider's bytes on their way to a client of its own dialect: they pass as they are, but never with the operator's key
// among them. Apart from the conversions, which take a key out of the few words that they show.

import { Buffer } from 'node:buffer';
import type { OpenedBody } from '../../agents/engine-body.ts';
import type { Failure } from '../failure.ts';
import { readerOf } from '../stream.ts';
import { asBuffer } from '../usage.ts';

export interface GuardedBody {
  readonly body: OpenedBody;
  /** Why it broke, once a read of it has been rejected for its key. */
  readonly failure: () => Failure | undefined;
}

const LEAK: Failure = { code: 'backend_error', message: 'The provider broke off its answer: it held a secret.' };

/**
 * The same bytes, which end before the chunk in which `secret` is complete; undefined when it is in what has come already.
 * It is looked for as it is, also across chunks, and not in escapes. Held back is only what may be its beginning: never
 * more than it is long, and never the end of an event.
 */
export function guardBody(source: OpenedBody, secret: string): GuardedBody | undefined {
  const guard = new KeyGuard(secret);
  const begun = source.chunks.map((chunk) => guard.pass(chunk));
  const chunks = begun.filter((chunk) => chunk !== undefined);
  if (chunks.length < begun.length) return undefined;
  const read = readerOf({ chunks: [], rest: source.rest });
  let failure: Failure | undefined;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    for (;;) {
      const { value } = await read();
      const passed = value === undefined ? guard.end() : guard.pass(value);
      if (passed === undefined) {
        failure = LEAK;
        source.rest?.cancel().catch(() => undefined);
        throw new Error('The answer of the provider held a secret');
      }
      if (passed.length > 0) controller.enqueue(passed);
      if (value === undefined) controller.close();
      if (value === undefined || passed.length > 0) return;
    }
  };
  const rest = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 }).getReader();
  return { body: { chunks: chunks.filter(({ length }) => length > 0), rest }, failure: () => failure };
}

class KeyGuard {
  readonly #key: Buffer;
  /** The end of what came, where it is a beginning of the key. */
  #held = Buffer.alloc(0);

  constructor(secret: string) {
    this.#key = Buffer.from(secret);
  }

  /** What may go on; undefined when the key is in it. */
  pass(chunk: Uint8Array): Uint8Array | undefined {
    const bytes = this.#held.length === 0 ? asBuffer(chunk) : Buffer.concat([this.#held, chunk]);
    if (bytes.includes(this.#key)) return undefined;
    const end = bytes.length - this.#begunAtEndOf(bytes);
    this.#held = Buffer.from(bytes.subarray(end));
    return bytes.subarray(0, end);
  }

  /** What was held back, once nothing follows. */
  end(): Uint8Array {
    return this.#held;
  }

  /** Bytes of the key that the end of `bytes` begins with, the most. */
  #begunAtEndOf(bytes: Buffer): number {
    let length = Math.min(bytes.length, this.#key.length - 1);
    while (length > 0 && !bytes.subarray(-length).equals(this.#key.subarray(0, length))) length -= 1;
    return length;
  }
}
