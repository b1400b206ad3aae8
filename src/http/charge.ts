// The request that is taken from its owner's quota, and when it comes back: whatever never reaches an agent costs nothing
// (docs/keys.md).

import type { Caller } from '../auth/authenticate.ts';
import { lastResortOf } from '../dispatch/last-resort.ts';
import { modelLabel } from '../dispatch/model-label.ts';
import { type ErrorCode, RouterError } from '../errors.ts';
import { type Charge, type QuotaRefusal, takeRequest } from '../quota/charge.ts';
import { limitsOf } from '../quota/limits.ts';
import type { Arrival } from './entrance.ts';
import { healthyAgents } from './pass-gates.ts';
import type { RouterPorts } from './router-ports.ts';

/** Who asks for what. */
interface Asking {
  readonly caller: Caller;
  /** Empty when the body names none (api.md T3). */
  readonly model: string;
}

/** The charge of one request, which is taken once, by whoever first needs it. */
export class RequestCharge {
  readonly #ports: RouterPorts;
  readonly #arrival: Arrival;
  readonly #asking: Asking;
  #charge: Charge | undefined;

  constructor(ports: RouterPorts, arrival: Arrival, asking: Asking) {
    this.#ports = ports;
    this.#arrival = arrival;
    this.#asking = asking;
  }

  /** Takes one request, or throws 429. Whoever has the charge settles it, or it is given back. */
  take(): Charge {
    this.#charge ??= this.#takeNow();
    return this.#charge;
  }

  /** The request ends here. Nothing comes back of what an agent had and is settled. */
  giveBack(): void {
    if (this.#charge?.isOpen !== true) return;
    this.#charge.giveBack();
    // What is left is no less than before.
    this.#arrival.record.remainingRequests = undefined;
    this.#arrival.record.remainingTokens = undefined;
  }

  #takeNow(): Charge {
    const { quotas, nowMs, metrics, agents, policies } = this.#ports;
    const { record } = this.#arrival;
    const { caller, model } = this.#asking;
    const limits = limitsOf(caller, model);
    const replicas = limits?.requests?.isPerReplica === true ? this.#replicas() : 1;
    const taken = takeRequest(quotas, limits, replicas, nowMs());
    record.remainingRequests = taken.ok ? taken.value.remainingRequests : taken.fault.remaining;
    if (taken.ok) return taken.value;
    metrics.limits.rateLimited({ tenant: caller.owner, keyId: caller.keyId });
    metrics.limits.refused('b4_rpm', modelLabel(model, agents, policies));
    throw quotaError('rate_limit_exceeded', textOf(taken.fault, model), taken.fault);
  }

  /**
   * Those that can do what the endpoint asks for (A9). Without any, a provider counts as one, and so does an agent that the
   * request may be held for; else routing says what is wrong (T5).
   */
  #replicas(): number {
    const { endpoint } = this.#arrival;
    const { model } = this.#asking;
    const { redirect, policies } = this.#ports;
    const isServedAnyway = redirect !== undefined || lastResortOf(policies.planFor(model), endpoint) !== undefined;
    return Math.max(isServedAnyway ? 1 : 0, healthyAgents(this.#ports, endpoint, model).length);
  }
}

/** 429 with all that a client needs to come back in time. */
export function quotaError(code: ErrorCode, message: string, refusal: QuotaRefusal): RouterError {
  return new RouterError(code, message, { retryAfterS: refusal.retryAfterS, isPermanent: refusal.isPermanent });
}

function textOf({ limit }: QuotaRefusal, model: string): string {
  return limit === 'model'
    ? `The quotas of this API key do not name the model "${model}".`
    : 'The requests per minute of this API key are used up.';
}
