// A request at the gates of its model: what they are told of agents, policy and key, and what a refusal is to the client.

import { type AdmissionRequest, type GateRefusal, type Grant, type PoolView, passGates } from '../admission/gates.ts';
import type { Pressure } from '../admission/pressure-shed.ts';
import type { Agent } from '../agents/agent.ts';
import type { Caller } from '../auth/authenticate.ts';
import { AgentView } from '../dispatch/agent-view.ts';
import { modelLabel } from '../dispatch/model-label.ts';
import { RouterError } from '../errors.ts';
import { METRICS } from '../policy/metric.ts';
import type { Endpoint } from '../routing/endpoint.ts';
import type { Arrival } from './entrance.ts';
import type { Measured } from './measure.ts';
import type { RouterPorts } from './router-ports.ts';
import type { ChargedRequest } from './serve-here.ts';

/** What it holds once it is in. Throws 400, 429, or what became of a client or a router that ended while it waited. */
export async function enterGates(
  ports: RouterPorts,
  { endpoint }: Arrival,
  { admitted, model }: Pick<ChargedRequest, 'admitted' | 'model'>,
  entering: Measured & Pick<AdmissionRequest, 'clientGone' | 'room'>,
): Promise<Grant> {
  const request = { model, ...entering, key: capsOf(admitted.caller) };
  const entered = await passGates(request, () => viewOf(ports, endpoint, model), ports.gates);
  if (entered.ok) return entered.value;
  if (entered.fault === 'client_gone') throw new RouterError('client_gone', 'The client left before the answer.');
  if (entered.fault === 'closed') throw new RouterError('shutting_down', 'The router is shutting down.');
  throw refuse(ports, model, entered.fault);
}

/** Healthy agents of the model that can do what the endpoint asks for (A9). */
export function healthyAgents(
  { agents }: Pick<RouterPorts, 'agents'>,
  endpoint: Endpoint,
  model: string,
): readonly Agent[] {
  return agents.serving(model, endpoint.capability).filter((agent) => {
    const { isHealthy, isCapable } = new AgentView(agent, endpoint, 0);
    return isHealthy && isCapable;
  });
}

function refuse({ metrics, agents, policies }: RouterPorts, model: string, refusal: GateRefusal): RouterError {
  metrics.limits.refused(refusal.gate, modelLabel(model, agents, policies));
  const { code, message, retryAfterS, isFutile } = refusal;
  return new RouterError(code, message, { retryAfterS, isPermanent: code !== 'input_too_long' && isFutile });
}

/** What the gates are told of the model now. */
export function viewOf(ports: RouterPorts, endpoint: Endpoint, model: string): PoolView {
  const nowMs = ports.gates.monotonicMs();
  const agents = healthyAgents(ports, endpoint, model).map((agent) => pressureOf(agent, endpoint, nowMs));
  return { policy: ports.policies.policyFor(model), agents };
}

function pressureOf(agent: Agent, endpoint: Endpoint, nowMs: number): Pressure {
  const view = new AgentView(agent, endpoint, nowMs);
  return {
    kvCacheUse: METRICS.kv_cache_utilization.read(view, nowMs),
    waitingRequests: METRICS.waiting_requests.read(view, nowMs),
  };
}

/** What they are told of the key. */
export function capsOf({ keyId, quota, maxOccupancyShare = 0 }: Caller): AdmissionRequest['key'] {
  return {
    keyId,
    inputTokensPerMinute: quota?.inputTokensPerMinute ?? 0,
    outputTokensPerMinute: quota?.outputTokensPerMinute ?? 0,
    occupancyShare: maxOccupancyShare,
  };
}
