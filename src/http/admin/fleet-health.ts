// `/admin/health`: whether this site can serve anything, and which of its agents can (api.md, 17).

import type { Handler } from 'hono';
import type { Agent } from '../../agents/agent.ts';
import { unixSeconds } from '../../lib/timestamp.ts';
import { jsonResponse } from '../respond.ts';
import type { RouterEnv, RouterPorts } from '../router-ports.ts';

/** `GET`: always 200; `degraded` while no agent is healthy. */
export function readFleetHealth(ports: RouterPorts): Handler<RouterEnv> {
  return () => {
    const agents = ports.agents.all();
    const healthy = agents.filter(isHealthy).length;
    return jsonResponse(200, {
      status: healthy > 0 ? 'healthy' : 'degraded',
      timestamp: unixSeconds(ports.nowMs()),
      total_agents: agents.length,
      healthy_agents: healthy,
      queue_length: ports.queueDepths().reduce((length, { depth }) => length + depth, 0),
      agents: agents.map((agent) => formatAgent(ports, agent)),
    });
  };
}

function isHealthy({ state }: Agent): boolean {
  return state === 'healthy';
}

function formatAgent({ version }: RouterPorts, agent: Agent): object {
  const { id, engine, capacity, region } = agent.setting;
  const [model] = agent.models;
  const { state, reason } = agent.status;
  return {
    peer_id: id,
    model,
    engine,
    // Of the software in front of the engine, which is the router.
    version,
    capacity,
    region,
    is_healthy: isHealthy(agent),
    state,
    reason,
    last_seen: unixSeconds(agent.lastSeenMs),
  };
}
