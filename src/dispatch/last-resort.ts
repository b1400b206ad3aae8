// The end of a policy: the provider that answers when no step has an agent, if there is one for the request.

import type { Plan } from '../policy/plan.ts';
import type { FallbackProvider, Provider } from '../policy/policy.ts';
import type { Endpoint } from '../routing/endpoint.ts';
import type { ModelBody } from '../routing/inference-request.ts';
import type { AnswerPlan, AnswerPorts } from './answer.ts';
import { triesFailed } from './failure.ts';
import { type Answerer, conclude, type DispatchOutcome } from './outcome.ts';
import { callProvider, type ProviderPorts } from './providers/call-provider.ts';
import { type ChatEndpoint, isChatEndpoint, type ProviderAccount, providerTarget } from './providers/provider.ts';
import type { RequestLife } from './request-life.ts';

export interface LastResort extends FallbackProvider {
  readonly endpoint: ChatEndpoint;
}

/** Undefined: the plan names no provider, or the endpoint has no counterpart there. */
export function lastResortOf({ provider }: Plan, endpoint: Endpoint): LastResort | undefined {
  return provider === undefined || !isChatEndpoint(endpoint) ? undefined : { ...provider, endpoint };
}

export interface LastResortPorts extends AnswerPorts, ProviderPorts {
  /** Of those that the router has a key of; a policy names no other. */
  readonly accounts: ReadonlyMap<Provider, ProviderAccount>;
  /** Told why an answer could not be used, in the router's own words: for the operator, not for the client. */
  readonly onFailedTry: (by: Answerer, requestId: string, reason: string) => void;
  /** Told of every head of a provider, and after how many seconds; status 0: none came. */
  readonly onProviderHead: (provider: Provider, status: number, seconds: number) => void;
  /** Told once when a provider's answer is used. */
  readonly onProviderUsed: (model: string) => void;
  /** Told once when nothing of the policy could serve the request. */
  readonly onExhausted: (model: string) => void;
}

interface LastRequest extends ModelBody {
  /** As the client asked for it, and was allowed to. */
  readonly model: string;
  readonly headers: Headers;
  readonly requestId: string;
  readonly onOutput: AnswerPlan['onOutput'];
}

/** The provider is asked once. Undefined when there is no account with it: then it cannot be. */
export async function askLastResort(
  request: LastRequest,
  { engine: by, model, endpoint }: LastResort,
  ports: LastResortPorts,
  life: RequestLife,
): Promise<DispatchOutcome | undefined> {
  const account = ports.accounts.get(by);
  if (account === undefined) return undefined;
  const target = providerTarget(account, (status, ms) => ports.onProviderHead(by, status, ms / 1000));
  const attempt = await callProvider({ ...request, model, endpoint }, { account, target }, ports, life);
  switch (attempt.kind) {
    case 'unconvertible':
      ports.onExhausted(request.model);
      return { kind: 'failed', code: 'request_invalid', message: attempt.message, by };
    case 'failed':
      ports.onFailedTry(by, request.requestId, attempt.reason);
      ports.onExhausted(request.model);
      return { kind: 'failed', ...triesFailed(attempt), by };
    default:
      if (attempt.kind !== 'cut') ports.onProviderUsed(request.model);
      return conclude(attempt, { by, target }, life, {
        ports,
        dialect: endpoint.dialect,
        onOutput: request.onOutput,
      });
  }
}
