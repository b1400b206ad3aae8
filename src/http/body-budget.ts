// How many bytes of request bodies the router holds at one time, over all requests: one budget for inference, and
// one for admin documents, so that no crowd of clients keeps an operator out. It is apart because whoever takes from it
// gives nothing back: a request's share lives as long as the request, since its body may be sent again.

import { RouterError } from '../errors.ts';

/** Where the bytes that one request has taken are written down: its record. */
export interface BodyShare {
  bodyBytes: number;
}

export class BodyBudget {
  readonly #maxBytes: number;
  readonly #shares = new Set<BodyShare>();
  #bytes = 0;

  /** `maxBytes` of all bodies together, at least 1. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes taken and not yet given back. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds `bytes`, an integer from 0, to the share. Throws `queue_full`, with nothing taken, when the budget does not
   * allow them; an Error for anything but a number of bytes, since one NaN would end the counting for good.
   */
  take(share: BodyShare, bytes: number): void {
    if (!Number.isSafeInteger(bytes) || bytes < 0) throw new Error(`Cannot take ${bytes} bytes of a budget`);
    this.demand(bytes);
    this.#shares.add(share);
    this.#bytes += bytes;
    share.bodyBytes += bytes;
  }

  /** Throws `queue_full` when the budget does not allow `bytes` now; nothing is taken. */
  demand(bytes: number): void {
    if (this.#bytes + bytes > this.#maxBytes) {
      throw new RouterError(
        'queue_full',
        `The router holds as many bytes of request bodies as it may, ${this.#maxBytes}: try again.`,
      );
    }
  }

  /** The request is over: all that it took here. A second call gives back nothing more. */
  giveBack(share: BodyShare): void {
    if (!this.#shares.delete(share)) return;
    this.#bytes -= share.bodyBytes;
    share.bodyBytes = 0;
  }
}
