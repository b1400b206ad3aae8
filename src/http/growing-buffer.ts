// One buffer for bytes whose number nobody has told: it doubles up to its limit, and takes every byte of its size from
// the budget before it has it. A flood of one-byte chunks costs what its bytes cost (T-42).

import { RouterError } from '../errors.ts';
import type { BodyBudget, BodyShare } from './body-budget.ts';

/** What a buffer may grow to, and on whose account. */
export interface BufferLimits {
  /** More bytes are `body_too_large`. */
  readonly maxBytes: number;
  readonly budget: BodyBudget;
  readonly share: BodyShare;
}

export class GrowingBuffer {
  readonly #limits: BufferLimits;
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  /** `firstBytes`: the size to begin with, where it is known or guessed. Throws `queue_full`. */
  constructor(firstBytes: number, limits: BufferLimits) {
    const size = Math.min(firstBytes, limits.maxBytes);
    limits.budget.take(limits.share, size);
    this.#bytes = new Uint8Array(size);
    this.#limits = limits;
  }

  /** What was appended, in one piece, without a copy. */
  get content(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Throws `body_too_large` at the first byte above the limit, and `queue_full`. */
  append(chunk: Uint8Array): void {
    const needed = this.#length + chunk.byteLength;
    if (needed > this.#limits.maxBytes) throw tooLarge(this.#limits.maxBytes);
    if (needed > this.#bytes.byteLength) this.#grow(needed);
    this.#bytes.set(chunk, this.#length);
    this.#length = needed;
  }

  #grow(needed: number): void {
    const { maxBytes, budget, share } = this.#limits;
    const size = Math.min(maxBytes, Math.max(needed, this.#bytes.byteLength * 2));
    budget.take(share, size - this.#bytes.byteLength);
    // Leaves no outgrown buffer behind until the next garbage collection, which may be far.
    this.#bytes = new Uint8Array(this.#bytes.buffer.transfer(size));
  }
}

/** The one error for every body above its limit, however its length came to light. */
export function tooLarge(maxBytes: number): RouterError {
  return new RouterError('body_too_large', `The request body is larger than ${maxBytes} bytes.`);
}
