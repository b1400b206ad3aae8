// A provider's answer on its way to the client: as it is when both speak one dialect, else converted.

import type { TokenUse } from '../../agents/track-record.ts';
import { parseExactJson } from '../../lib/exact-json.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/utf8.ts';
import type { Failure } from '../failure.ts';
import {
  type Attempt,
  CLIENT_FAULTS,
  type StreamAnswer,
  WHOLE_ANSWER_MAX_BYTES,
  type WholeAnswer,
} from '../forward.ts';
import type { RequestLife } from '../request-life.ts';
import type { WayBack } from './conversion.ts';
import { openConverted } from './converted-body.ts';
import type { ProviderAccount } from './provider.ts';
import { failedCall, findingOf, tellFailure, withoutKey } from './provider-failure.ts';
import { useOf } from './token-counts.ts';

/** What became of a call. */
export type ProviderAttempt =
  | Exclude<Attempt, { kind: 'refused' | 'disconnected' }>
  /** The request holds what has no counterpart (a 400 of the router's); the provider was not asked. */
  | { readonly kind: 'unconvertible'; readonly message: string };

/** A whole answer, or the provider's finding against the request. */
export function readDocument(
  answer: WholeAnswer,
  provider: ProviderAccount,
  back: WayBack | undefined,
): ProviderAttempt {
  const { head, bytes } = answer;
  const isOwnDialect = back === undefined;
  const status = CLIENT_FAULTS.find((known) => known === head.status);
  if (status !== undefined && !isOwnDialect) return findingOf(status, bytes, provider);
  return isOwnDialect ? { ...answer, head: ownHead(head) } : convertDocument(answer, provider, back);
}

function convertDocument({ head, bytes }: WholeAnswer, provider: ProviderAccount, back: WayBack): ProviderAttempt {
  if (head.headers.has('content-encoding')) return failedCall(provider, 'it sent an encoded answer');
  if (back.wantsStream) return failedCall(provider, 'it sent a document instead of events');
  const document = parseExactJson(decodeUtf8(bytes) ?? '');
  if (!document.ok) return failedCall(provider, `its answer is ${document.fault}`);
  const converted = back.answer(document.value);
  if (!converted.ok) return failedCall(provider, `its answer cannot be converted: ${converted.fault}`);
  const { tokens, document: answer } = converted.value;
  return {
    kind: 'whole',
    head: new Response(null, { headers: { 'content-type': 'application/json' } }),
    bytes: encodeUtf8(JSON.stringify(answer)),
    use: () => useOf(tokens),
  };
}

/** An answer that is still coming. */
export async function readEvents(
  answer: StreamAnswer,
  provider: ProviderAccount,
  { back, life }: { readonly back: WayBack | undefined; readonly life: RequestLife },
): Promise<ProviderAttempt> {
  if (back === undefined) return { ...answer, head: ownHead(answer.head) };
  const reason = whyUnreadable(answer, back);
  if (reason !== undefined) {
    await answer.body.rest?.cancel();
    return failedCall(provider, reason);
  }
  const conversion = back.stream();
  const opened = await openConverted(answer.body, conversion);
  // A provider's time is nobody's record.
  if (life.cut !== undefined) return { kind: 'cut', cut: life.cut, afterMs: 0 };
  if (!opened.ok) {
    const { code, message } = opened.fault;
    const status = code === 'backend_unavailable' ? 503 : undefined;
    return tellFailure({ status, message, reason: 'its stream broke before its first event' }, provider);
  }
  const head = new Response(null, { headers: { 'content-type': 'text/event-stream' } });
  const failure = (): Failure | undefined => {
    const said = opened.value.failure();
    return said && { ...said, message: withoutKey(said.message, provider) };
  };
  const use = (): TokenUse | undefined => conversion.tokens && useOf(conversion.tokens);
  return { kind: 'stream', head, body: opened.value.body, isEvents: true, failure, use };
}

function whyUnreadable({ head, isEvents }: StreamAnswer, back: WayBack): string | undefined {
  if (!isEvents) return `its answer is longer than ${WHOLE_ANSWER_MAX_BYTES} bytes`;
  if (head.headers.has('content-encoding')) return 'it sent encoded events';
  return back.wantsStream ? undefined : 'it sent events instead of a document';
}

/** What else a provider's headers tell, of the operator's account and its limits, is not for clients. */
const OWN_HEADERS = ['content-type', 'content-encoding'];

function ownHead({ status, headers }: Response): Response {
  const own = new Headers();
  for (const name of OWN_HEADERS) {
    const value = headers.get(name);
    if (value !== null) own.set(name, value);
  }
  return new Response(null, { status, headers: own });
}
