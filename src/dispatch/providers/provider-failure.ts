// What a client is told when a provider fails or finds fault: the provider's words, at most 512 bytes of them, and never
// its key.

import { engineMessage } from '../engine-message.ts';
import type { ClientFault, FailedAttempt } from '../forward.ts';
import { PROVIDER_NAMES, type ProviderAccount } from './provider.ts';

/** The provider's finding against the request, for the body of E4. */
export interface Finding {
  readonly kind: 'client_fault';
  readonly status: ClientFault;
  readonly message: string;
}

/** A finding in the provider's dialect, which does not hold the key: that one is none (`forward`). */
export function findingOf(status: ClientFault, bytes: Uint8Array): Finding {
  const message = engineMessage(bytes) ?? `The provider answered with status ${status}.`;
  return { kind: 'client_fault', status, message };
}

type Failed = { readonly kind: 'failed' } & FailedAttempt;

/** Anthropic's own status for an overload; 503 says the same to everybody. */
const OVERLOADED = 529;

/**
 * `message` holds no key: it was taken out before it was cut. A refused key is the operator's to mend, and what the provider
 * says of it may hold a part of the key.
 */
export function tellFailure({ status, message, reason, retryAfter }: FailedAttempt, provider: ProviderAccount): Failed {
  const name = PROVIDER_NAMES[provider.dialect];
  const told = status === 401 || status === 403 ? 'it does not accept the key of this router.' : message;
  return {
    kind: 'failed',
    status: status === OVERLOADED ? 503 : status,
    message: tellWho(name, told),
    retryAfter,
    reason: `${name}: ${reason}${status === 404 ? MODEL_HINT : ''}`,
  };
}

/** The provider's own words are not for the log, and say no more. */
const MODEL_HINT = ', check the model of the policy and the base URL';

/** The router's sentences have a subject already, which the provider's words have not. */
function tellWho(name: string, told: string): string {
  return ROUTERS_WORDS.test(told)
    ? told.replace('provider', `provider ${name}`)
    : `The provider ${name} failed: ${told}`;
}

const ROUTERS_WORDS = /^The (?:connection to the )?provider /;

/** An answer that is of no use, in the router's own words. */
export function failedCall(provider: ProviderAccount, reason: string): Failed {
  return tellFailure({ status: undefined, message: `${reason}.`, reason }, provider);
}
