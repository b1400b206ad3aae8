// The response for the client, made of an answer to the router: what the router adds to it, and when the request is over.

import type { ErrorCode } from '../errors.ts';
import type { Dialect } from '../routing/endpoint.ts';
import { earlyEnd } from './failure.ts';
import type { AnswerHead, StreamAnswer, WholeAnswer } from './forward.ts';
import { clientHeaders } from './headers.ts';
import { DocumentMeter, EventMeter, type Meter, NO_METER, type Reading } from './meter.ts';
import type { LifeLimits, RequestLife } from './request-life.ts';
import { saidInDocument, saidTokens } from './seen-text.ts';
import { errorEvent } from './sse.ts';
import { type RelayPlan, relay } from './stream.ts';
import type { Target } from './target.ts';
import { useOfDocument } from './usage.ts';

/** What keeps a proxy in between from collecting a stream (E9). */
const STREAM_HEADERS = { 'cache-control': 'no-cache, no-store, no-transform', 'x-accel-buffering': 'no' };

export interface AnswerPorts extends Pick<LifeLimits, 'timers' | 'streamIdleTimeoutMs'> {
  /** The error body of E4 as one line of JSON, for the error event of a broken stream. */
  readonly errorBody: (code: ErrorCode, message: string) => string;
}

export interface AnswerPlan {
  readonly ports: AnswerPorts;
  readonly dialect: Dialect;
  /** Told how many tokens of a streamed answer have passed, estimated, whenever some have. */
  readonly onOutput: (seenTokens: number) => void;
}

/** An answer that is there as a whole, with its length. The request is over. */
export function wholeResponse({ head, bytes, use: told }: WholeAnswer, target: Target, life: RequestLife): Response {
  const headers = clientHeaders(head.headers, target.secret);
  headers['content-length'] = String(bytes.byteLength);
  const use = told?.() ?? (isReadable(head) ? useOfDocument(bytes) : undefined);
  const seenTokens = use === undefined && isReadable(head) ? saidTokens(saidInDocument(bytes), 0) : 0;
  const reading: Reading = { use, lastWord: 'none', seenTokens };
  life.answerWith({ status: head.status, read: () => reading, onEnd: target.onEnd });
  life.noteFirstByte();
  life.end('complete');
  return new Response(bytes, { status: head.status, headers });
}

/**
 * An answer that is passed on as it comes. Events are limited in their silence, and in their length if the operator says
 * so, and can say that they broke; anything else must be complete within the request timeout, and a broken one breaks the
 * connection (E8, E9).
 */
export function streamResponse(answer: StreamAnswer, target: Target, life: RequestLife, plan: AnswerPlan): Response {
  const { head, body, isEvents } = answer;
  const headers = clientHeaders(head.headers, target.secret);
  const meter = meterFor(answer, plan.dialect);
  life.answerWith({ status: head.status, read: () => withUse(meter.read(), answer), onEnd: target.onEnd });
  if (isEvents) {
    life.limitToStream();
    Object.assign(headers, STREAM_HEADERS);
  }
  const relayPlan = isEvents ? eventsPlan(plan, answer, target.kind) : BYTES_PLAN;
  return new Response(relay(body, life, { ...relayPlan, meter, onOutput: plan.onOutput }), {
    status: head.status,
    headers,
  });
}

/** What the provider told counts more than what is left of it for the client. */
function withUse(reading: Reading, { use }: StreamAnswer): Reading {
  return { ...reading, use: use?.() ?? reading.use };
}

function meterFor({ head, isEvents }: StreamAnswer, dialect: Dialect): Meter {
  if (!isReadable(head)) return NO_METER;
  return isEvents ? new EventMeter(dialect) : new DocumentMeter();
}

/** An encoded answer is passed on unread: no engine is asked for one. */
function isReadable({ headers }: AnswerHead): boolean {
  return headers['content-encoding'] === undefined;
}

type EndingPlan = Omit<RelayPlan, 'meter' | 'onOutput'>;

const BYTES_PLAN: EndingPlan = { errorEvent: undefined, idle: undefined };

/** Plain text can follow only plain text: nothing can be appended to an encoded stream. */
function eventsPlan(plan: AnswerPlan, { head, failure }: StreamAnswer, target: Target['kind']): EndingPlan {
  const { dialect, ports } = plan;
  const { errorBody, timers, streamIdleTimeoutMs } = ports;
  const sayError: EndingPlan['errorEvent'] = (cut, tail) => {
    const { code, message } = (cut === undefined ? failure?.() : undefined) ?? earlyEnd(cut, target);
    return errorEvent(dialect, errorBody(code, message), tail);
  };
  return {
    errorEvent: isReadable(head) ? sayError : undefined,
    idle: { timers, timeoutMs: streamIdleTimeoutMs },
  };
}
