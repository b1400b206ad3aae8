// Brings one request to an agent and the answer back: picks, tries, tries elsewhere. Everything before the first byte
// can be repeated, nothing after it (E8).

import type { Agent } from '../agents/agent.ts';
import type { EngineFetch } from '../agents/engine-fetch.ts';
import { ENGINES } from '../agents/engines/engines.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import type { ErrorCode } from '../errors.ts';
import type { Endpoint } from '../routing/endpoint.ts';
import { type AnswerPlan, type AnswerPorts, streamResponse, wholeResponse } from './answer.ts';
import { earlyEnd, type Failure, noneServes, noneTried, triesFailed } from './failure.ts';
import { type Attempt, type ClientFault, forward } from './forward.ts';
import { engineHeaders } from './headers.ts';
import { type LifeLimits, type RequestEnd, RequestLife } from './request-life.ts';

/** Engines that may be asked for one request; an agent that refuses the connection costs none (E8). */
const TRIES_MAX = 3;

export interface DispatchRequest {
  readonly endpoint: Endpoint;
  readonly model: string;
  /** Sent byte for byte (E6). */
  readonly body: Uint8Array<ArrayBuffer>;
  /** As the client sent them: what no engine may see is taken out here (E6). */
  readonly headers: Headers;
  /** The effective request ID, for the engine's log. */
  readonly requestId: string;
  /** Aborted when the client leaves: the engine's work ends at once, and the agent is not blamed. */
  readonly clientGone: AbortSignal;
  /**
   * Called exactly once for an `answered` request, when its last byte has been handed over or it was cut: before
   * `dispatch` resolves for a short answer, later for a stream. Never for the other outcomes.
   */
  readonly onEnd: (end: RequestEnd) => void;
}

export interface DispatchPorts extends LifeLimits, AnswerPorts {
  readonly registry: AgentRegistry;
  readonly fetch: EngineFetch;
  /** Told why an engine's answer could not be used, in the router's own words: for the operator, not for the client. */
  readonly onFailedTry: (agent: Agent, requestId: string, reason: string) => void;
}

/** `agent` is the one that answered, or the last one asked. */
export type DispatchOutcome =
  /** An engine's answer: 200, or its finding against the request in JSON. */
  | { readonly kind: 'answered'; readonly response: Response; readonly agent: Agent }
  /** An engine's finding against the request that is not JSON: to be sent with this status in the body of E4. */
  | {
      readonly kind: 'client_fault';
      readonly status: ClientFault;
      readonly message: string;
      readonly agent: Agent;
    }
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode;
      readonly message: string;
      readonly agent: Agent | undefined;
    };

/** The answer of the least loaded agent that gives one, in at most {@link TRIES_MAX} tries. Never rejects. */
export async function dispatch(request: DispatchRequest, ports: DispatchPorts): Promise<DispatchOutcome> {
  const life = new RequestLife(request, ports);
  const outcome = await tryAgents(request, ports, life);
  if (outcome.kind !== 'answered') life.end('broken');
  return outcome;
}

async function tryAgents(request: DispatchRequest, ports: DispatchPorts, life: RequestLife): Promise<DispatchOutcome> {
  const { headers, requestId, body, endpoint } = request;
  const call = { path: endpoint.path, headers: engineHeaders(headers, requestId), body };
  const asked: Agent[] = [];
  const failures: Failure[] = [];
  while (failures.length < TRIES_MAX) {
    const seat = takeSeat(agentsLeft(request, ports.registry, asked));
    if (seat === undefined) break;
    const { agent, release } = seat;
    asked.push(agent);
    const attempt = await forward(call, agent, ports.fetch, life);
    if (attempt.kind === 'stream') life.whenOver(release);
    else release();
    if (attempt.kind === 'refused') agent.reportConnectionRefused();
    else if (attempt.kind === 'failed') {
      ports.onFailedTry(agent, requestId, attempt.reason);
      failures.push(triesFailed(attempt.status, attempt.message));
    } else return conclude(attempt, agent, life, { ...ports, dialect: endpoint.dialect });
  }
  return { kind: 'failed', ...(failures.at(-1) ?? whyNone(request, ports.registry, asked)), agent: asked.at(-1) };
}

/** Why no agent could be tried. */
function whyNone(request: DispatchRequest, registry: AgentRegistry, asked: readonly Agent[]): Failure {
  const { model, endpoint } = request;
  const agents = registry.all().filter((agent) => agent.serves(model, endpoint.capability));
  if (agents.length > 0 && !agents.some((agent) => hasEndpoint(agent, endpoint))) {
    return noneServes(model, endpoint.path);
  }
  return noneTried(model, agentsLeft(request, registry, asked).length > 0);
}

/** A request for an endpoint that an engine lacks would only be a failed try. */
function hasEndpoint(agent: Agent, endpoint: Endpoint): boolean {
  return ENGINES[agent.setting.engine].endpoints.includes(endpoint.path);
}

/** Agents that may still be asked: a request meets each only once. */
function agentsLeft(request: DispatchRequest, registry: AgentRegistry, asked: readonly Agent[]): readonly Agent[] {
  const { model, endpoint } = request;
  return registry
    .candidates(model, endpoint.capability)
    .filter((agent) => hasEndpoint(agent, endpoint) && !asked.includes(agent));
}

/** A slot on the first agent that has one, and what gives it back. */
function takeSeat(agents: readonly Agent[]): { readonly agent: Agent; readonly release: () => void } | undefined {
  for (const agent of agents) {
    const release = agent.take();
    if (release !== undefined) return { agent, release };
  }
  return undefined;
}

type Conclusion = Exclude<Attempt, { kind: 'refused' | 'failed' }>;

/** The outcome of an attempt after which no other agent is asked. */
function conclude(attempt: Conclusion, agent: Agent, life: RequestLife, plan: AnswerPlan): DispatchOutcome {
  switch (attempt.kind) {
    case 'stream':
      return { kind: 'answered', response: streamResponse(attempt, agent, life, plan), agent };
    case 'whole':
      return { kind: 'answered', response: wholeResponse(attempt, agent, life), agent };
    case 'client_fault':
      return { ...attempt, agent };
    case 'cut':
      return { kind: 'failed', ...earlyEnd(attempt.cut), agent };
  }
}
