// What dispatch hands back: the answer of whoever gave one, or why there is none. Apart from dispatch, because an agent's
// attempt and a provider's are concluded alike.

import type { Agent } from '../agents/agent.ts';
import type { Provider } from '../policy/policy.ts';
import { type AnswerPlan, streamResponse, wholeResponse } from './answer.ts';
import { earlyEnd, type Failure } from './failure.ts';
import type { Attempt, ClientFault } from './forward.ts';
import type { RequestLife } from './request-life.ts';
import type { Target } from './target.ts';

/** Whom a request was given to: an agent of this site, or the provider of a policy. */
export type Answerer = Agent | Provider;

/** `by` is the one that answered, or the last one asked. */
export type DispatchOutcome =
  /** An answer: 200, or a finding against the request in JSON. */
  | { readonly kind: 'answered'; readonly response: Response; readonly by: Answerer }
  /** A finding against the request that is not for the client as it is: to be sent with this status in the body of E4. */
  | { readonly kind: 'client_fault'; readonly status: ClientFault; readonly message: string; readonly by: Answerer }
  | ({ readonly kind: 'failed'; readonly by: Answerer | undefined } & Failure)
  /** No agent has had it and none is left: where it goes is to be decided again, as its request said that it may be. */
  | { readonly kind: 'unreached'; readonly by: undefined };

/** An attempt after which nobody else is asked. */
type LastAttempt = Exclude<Attempt, { kind: 'refused' | 'failed' | 'disconnected' }>;

/** Whom the attempt was with. */
interface Asked {
  readonly by: Answerer;
  readonly target: Target;
}

export function conclude(
  attempt: LastAttempt,
  { by, target }: Asked,
  life: RequestLife,
  plan: AnswerPlan,
): DispatchOutcome {
  switch (attempt.kind) {
    case 'stream':
      return { kind: 'answered', response: streamResponse(attempt, target, life, plan), by };
    case 'whole':
      return { kind: 'answered', response: wholeResponse(attempt, target, life), by };
    case 'client_fault':
      life.end('broken');
      return { ...attempt, by };
    case 'cut':
      life.end('broken');
      return { kind: 'failed', ...earlyEnd(attempt.cut, target.kind), by };
  }
}
