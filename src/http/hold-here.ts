// A request whose model is asleep here: it waits, and is then served, sent on, or told why it was not
// (decisions.md, "Hold at zero").

import { callerOfKey, mayUseModel } from '../auth/authenticate.ts';
import { earlyEnd, waitEnded } from '../dispatch/failure.ts';
import { lastResortOf } from '../dispatch/last-resort.ts';
import { RouterError } from '../errors.ts';
import type { HoldEnd, HoldRequest, HoldStart } from '../hold/hold-queue.ts';
import type { HoldOutcome } from '../telemetry/hold-metrics.ts';
import { type Arrival, forbidden } from './entrance.ts';
import { HeldRoom } from './held-room.ts';
import { measurePrompt } from './measure.ts';
import { toRouterError } from './respond.ts';
import type { RouterPorts } from './router-ports.ts';
import { type ChargedRequest, type Client, serveHere } from './serve-here.ts';

/** The client's side of a request that waits, and what may be done with it. */
export interface Waiting extends Client {
  /** Of an earlier hold, after which it found no agent: its time goes on. */
  readonly since: HoldStart | undefined;
  /** As at the door, by the map held now; it throws as that does. */
  readonly decideAgain: () => Response | 'serve' | 'hold';
  /** The request goes to a sibling: it costs nothing here. */
  readonly giveBack: () => void;
}

/** How the hold is counted, and what comes after it: an agent, an answer, or an error. */
interface Sequel {
  readonly outcome: HoldOutcome;
  readonly next: 'serve' | Response | RouterError;
}

/** When to ask again for a model that has not woken: it may be on its way. */
const ASLEEP_RETRY_S = 5;

/**
 * The answer, or a RouterError that says why there is none; or the start of a hold whose agent was gone when the request
 * came to it.
 */
export async function holdHere(
  ports: RouterPorts,
  arrival: Arrival,
  asked: ChargedRequest,
  waiting: Waiting,
): Promise<Response | HoldStart | 'unreached'> {
  const { record } = arrival;
  const { connection, gone, giveBack, since } = waiting;
  // Only the hold's own limits end a request that is silent here (bun.md, facts 3 and 4).
  connection.allowSilence();
  const startedMs = ports.monotonicMs();
  const measured = await measurePrompt(ports, arrival, asked);
  const room = measured && new HeldRoom(ports, arrival, asked, measured);
  const bodyBytes = ports.bodies.budget.setAside(record);
  const end = await wait(ports, arrival, asked, { gone, since, room, bytes: bodyBytes + copiedBytes(asked) });
  if (end.kind !== 'ready') room?.giveBack();
  const heldMs = ports.monotonicMs() - startedMs;
  if (end.kind !== 'full') record.holdMs = (record.holdMs ?? 0) + heldMs;
  const { outcome, next } = sequelOf(end, ports, arrival, { ...waiting, ...asked });
  ports.metrics.hold?.ended(asked.model, outcome, heldMs / 1000);
  if (next === 'serve') {
    ports.bodies.budget.takeBack(record, bodyBytes);
    const { held, start } = end.kind === 'ready' ? end : {};
    const mayDecideAgain = end.kind !== 'timeout';
    const served = await serveHere(ports, arrival, asked, { connection, gone, held, room, mayDecideAgain });
    return served instanceof Response ? served : (start ?? served);
  }
  room?.giveBack();
  if (end.kind === 'ready') end.held?.seat.release();
  connection.endSilence();
  if (!(next instanceof Response)) throw next;
  giveBack();
  return next;
}

function wait(
  { holds }: RouterPorts,
  { endpoint, headers }: Arrival,
  { model, admitted }: ChargedRequest,
  { gone, ...waiting }: Pick<HoldRequest, 'bytes' | 'room' | 'since'> & Pick<Client, 'gone'>,
): Promise<HoldEnd> {
  return holds.hold({ model, endpoint, headers, ...waiting, maxWaitMs: admitted.maxWaitMs, clientGone: gone });
}

/** A body that was written anew, with another model's name, is kept beside the one that came, and not counted there. */
function copiedBytes({ received, forwarded }: ChargedRequest): number {
  return received.encoding !== undefined || forwarded.body === received.bytes ? 0 : forwarded.body.byteLength;
}

/** A key that is disabled or expires while its request waits refuses it where it would go on. */
function sequelOf(end: HoldEnd, ports: RouterPorts, { endpoint }: Arrival, held: ChargedRequest & Waiting): Sequel {
  const { model } = held;
  const revoked = whyRevoked(ports, held);
  switch (end.kind) {
    case 'ready':
      return revoked ?? { outcome: 'served', next: 'serve' };
    case 'unplaced':
      return revoked ?? sequelOfMap(held);
    case 'timeout': {
      const hasLastResort = lastResortOf(ports.policies.planFor(model), endpoint) !== undefined;
      if (hasLastResort) return revoked ?? { outcome: 'timeout', next: 'serve' };
      const isAwake = ports.agents.presence(model, endpoint.capability) === 'healthy';
      const message = isAwake
        ? `The agents of the model "${model}" are busy, and none was free in time: ask again.`
        : `The model "${model}" is asleep, and no agent of it was ready in time: ask again.`;
      const details = { retryAfterS: ASLEEP_RETRY_S };
      return { outcome: 'timeout', next: new RouterError('no_agents_available', message, details) };
    }
    case 'overdue': {
      const { code, message } = waitEnded('request_timeout', model);
      return { outcome: 'timeout', next: new RouterError(code, message) };
    }
    case 'full': {
      const message = `The router holds as many requests as it may for the model "${model}" to wake, or in all.`;
      return { outcome: 'full', next: new RouterError('queue_full', message) };
    }
    case 'client_gone':
    case 'shutdown': {
      const { code, message } = earlyEnd(end.kind);
      return { outcome: end.kind, next: new RouterError(code, message) };
    }
  }
}

function whyRevoked(ports: RouterPorts, { admitted, model }: ChargedRequest): Sequel | undefined {
  const caller = callerOfKey(ports.auth, admitted.caller.keyId, ports.nowMs());
  if (caller === undefined) return { outcome: 'revoked', next: new RouterError('unauthorized', 'unauthorized') };
  return mayUseModel(caller, model) ? undefined : { outcome: 'revoked', next: forbidden(model) };
}

/** By the map held now it is not held again: a sibling has the model, an agent here is there but busy, or nobody has it. */
function sequelOfMap({ decideAgain }: Waiting): Sequel {
  try {
    const answer = decideAgain();
    return answer instanceof Response
      ? { outcome: 'redirected', next: answer }
      : { outcome: 'unplaced', next: 'serve' };
  } catch (error) {
    return { outcome: 'unplaced', next: toRouterError(error) };
  }
}
