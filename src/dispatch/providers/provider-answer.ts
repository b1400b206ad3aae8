// A provider's answer on its way to the client: as it is when both speak one dialect, else converted.

import type { TokenUse } from '../../agents/track-record.ts';
import { parseExactJson } from '../../lib/exact-json.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/utf8.ts';
import { holdsSecret } from '../engine-message.ts';
import {
  type AnswerHead,
  type Attempt,
  CLIENT_FAULTS,
  type StreamAnswer,
  WHOLE_ANSWER_MAX_BYTES,
  type WholeAnswer,
} from '../forward.ts';
import type { RequestLife } from '../request-life.ts';
import type { WayBack } from './conversion.ts';
import { openConverted } from './converted-body.ts';
import { guardBody } from './key-guard.ts';
import type { ProviderAccount } from './provider.ts';
import { failedCall, findingOf, tellFailure } from './provider-failure.ts';
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
  const status = CLIENT_FAULTS.find((known) => known === head.status);
  if (back !== undefined) {
    return status === undefined ? convertDocument(answer, provider, back) : findingOf(status, bytes);
  }
  const reason = status === undefined ? whyUnfit(answer, provider) : undefined;
  return reason === undefined ? { ...answer, head: ownHead(head) } : failedCall(provider, reason);
}

/** Of a document that goes to a client as it is; undefined when it may. */
function whyUnfit({ head, bytes }: WholeAnswer, { apiKey }: ProviderAccount): string | undefined {
  if (isEncoded(head)) return ENCODED;
  if (!isJson(head) || bytes.length === 0) return 'its answer is not JSON';
  // In a text or an error of the provider's: neither may show it.
  return holdsSecret(new TextDecoder().decode(bytes), apiKey) ? HOLDS_KEY : undefined;
}

const ENCODED = 'it sent an encoded answer';
const HOLDS_KEY = 'its answer holds a secret';

function isEncoded({ headers }: AnswerHead): boolean {
  return headers['content-encoding'] !== undefined;
}

function isJson({ headers }: AnswerHead): boolean {
  return /\bjson\b/i.test(headers['content-type'] ?? '');
}

function convertDocument({ head, bytes }: WholeAnswer, provider: ProviderAccount, back: WayBack): ProviderAttempt {
  if (isEncoded(head)) return failedCall(provider, ENCODED);
  if (back.wantsStream) return failedCall(provider, 'it sent a document instead of events');
  const document = parseExactJson(decodeUtf8(bytes) ?? '');
  if (!document.ok) return failedCall(provider, `its answer is ${document.fault}`);
  const converted = back.answer(document.value);
  if (!converted.ok) return failedCall(provider, `its answer cannot be converted: ${converted.fault}`);
  const { tokens, document: answer } = converted.value;
  return {
    kind: 'whole',
    head: { status: 200, headers: { 'content-type': 'application/json' } },
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
  if (back === undefined) return passEvents(answer, provider);
  const reason = whyUnreadable(answer, back);
  if (reason !== undefined) {
    await answer.body.rest?.cancel();
    return failedCall(provider, reason);
  }
  const conversion = back.stream();
  const opened = await openConverted(answer.body, conversion, () => life.limitToSilence());
  // A provider's time is nobody's record.
  if (life.cut !== undefined) return { kind: 'cut', cut: life.cut, afterMs: 0 };
  if (!opened.ok) {
    const { code, message } = opened.fault;
    const status = code === 'backend_unavailable' ? 503 : undefined;
    return tellFailure({ status, message, reason: 'its stream broke before its first event' }, provider);
  }
  const head = { status: 200, headers: { 'content-type': 'text/event-stream' } };
  const { body, failure } = opened.value;
  const use = (): TokenUse | undefined => conversion.tokens && useOf(conversion.tokens);
  return { kind: 'stream', head, body, isEvents: true, failure, use };
}

/** One that goes to a client as it is: events, or a document of more than {@link WHOLE_ANSWER_MAX_BYTES}. */
async function passEvents(answer: StreamAnswer, provider: ProviderAccount): Promise<ProviderAttempt> {
  const { head, isEvents } = answer;
  const isFit = !isEncoded(head) && (isEvents || isJson(head));
  const guarded = isFit ? guardBody(answer.body, provider.apiKey) : undefined;
  if (guarded !== undefined) return { ...answer, ...guarded, head: ownHead(head) };
  await answer.body.rest?.cancel();
  if (isFit) return failedCall(provider, HOLDS_KEY);
  return failedCall(provider, isEncoded(head) ? ENCODED : 'its answer is not JSON');
}

function whyUnreadable({ head, isEvents }: StreamAnswer, back: WayBack): string | undefined {
  if (!isEvents) return `its answer is longer than ${WHOLE_ANSWER_MAX_BYTES} bytes`;
  if (isEncoded(head)) return 'it sent encoded events';
  return back.wantsStream ? undefined : 'it sent events instead of a document';
}

/** What else a provider's headers tell, of the operator's account and its limits, is not for clients. */
function ownHead({ status, headers }: AnswerHead): AnswerHead {
  const type = headers['content-type'];
  return { status, headers: type === undefined ? {} : { 'content-type': type } };
}
