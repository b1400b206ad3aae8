// How many bytes of request bodies the router holds at one time, over all requests: one budget for inference, and
// one for admin documents, so that no crowd of clients keeps an operator out. It is apart because whoever takes from it
// gives nothing back: a request's share lives as long as the request, since its body may be sent again.

import { RouterError } from '../errors.ts';

/** Where the bytes that one request has taken are written down: its record. */
export interface BodyShare {
  bodyBytes: number;
}

/**
 * Bytes that may be declared and still to come, as a multiple of the budget: a crowd that declares much and sends little
 * shall not keep others out, and a crowd that sends all of it at once shall not be let in as a whole.
 */
export const PROMISED_FACTOR = 8;

export class BodyBudget {
  readonly #maxBytes: number;
  /** Whoever has taken or promised something, and how much was promised. */
  readonly #shares = new Map<BodyShare, number>();
  #bytes = 0;
  #promised = 0;

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
    if (this.#bytes + bytes > this.#maxBytes) throw this.#full();
    this.#note(share, 0);
    this.#bytes += bytes;
    share.bodyBytes += bytes;
  }

  /**
   * Notes that `bytes`, an integer from 0, are declared and to be taken as they come. Throws `queue_full`, with nothing
   * noted, when there would be no room for them even now, or {@link PROMISED_FACTOR} times the budget is promised.
   */
  promise(share: BodyShare, bytes: number): void {
    if (this.#bytes + bytes > this.#maxBytes) throw this.#full();
    if (this.#promised + bytes > this.#maxBytes * PROMISED_FACTOR) throw this.#full();
    this.#note(share, bytes);
  }

  /** What the share has moves into another budget's account, for as long as its request is held; how much that is. */
  setAside(share: BodyShare): number {
    const bytes = share.bodyBytes;
    this.giveBack(share);
    return bytes;
  }

  /** It comes back, also where there is no room: together the two budgets hold as much as before. */
  takeBack(share: BodyShare, bytes: number): void {
    this.#note(share, 0);
    this.#bytes += bytes;
    share.bodyBytes += bytes;
  }

  /** The request is over: all that it took here. A second call gives back nothing more. */
  giveBack(share: BodyShare): void {
    const promised = this.#shares.get(share);
    if (promised === undefined) return;
    this.#shares.delete(share);
    this.#promised -= promised;
    this.#bytes -= share.bodyBytes;
    share.bodyBytes = 0;
  }

  #note(share: BodyShare, promised: number): void {
    this.#promised += promised;
    this.#shares.set(share, (this.#shares.get(share) ?? 0) + promised);
  }

  #full(): RouterError {
    return new RouterError(
      'queue_full',
      `The router holds as many bytes of request bodies as it may, ${this.#maxBytes}: try again.`,
    );
  }
}
