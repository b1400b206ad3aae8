// What both conversions of a stream have in common: one event of the provider in, the client's events out.

import { memberOf } from '../../agents/engine-body.ts';
import { fault, type Result } from '../../lib/result.ts';
import { encodeUtf8 } from '../../lib/utf8.ts';
import { engineMessage } from '../engine-message.ts';
import type { Failure } from '../failure.ts';
import type { ProviderEvent } from './event-reader.ts';
import type { TokenCounts } from './token-counts.ts';

/** State of one stream; after a fault, or once it is over, it must not be asked again. */
export interface StreamConversion {
  /** The client's events that this one makes, as text; empty for none. The fault is for the client's error event. */
  next(event: ProviderEvent): Result<string, Failure>;
  /** The provider has said that its answer is complete, and the client has been told. */
  readonly isOver: boolean;
  /** Sent when the provider is at work on something that the client is not shown: no side then takes it for dead. */
  readonly keepAlive: string;
  /** As the provider has counted so far, for accounting; undefined before it has. */
  readonly tokens: TokenCounts | undefined;
}

/** The provider's stream holds what its documentation does not. */
export function strayEvent(what: string): { readonly ok: false; readonly fault: Failure } {
  return fault({ code: 'backend_error', message: `The provider broke off its answer: ${what}.` });
}

/** Types and codes of the providers' errors that ask to come back later (E8). */
const BUSY: readonly unknown[] = ['overloaded_error', 'rate_limit_error', 'rate_limit_exceeded', 'server_overloaded'];

/** An error event, of either provider, as what the client is told: the provider's words without `secret`, at most 512 bytes. */
export function errorOf(data: string, error: unknown, secret: string): { readonly ok: false; readonly fault: Failure } {
  const message = engineMessage(encodeUtf8(data), secret) ?? 'The provider reported an error.';
  const isBusy = BUSY.includes(memberOf(error, 'type')) || BUSY.includes(memberOf(error, 'code'));
  return fault({ code: isBusy ? 'backend_unavailable' : 'backend_error', message });
}
