// One buffer for bytes whose number was declared, which may never come: a client that declares 10 MiB and sends a byte holds
// a byte of the budget, and of memory, since the system gives pages out as they are written.

import { RouterError } from '../errors.ts';
import type { BufferLimits } from './growing-buffer.ts';

export class DeclaredBuffer {
  readonly #limits: Pick<BufferLimits, 'budget' | 'share'>;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  /** Throws `queue_full` when so many bytes would not be had even now, or too many others are still to come. */
  constructor(declaredBytes: number, limits: Pick<BufferLimits, 'budget' | 'share'>) {
    limits.budget.promise(limits.share, declaredBytes);
    this.#bytes = new Uint8Array(declaredBytes);
    this.#limits = limits;
  }

  /** What was appended, in one piece, without a copy. */
  get content(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Throws `queue_full`, and `request_invalid` for more than was declared. */
  append(chunk: Uint8Array): void {
    if (this.#length + chunk.byteLength > this.#bytes.byteLength) {
      throw new RouterError('request_invalid', 'The request body is longer than its Content-Length.');
    }
    this.#limits.budget.take(this.#limits.share, chunk.byteLength);
    this.#bytes.set(chunk, this.#length);
    this.#length += chunk.byteLength;
  }
}
