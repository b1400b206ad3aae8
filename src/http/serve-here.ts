// A request that stays: handed to an agent or, at last, to a provider, and its outcome written into the record once,
// whenever that is.

import { UNKNOWN } from '../agents/agent-series.ts';
import type { DispatchRequest, HeldSeat } from '../dispatch/dispatch.ts';
import { earlyEnd } from '../dispatch/failure.ts';
import type { Answerer, DispatchOutcome } from '../dispatch/outcome.ts';
import { RouterError } from '../errors.ts';
import type { Charge } from '../quota/charge.ts';
import type { Connection } from '../runtime/runtime.ts';
import type { RequestRecord } from '../telemetry/request-record.ts';
import { type Dues, takeDues } from './dues.ts';
import type { Arrival } from './entrance.ts';
import type { HeldRoom } from './held-room.ts';
import type { Asked } from './inference.ts';
import { endRecord } from './record-request.ts';
import { errorBody, jsonResponse, wireCodeOf } from './respond.ts';
import type { RouterPorts } from './router-ports.ts';

/** A request that is served here, and what it is charged to. */
export interface ChargedRequest extends Asked {
  readonly charge: Charge;
}

/** The client's side while its request is served. */
export interface Client {
  readonly connection: Connection;
  /** Aborted when the client leaves. */
  readonly gone: AbortSignal;
  /** The slot that its request was held for. */
  readonly held?: HeldSeat | undefined;
  /** What it has waited for beside that, where its model has gates. */
  readonly room?: HeldRoom | undefined;
  /** Whether its request may go another way when there is none to an agent. */
  readonly mayDecideAgain?: boolean;
}

/**
 * The answer, or a RouterError that says why there is none. `unreached`: only where the client has it so, when no agent
 * has had the request, and none of its model is healthy any more.
 */
export async function serveHere(
  ports: RouterPorts,
  arrival: Arrival,
  asked: ChargedRequest,
  client: Client,
): Promise<Response | 'unreached'> {
  const { record, endpoint, headers } = arrival;
  // The body is read: from here on only the router's own limits end a silent request (bun.md, facts 3 and 4).
  client.connection.allowSilence();
  const taking = duesOf(ports, arrival, asked, client);
  const dues = taking instanceof Promise ? await taking : taking;
  let hasEnded = false;
  const onEnd: DispatchRequest['onEnd'] = (end) => {
    hasEnded = true;
    dues.settle(end);
    if (end.cut === 'client_stalled') client.connection.closeSoon();
    else client.connection.endSilence();
    record.status = end.status;
    record.firstByteMs = end.firstByteMs;
    record.isIncomplete = end.outcome === 'complete' && end.reading.lastWord === 'missing';
    if (end.outcome !== 'complete') record.errorCode = wireCodeOf(earlyEnd(end.cut).code);
    if (record.streaming) endRecord(ports, record);
  };
  const outcome = await ports.dispatch({
    endpoint,
    model: asked.model,
    body: asked.forwarded.body,
    modelAt: asked.forwarded.modelAt,
    headers,
    requestId: record.requestId,
    clientGone: client.gone,
    held: client.held,
    mayDecideAgain: () => client.mayDecideAgain === true && !isAwake(ports, endpoint, asked.model),
    onReached: () => dues.noteReached(),
    onHandOver: () => dues.handOver(),
    onOutput: (tokens) => dues.grow(tokens),
    onEnd,
  });
  if (outcome.kind === 'unreached') {
    dues.giveBack();
    return 'unreached';
  }
  if (outcome.by !== undefined) noteAnswerer(record, outcome.by);
  if (outcome.kind !== 'answered') {
    client.connection.endSilence();
    dues.settleUnanswered({ isClientGone: outcome.kind === 'failed' && outcome.code === 'client_gone' });
    return withHold(record, refusal(outcome));
  }
  record.streaming = !hasEnded;
  // An answer behind a URL that holds a token belongs into no cache (D-51).
  const { headers: answerHeaders } = outcome.response;
  if (asked.admitted.claims !== undefined && !answerHeaders.has('cache-control')) {
    answerHeaders.set('cache-control', 'no-store');
  }
  return withHold(record, outcome.response);
}

/** Says how long it was held, if it was. */
function withHold({ holdMs }: RequestRecord, response: Response): Response {
  if (holdMs !== undefined) response.headers.append('server-timing', `hold;dur=${Math.round(holdMs)}`);
  return response;
}

function isAwake({ agents }: RouterPorts, { capability }: Arrival['endpoint'], model: string): boolean {
  return agents.presence(model, capability) === 'healthy';
}

/** Waiting for room is silent, too. Without room the slot that the request was held for goes to the next. */
function duesOf(ports: RouterPorts, arrival: Arrival, asked: ChargedRequest, client: Client): Dues | Promise<Dues> {
  const giveUp = (error: unknown): never => {
    client.room?.giveBack();
    client.held?.seat.release();
    client.connection.endSilence();
    throw error;
  };
  try {
    const taking = takeDues(ports, arrival, asked, client);
    return taking instanceof Promise ? taking.catch(giveUp) : taking;
  } catch (error) {
    return giveUp(error);
  }
}

/** As the Go router writes them (routing.md §20, §25). */
function noteAnswerer(record: RequestRecord, by: Answerer): void {
  const setting: Noted = typeof by === 'string' ? { id: `provider:${by}`, engine: by, region: CLOUD } : by.setting;
  const { id, engine, region = UNKNOWN, deploymentId = '' } = setting;
  record.agentId = id;
  record.deploymentId = deploymentId;
  if (record.routing !== undefined) record.routing = { ...record.routing, engine, region };
}

/** What of an answerer goes into record and metrics. */
interface Noted {
  readonly id: string;
  readonly engine: string;
  readonly region?: string | undefined;
  readonly deploymentId?: string | undefined;
}

/** Where providers are, as metrics have it. */
const CLOUD = 'cloud';

/** An engine's or a provider's finding in the router's body, or the error that ended the tries. */
function refusal(outcome: Exclude<DispatchOutcome, { kind: 'answered' | 'unreached' }>): Response {
  if (outcome.kind === 'failed') {
    throw new RouterError(outcome.code, outcome.message, { retryAfterS: outcome.retryAfterS });
  }
  const wire = { type: 'invalid_request_error', code: 'request_invalid', source: 'backend' } as const;
  return jsonResponse(outcome.status, errorBody(wire, outcome.message));
}
