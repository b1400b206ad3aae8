// Brings one request to an agent and the answer back: picks, tries, tries elsewhere, and at last asks the provider of the
// policy. Everything before the first byte can be repeated, nothing after it (E8).

import type { Agent } from '../agents/agent.ts';
import type { ByteSpan } from '../lib/json-members.ts';
import { describeFindings, exhaustionCode } from '../policy/exhaustion.ts';
import type { Endpoint } from '../routing/endpoint.ts';
import { AgentChoice, type ChoicePorts } from './agent-choice.ts';
import { noneServes, noneTried, triesFailed, waitEnded } from './failure.ts';
import { type Attempt, type EngineCall, forward, type LostAttempt } from './forward.ts';
import { engineHeaders } from './headers.ts';
import { askLastResort, type LastResortPorts } from './last-resort.ts';
import { conclude, type DispatchOutcome } from './outcome.ts';
import type { Seat, SeatQueue } from './queue.ts';
import { type LifeLimits, type RequestEnd, RequestLife } from './request-life.ts';
import { engineTarget, type Target } from './target.ts';
import { trackAttempt } from './track.ts';

export interface DispatchRequest {
  readonly endpoint: Endpoint;
  readonly model: string;
  /** Sent byte for byte (E6). */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Where the model stands in it: a provider has another name for it. */
  readonly modelAt: ByteSpan;
  /** As the client sent them: what no engine may see is taken out here (E6). */
  readonly headers: Headers;
  /** The effective request ID, for the engine's log. */
  readonly requestId: string;
  /** Aborted when the client leaves: the engine's work ends at once, and the agent is not blamed. */
  readonly clientGone: AbortSignal;
  /** Of a request that was held: what it has waited for. */
  readonly held?: HeldSeat | undefined;
  /**
   * Asked when no agent is left and none has had the request, before its provider is: true ends it as `unreached`. By
   * default it is not decided again.
   */
  readonly mayDecideAgain?: () => boolean;
  /**
   * Called when an agent has been sent the request, by each: a refused connection sent nothing. Also for a provider that has
   * answered, or was answering when the request was cut.
   */
  readonly onReached: () => void;
  /** Called before a provider is asked: no agent works for the request any more. */
  readonly onHandOver: () => void;
  /** Called again and again while a streamed answer passes, with the tokens of output so far, estimated. */
  readonly onOutput: (seenTokens: number) => void;
  /**
   * Called exactly once for an `answered` request, when its last byte has been handed over or it was cut: before
   * `dispatch` resolves for a short answer, later for a stream. Never for the other outcomes.
   */
  readonly onEnd: (end: RequestEnd) => void;
}

/** A slot that is taken already, and the choice that took it. */
export interface HeldSeat {
  readonly choice: AgentChoice;
  readonly seat: Seat;
}

export interface DispatchPorts extends LifeLimits, LastResortPorts, ChoicePorts {
  /** One for all requests of the registry. */
  readonly queue: SeatQueue;
  /** Told once when an agent's answer is used; `isFallback`: a step of the fallback chain chose the agent. */
  readonly onRouted: (model: string, isFallback: boolean) => void;
  /** Told once when no step has an agent any more; `findings` is what each lacked, of bounded length. */
  readonly onNoAgent: (model: string, requestId: string, findings: string) => void;
}

/** The answer of the first agent in the order of the model's policy that gives one, or of its provider. Never rejects. */
export function dispatch(request: DispatchRequest, ports: DispatchPorts): Promise<DispatchOutcome> {
  return tryAgents(request, ports, new RequestLife(request, ports));
}

/**
 * A step asks each agent once; an answer that cannot be used costs one of its tries, and a refused connection none (E8).
 * It ends, for every turn but the last takes an agent from a step.
 */
async function tryAgents(request: DispatchRequest, ports: DispatchPorts, life: RequestLife): Promise<DispatchOutcome> {
  const { headers, requestId, body, endpoint } = request;
  const choice = request.held?.choice ?? new AgentChoice(request, ports);
  const sentHeaders = engineHeaders(headers, requestId);
  let held = request.held?.seat;
  let isReached = false;
  for (;;) {
    const taken = held ?? ports.queue.take(choice, life.signal);
    const seat = taken instanceof Promise ? await taken : taken;
    held = undefined;
    if (seat === undefined) {
      const isUnreached = !isReached && life.cut === undefined && request.mayDecideAgain?.() === true;
      const outcome = isUnreached ? UNREACHED : await noAgent(request, choice, life, ports);
      if (outcome.kind !== 'answered') life.end('broken');
      return outcome;
    }
    const { agent, release } = seat;
    const target = engineTarget(agent);
    const call = { path: endpoint.path, headers: sentHeaders, body, isAlone: choice.hasRepeated };
    let attempt = await forward(call, target, ports, life);
    if (attempt.kind === 'disconnected' && !choice.hasRepeated) {
      attempt = await repeat(attempt, { call, choice, agent, target }, ports, life);
    }
    // Before its slot is free: nobody else is sent there.
    if (attempt.kind === 'refused') agent.reportConnectionRefused(attempt.reason);
    if (attempt.kind === 'stream') life.whenOver(release);
    else release();
    trackAttempt(agent, attempt, ports);
    if (attempt.kind !== 'refused') {
      isReached = true;
      request.onReached();
    }
    switch (attempt.kind) {
      case 'refused':
        choice.noteFailed(seat, false);
        break;
      case 'failed':
      case 'disconnected':
        ports.onFailedTry(agent, requestId, attempt.reason);
        choice.noteFailed(seat, attempt.isFree !== true, triesFailed(attempt));
        break;
      default:
        if (attempt.kind !== 'cut') ports.onRouted(choice.model, choice.isFallback(seat));
        return conclude(attempt, { by: agent, target }, life, {
          ports,
          dialect: endpoint.dialect,
          onOutput: request.onOutput,
        });
    }
  }
}

const UNREACHED: DispatchOutcome = { kind: 'unreached', by: undefined };

interface Repeat {
  readonly call: EngineCall;
  readonly choice: AgentChoice;
  readonly agent: Agent;
  readonly target: Target;
}

/**
 * What comes of a request whose connection was lost before an answer. It can be a kept one which the engine closed as the
 * request left: once a request, that costs no try, and from then on it goes on connections of its own (G13). Where no
 * other agent has a slot it goes to the same one again, and that attempt alone tells whether the engine has failed.
 */
async function repeat(
  lost: LostAttempt,
  { call, choice, agent, target }: Repeat,
  ports: DispatchPorts,
  life: RequestLife,
): Promise<Attempt> {
  choice.noteRepeat();
  if (choice.freeAgents().some((other) => other !== agent)) return { ...lost, isFree: true };
  const again = await forward({ ...call, isAlone: true }, target, ports, life);
  if (again.kind !== 'refused') return again;
  // The engine went down with the request: it had it, so it did not merely refuse it.
  agent.reportConnectionRefused(again.reason);
  return lost;
}

/** No agent is asked any more: the router has ended the request, or no step of its policy can serve it. */
async function noAgent(
  request: DispatchRequest,
  choice: AgentChoice,
  life: RequestLife,
  ports: DispatchPorts,
): Promise<DispatchOutcome> {
  const { model, lastAsked: by, lastFailure, lastResort, findings } = choice;
  if (life.cut !== undefined) return { kind: 'failed', ...waitEnded(life.cut, model), by };
  if (lastResort === undefined && lastFailure === undefined && choice.hasNoEngine()) {
    return { kind: 'failed', ...noneServes(model, request.endpoint.path), by };
  }
  ports.onNoAgent(model, request.requestId, describeFindings(findings));
  if (lastResort !== undefined) request.onHandOver();
  const answer = lastResort && (await askLastResort(request, lastResort, ports, life));
  if (answer !== undefined) {
    if (answer.kind !== 'failed' || life.cut !== undefined) request.onReached();
    return answer;
  }
  ports.onExhausted(model);
  return { kind: 'failed', ...(lastFailure ?? noneTried(model, exhaustionCode(findings))), by };
}
