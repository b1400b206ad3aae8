// One request to one agent: the same bytes out, and what came back as one of a few cases. Whether to try another agent
// is dispatch's to say.

import type { Agent } from '../agents/agent.ts';
import { parseJson, readBounded } from '../agents/engine-body.ts';
import { connectionFault, type EngineFetch } from '../agents/engine-fetch.ts';
import { engineMessage } from './engine-message.ts';
import type { Cut, RequestLife } from './request-life.ts';

/** A complete answer up to this size is read before the client gets its head: it keeps its length and can be retried. */
export const WHOLE_ANSWER_MAX_BYTES = 1_048_576;

/** The client's own mistakes: they go back as they are, since another agent would say the same (E8). */
const CLIENT_FAULTS = [400, 413, 415, 422] as const;

export type ClientFault = (typeof CLIENT_FAULTS)[number];

export interface StreamAnswer {
  readonly kind: 'stream';
  readonly head: Response;
  readonly body: ReadableStream<Uint8Array>;
  /** Server-Sent Events, by the answer's own type, whatever the request asked for (routing.md §14). */
  readonly isEvents: boolean;
}

export interface WholeAnswer {
  readonly kind: 'whole';
  readonly head: Response;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type Attempt =
  /** 200 and a body still to come. */
  | StreamAnswer
  /** An answer for the client, read to its end. */
  | WholeAnswer
  /** The engine found fault with the request, in a body that no SDK can read. */
  | { readonly kind: 'client_fault'; readonly status: ClientFault; readonly message: string }
  /** Nobody listens: the request was not even sent. */
  | { readonly kind: 'refused' }
  /** No usable answer; `status` is undefined when the connection broke. */
  | { readonly kind: 'failed'; readonly status: number | undefined; readonly message: string }
  /** The router ended it. */
  | { readonly kind: 'cut'; readonly cut: Cut };

/** What every attempt sends. */
export interface EngineCall {
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Never rejects. The body of an answer that is not handed on is read or cancelled. */
export async function forward(call: EngineCall, agent: Agent, fetch: EngineFetch, life: RequestLife): Promise<Attempt> {
  try {
    return await receive(await send(call, agent, fetch, life));
  } catch (error) {
    if (life.cut !== undefined) return { kind: 'cut', cut: life.cut };
    if (connectionFault(error) === 'refused') return { kind: 'refused' };
    return { kind: 'failed', status: undefined, message: 'The connection to the engine failed.' };
  }
}

/**
 * A reset before the head is most often an idle connection that the engine closed as the request left, so it is sent
 * once more on a connection of its own (bun.md, fact 6 and rule 15).
 */
async function send(call: EngineCall, agent: Agent, fetch: EngineFetch, life: RequestLife): Promise<Response> {
  const url = agent.setting.backendUrl + call.path;
  const init = { method: 'POST', headers: call.headers, body: call.body, signal: life.signal };
  try {
    return await fetch(url, init);
  } catch (error) {
    if (life.cut === undefined && connectionFault(error) === 'reset' && life.takeResend()) {
      return await fetch(url, { ...init, keepalive: false });
    }
    throw error;
  }
}

async function receive(head: Response): Promise<Attempt> {
  if (head.status !== 200) return receiveFailure(head);
  const isEvents = isEventStream(head);
  if (head.body !== null && (isEvents || !isShort(head))) return { kind: 'stream', head, body: head.body, isEvents };
  return { kind: 'whole', head, bytes: new Uint8Array(await head.arrayBuffer()) };
}

async function receiveFailure(head: Response): Promise<Attempt> {
  const { bytes, isWhole } = await readBounded(head, WHOLE_ANSWER_MAX_BYTES);
  const status = CLIENT_FAULTS.find((known) => known === head.status);
  const isEncoded = head.headers.has('content-encoding');
  if (status !== undefined && isWhole && (isEncoded || parseJson(bytes) !== undefined)) {
    return { kind: 'whole', head, bytes };
  }
  const said = isEncoded ? undefined : engineMessage(bytes);
  const message = said ?? `The engine answered with status ${head.status}.`;
  return status === undefined
    ? { kind: 'failed', status: head.status, message }
    : { kind: 'client_fault', status, message };
}

function isEventStream(head: Response): boolean {
  return head.headers.get('content-type')?.toLowerCase().includes('text/event-stream') ?? false;
}

function isShort(head: Response): boolean {
  const length = head.headers.get('content-length');
  return length !== null && Number(length) <= WHOLE_ANSWER_MAX_BYTES;
}
