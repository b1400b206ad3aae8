// What a client is told when a provider fails or finds fault: the provider's words, at most 512 bytes of them, and never
// its key.

import { engineMessage, withoutSecret } from '../engine-message.ts';
import type { ClientFault, FailedAttempt } from '../forward.ts';
import { PROVIDER_NAMES, type ProviderAccount } from './provider.ts';

/** The provider's finding against the request, for the body of E4. */
export interface Finding {
  readonly kind: 'client_fault';
  readonly status: ClientFault;
  readonly message: string;
}

/** A finding in the provider's dialect. */
export function findingOf(status: ClientFault, bytes: Uint8Array, provider: ProviderAccount): Finding {
  const message = engineMessage(bytes) ?? `The provider answered with status ${status}.`;
  return tellFinding({ kind: 'client_fault', status, message }, provider);
}

export function tellFinding(finding: Finding, provider: ProviderAccount): Finding {
  return { ...finding, message: withoutKey(finding.message, provider) };
}

type Failed = { readonly kind: 'failed' } & FailedAttempt;

/** Anthropic's own status for an overload; 503 says the same to everybody. */
const OVERLOADED = 529;

/** A refused key is the operator's to mend, and what the provider says of it may hold a part of the key. */
export function tellFailure({ status, message, reason, retryAfter }: FailedAttempt, provider: ProviderAccount): Failed {
  const name = PROVIDER_NAMES[provider.dialect];
  const told = status === 401 || status === 403 ? 'it does not accept the key of this router.' : message;
  return {
    kind: 'failed',
    status: status === OVERLOADED ? 503 : status,
    message: withoutKey(`The provider ${name} failed: ${told}`, provider),
    retryAfter: retryAfter ?? null,
    reason: `${name}: ${reason}`,
  };
}

/** An answer that is of no use, in the router's own words. */
export function failedCall(provider: ProviderAccount, reason: string): Failed {
  return tellFailure({ status: undefined, message: `${reason}.`, reason }, provider);
}

/** For whatever of the provider's words a client is shown. */
export function withoutKey(text: string, { apiKey }: ProviderAccount): string {
  return withoutSecret(text, apiKey) ?? '[hidden]';
}
