// One request to one target: the same bytes out, and what came back as one of a few cases. Whether to try another agent
// is dispatch's to say.

import { type BoundedBody, joined, type OpenedBody, openBody, parseJson, readBounded } from '../agents/engine-body.ts';
import { connectionFault, type EngineFetch, errorCode } from '../agents/engine-fetch.ts';
import type { Timers } from '../agents/timers.ts';
import type { TokenUse } from '../agents/track-record.ts';
import { engineMessage, holdsSecret } from './engine-message.ts';
import type { FailedAnswer, Failure } from './failure.ts';
import { fieldsOf, type HeaderFields } from './headers.ts';
import type { Cut, RequestLife } from './request-life.ts';
import type { Target } from './target.ts';

/** A complete answer up to this size is read before the client gets its head: it keeps its length and can be retried. */
export const WHOLE_ANSWER_MAX_BYTES = 1_048_576;

/** How long the rest of a failed answer is waited for: its status alone decides, the rest is only quoted. */
export const FAILURE_BODY_TIMEOUT_MS = 1_000;

/** Characters of an engine's headers, names and values; a client's own limit is seldom above this (bun.md, D (vii)). */
export const HEADERS_MAX = 16_384;

/** The client's own mistakes: they go back as they are, since another agent would say the same (E8). */
export const CLIENT_FAULTS = [400, 413, 415, 422] as const;

export type ClientFault = (typeof CLIENT_FAULTS)[number];

/** Of an answer as it came. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: HeaderFields;
}

export interface StreamAnswer {
  readonly kind: 'stream';
  readonly head: AnswerHead;
  /** Its first bytes are there: until then another agent could still be asked. */
  readonly body: OpenedBody;
  /** Server-Sent Events, by the answer's own type, whatever the request asked for (routing.md §14). */
  readonly isEvents: boolean;
  /** Of a provider's stream: why it broke, once it has; undefined when its connection did. */
  readonly failure?: () => Failure | undefined;
  /** Of a converted stream: the tokens it has told so far, whether or not the client wants to know. */
  readonly use?: () => TokenUse | undefined;
}

export interface WholeAnswer {
  readonly kind: 'whole';
  readonly head: AnswerHead;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of a converted answer: the tokens it took. */
  readonly use?: () => TokenUse | undefined;
}

/** No usable answer. The message is for the client; it may hold the engine's own words, and parts of a prompt. */
export interface FailedAttempt extends FailedAnswer {
  /** For the log, in the router's words alone. */
  readonly reason: string;
  /** It costs none of the step's tries: the connection may have been old. By default it does. */
  readonly isFree?: true;
}

/** The connection failed before the head of an answer. */
export interface LostAttempt extends FailedAttempt {
  readonly kind: 'disconnected';
}

export type Attempt =
  /** 200 and a body still to come. */
  | StreamAnswer
  /** An answer for the client, read to its end. */
  | WholeAnswer
  /** The engine found fault with the request, in a body that no SDK can read. */
  | { readonly kind: 'client_fault'; readonly status: ClientFault; readonly message: string }
  /** There is no way to the engine: the request was not even sent. `reason` is for the log. */
  | { readonly kind: 'refused'; readonly reason: string }
  | LostAttempt
  | ({ readonly kind: 'failed' } & FailedAttempt)
  /** The router ended it; the agent had had it for `afterMs`. */
  | { readonly kind: 'cut'; readonly cut: Cut; readonly afterMs: number };

/** What every attempt sends. */
export interface EngineCall {
  readonly path: string;
  readonly headers: HeaderFields;
  readonly body: Uint8Array<ArrayBuffer>;
  /** On a connection of its own, not on a kept one that the engine may be closing (bun.md, fact 6 and rule 15). */
  readonly isAlone: boolean;
}

export interface ForwardPorts {
  readonly fetch: EngineFetch;
  readonly timers: Timers;
}

/** Never rejects. The body of an answer that is not handed on is read or cancelled. */
export async function forward(
  call: EngineCall,
  target: Target,
  ports: ForwardPorts,
  life: RequestLife,
): Promise<Attempt> {
  const { timers } = ports;
  const sentMs = timers.monotonicMs();
  let response: Response | undefined;
  try {
    response = await send(call, target, ports.fetch, life);
    target.onHead(response.status, timers.monotonicMs() - sentMs);
    const head = { status: response.status, headers: fieldsOf(response.headers) };
    // Most answers, without one more step.
    if (isShortDocument(head)) return { kind: 'whole', head, bytes: await response.bytes() };
    return await receive({ head, response }, target, timers, life);
  } catch (error) {
    const afterMs = timers.monotonicMs() - sentMs;
    if (response === undefined) target.onHead(0, afterMs);
    if (life.cut !== undefined) return { kind: 'cut', cut: life.cut, afterMs };
    if (response === undefined && connectionFault(error) === 'refused')
      return { kind: 'refused', reason: refusal(error) };
    const kind = response === undefined ? 'disconnected' : 'failed';
    return { kind, ...broken(`The connection to the ${target.kind} failed.`, `connection failed: ${causeOf(error)}`) };
  }
}

function send(call: EngineCall, target: Target, fetch: EngineFetch, life: RequestLife): Promise<Response> {
  const { credentials } = target;
  const headers = credentials === undefined ? call.headers : { ...call.headers, ...credentials };
  const init = { method: 'POST', headers, body: call.body, signal: life.signal };
  return fetch(target.baseUrl + call.path, call.isAlone ? { ...init, keepalive: false } : init);
}

function refusal(error: unknown): string {
  const code = errorCode(error) ?? 'ECONNREFUSED';
  return code === 'ECONNREFUSED' ? 'connection refused' : `cannot connect: ${code}`;
}

function causeOf(error: unknown): string {
  return errorCode(error) ?? 'unknown cause';
}

function broken(message: string, reason: string): FailedAttempt {
  return { status: undefined, message, reason };
}

/** Anything but a short document. */
function receive(received: Received, target: Target, timers: Timers, life: RequestLife): Promise<Attempt> {
  const { head } = received;
  if (sizeOf(head.headers) > HEADERS_MAX) return refuseHeaders(received, target);
  if (head.status !== 200) return receiveFailure(received, target, timers, life);
  return isEventStream(head) ? receiveEvents(received, life) : receiveDocument(received);
}

/** A head that has been read, and the response that it is of. */
interface Received {
  readonly head: AnswerHead;
  readonly response: Response;
}

async function refuseHeaders({ response }: Received, { kind }: Target): Promise<Attempt> {
  await response.body?.cancel();
  return {
    kind: 'failed',
    ...broken(`The ${kind} sent too many headers.`, `more than ${HEADERS_MAX} characters of headers`),
  };
}

async function receiveFailure(
  { head, response }: Received,
  target: Target,
  timers: Timers,
  life: RequestLife,
): Promise<Attempt> {
  return judgeFailure(head, await readFailure(response, timers, life), target);
}

/** Between the head and the first event lies the whole prefill: silence is the limit, not the request timeout (E9). */
async function receiveEvents({ head, response }: Received, life: RequestLife): Promise<Attempt> {
  life.limitToSilence();
  try {
    const body = await openBody(response, (size) => size > 0);
    return { kind: 'stream', head, body, isEvents: true };
  } catch (error) {
    life.limitToRequest();
    throw error;
  }
}

async function receiveDocument({ head, response }: Received): Promise<Attempt> {
  const body = await openBody(response, (size) => size > WHOLE_ANSWER_MAX_BYTES);
  return body.rest === undefined
    ? { kind: 'whole', head, bytes: joined(body.chunks) }
    : { kind: 'stream', head, body, isEvents: false };
}

function sizeOf(headers: HeaderFields): number {
  let size = 0;
  for (const name in headers) size += name.length + (headers[name]?.length ?? 0);
  return size;
}

/** As much of the body as comes in time. */
async function readFailure(response: Response, timers: Timers, life: RequestLife): Promise<BoundedBody> {
  const stop = new AbortController();
  const cancelTimer = timers.after(FAILURE_BODY_TIMEOUT_MS, () => stop.abort());
  try {
    return await readBounded(response, WHOLE_ANSWER_MAX_BYTES, stop.signal);
  } catch (error) {
    if (life.cut !== undefined) throw error;
    return { bytes: new Uint8Array(), isWhole: false };
  } finally {
    cancelTimer();
  }
}

/** The key with which it was asked goes to no client. */
function judgeFailure(head: AnswerHead, { bytes, isWhole }: BoundedBody, { kind, secret: key }: Target): Attempt {
  const status = CLIENT_FAULTS.find((known) => known === head.status);
  const isEncoded = head.headers['content-encoding'] !== undefined;
  const isPassedOn = isEncoded ? key === undefined : parseJson(bytes) !== undefined && !holdsKey(bytes, key);
  if (status !== undefined && isWhole && isPassedOn) {
    return { kind: 'whole', head, bytes };
  }
  // With a status of success it is an answer, of which nothing is told as an error.
  const said = isEncoded || head.status < 300 ? undefined : engineMessage(bytes, key);
  const message = said ?? `The ${kind} answered with status ${head.status}.`;
  const retryAfter = head.headers['retry-after'];
  return status === undefined
    ? { kind: 'failed', status: head.status, message, retryAfter, reason: `status ${head.status}` }
    : { kind: 'client_fault', status, message };
}

function holdsKey(bytes: Uint8Array, key: string | undefined): boolean {
  return key !== undefined && holdsSecret(new TextDecoder().decode(bytes), key);
}

function isEventStream({ headers }: AnswerHead): boolean {
  return headers['content-type']?.toLowerCase().includes('text/event-stream') ?? false;
}

/**
 * An answer that says of itself that it can be read at once. Of one that is also chunked the length says nothing: the
 * runtime goes by the chunks (RFC 9112 §6.3).
 */
function isShortDocument(head: AnswerHead): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = head.headers;
  const isShort = coding === undefined && length !== undefined && Number(length) <= WHOLE_ANSWER_MAX_BYTES;
  return isShort && head.status === 200 && !isEventStream(head) && sizeOf(head.headers) <= HEADERS_MAX;
}
