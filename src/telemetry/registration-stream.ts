// Tells subscribers which agents come and go, and which models are waited for, as Server-Sent Events: for whatever starts
// and stops replicas. What nobody listens to is not kept; who reconnects reads the routing table first.

import { encodeUtf8 } from '../lib/utf8.ts';

/** On the wire as it is here (routing.md §22). */
export interface RegistrationEvent {
  /** An agent can be given requests, or can no longer. */
  readonly event_type: 'registered' | 'unregistered';
  /** Empty when the agent was given none; the same for `replica_id`. */
  readonly deployment_id: string;
  readonly replica_id: string;
  readonly agent_id: string;
  /** RFC 3339. */
  readonly timestamp: string;
}

/** A model of this site is asleep and wanted; or nobody waits for it any more (decisions.md, "Hold at zero"). */
export interface WakeEvent {
  readonly event_type: 'wake_wanted' | 'wake_done';
  readonly site: string;
  readonly model: string;
  readonly kind: string;
  /** Requests that are held for it. */
  readonly held: number;
  /** RFC 3339: when the first of this wait came; the same of the event. */
  readonly since: string;
  readonly timestamp: string;
}

/** Subscribers at a time: control services, and now and then an operator. */
export const SUBSCRIBERS_MAX = 64;
/**
 * Events that a subscriber may lag behind; then its stream ends, so that it knows that it has missed something. Twice as
 * many as a reload of all agents makes in one turn.
 */
export const BACKLOG_MAX = 2_048;
/** From one sign of life to the next; proxies cut what is silent for longer. */
export const KEEP_ALIVE_MS = 25_000;

interface Subscriber {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  readonly onEnd: () => void;
}

export class RegistrationStream {
  readonly #subscribers = new Set<Subscriber>();
  #isClosed = false;

  /**
   * The bytes of a new subscription, which begins with a comment; undefined when there are too many, or after `close`.
   * `onEnd` is called once, whoever ends it.
   */
  subscribe(onEnd: () => void): ReadableStream<Uint8Array> | undefined {
    if (this.#isClosed || this.#subscribers.size >= SUBSCRIBERS_MAX) return undefined;
    let subscriber: Subscriber | undefined;
    return new ReadableStream(
      {
        start: (controller) => {
          subscriber = { controller, onEnd };
          this.#subscribers.add(subscriber);
          controller.enqueue(encodeUtf8(': subscribed\n\n'));
        },
        cancel: () => this.#forget(subscriber),
      },
      { highWaterMark: BACKLOG_MAX },
    );
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }

  publish(event: RegistrationEvent | WakeEvent): void {
    this.#send(`data: ${JSON.stringify(event)}\n\n`);
  }

  /** A comment for every subscriber; to be called every {@link KEEP_ALIVE_MS}. */
  keepAlive(): void {
    this.#send(': alive\n\n');
  }

  /** Ends every subscription, and takes no new one. */
  close(): void {
    this.#isClosed = true;
    for (const subscriber of this.#subscribers) this.#end(subscriber);
  }

  #send(text: string): void {
    const bytes = encodeUtf8(text);
    for (const subscriber of this.#subscribers) {
      if ((subscriber.controller.desiredSize ?? 0) > 0) subscriber.controller.enqueue(bytes);
      else this.#end(subscriber);
    }
  }

  #end(subscriber: Subscriber): void {
    this.#forget(subscriber);
    subscriber.controller.close();
  }

  #forget(subscriber: Subscriber | undefined): void {
    if (subscriber !== undefined && this.#subscribers.delete(subscriber)) subscriber.onEnd();
  }
}
