// The call to whatever starts models: a signed POST. It can hang or fail as it likes: no request waits for its answer.

import { createHmac } from 'node:crypto';
import { type EngineFetch, errorCode } from '../agents/engine-fetch.ts';
import type { Timers } from '../agents/timers.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import type { WantedModel } from './wake.ts';

/** Where to call, and how to be believed there. */
export interface WebhookTarget {
  /** `http` or `https`, without user name and password. */
  readonly url: string;
  /** What they make as a header; undefined when the URL had none. */
  readonly authorization: string | undefined;
  /** Undefined: calls are not signed. */
  readonly secret: string | undefined;
}

export interface WebhookPorts {
  readonly fetch: EngineFetch;
  readonly timers: Timers;
  /** Told of each call that failed, in words without URL or secret. */
  readonly onFailed: (model: string, reason: string) => void;
}

/** A call that takes longer has failed (decisions.md, "Hold at zero"). */
export const CALL_TIMEOUT_MS = 10_000;

const STOPPED = 'stopped';

export class WakeWebhook {
  readonly #site: string;
  readonly #target: WebhookTarget;
  readonly #ports: WebhookPorts;
  /** By model, what ends its call. */
  readonly #underWay = new Map<string, AbortController>();

  constructor(site: string, target: WebhookTarget, ports: WebhookPorts) {
    this.#site = site;
    this.#target = target;
    this.#ports = ports;
  }

  /** Begins a call, unless one for the model is under way: then false. */
  call(wanted: WantedModel): boolean {
    const { model } = wanted;
    if (this.#underWay.has(model)) return false;
    const aborter = new AbortController();
    this.#underWay.set(model, aborter);
    void this.#post(wanted, aborter).then((failure) => {
      this.#underWay.delete(model);
      if (failure !== undefined && aborter.signal.reason !== STOPPED) this.#ports.onFailed(model, failure);
    });
    return true;
  }

  /** Ends what is under way: the router stops. */
  stop(): void {
    for (const aborter of this.#underWay.values()) aborter.abort(STOPPED);
  }

  /** Why the call failed; undefined when it was answered with a 2xx. Never rejects. */
  async #post({ model, kind, held, sinceMs }: WantedModel, aborter: AbortController): Promise<string | undefined> {
    const { fetch, timers } = this.#ports;
    const body = JSON.stringify({ site: this.#site, model, kind, held, since: formatTimestamp(sinceMs) });
    const cancelTimeout = timers.after(CALL_TIMEOUT_MS, () => aborter.abort());
    try {
      // On a connection of its own: a kept one may be closing when the next call comes, ten seconds later.
      const init = { method: 'POST', body, headers: this.#headers(body), keepalive: false, signal: aborter.signal };
      const answer = await fetch(this.#target.url, init);
      await answer.body?.cancel();
      return answer.ok ? undefined : `status ${answer.status}`;
    } catch (error) {
      return aborter.signal.aborted ? `no answer within ${CALL_TIMEOUT_MS} ms` : (errorCode(error) ?? 'no connection');
    } finally {
      cancelTimeout();
    }
  }

  #headers(body: string): Record<string, string> {
    const { authorization, secret } = this.#target;
    return {
      'content-type': 'application/json',
      ...(authorization === undefined ? {} : { authorization }),
      ...(secret === undefined
        ? {}
        : { 'x-hivenet-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` }),
    };
  }
}
