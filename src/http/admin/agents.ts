// `/admin/agents`: every agent with its state, and those that are pushed in, replaced, drained and taken out. What a
// setting or a file configures can be drained here, and changed only there.

import type { Handler } from 'hono';
import type { Agent } from '../../agents/agent.ts';
import { AGENT_PUSH_MAX_BYTES, parsePushedAgent } from '../../agents/agent-document.ts';
import { formatAgentDocument } from '../../agents/format-agent.ts';
import { AGENTS_MAX, type AgentOrigin } from '../../agents/registry.ts';
import { adminError, jsonResponse } from '../respond.ts';
import type { RouterEnv, RouterPorts } from '../router-ports.ts';
import { readAdminBody } from './admin-body.ts';
import { formatStatus } from './agent-status.ts';

type OneAgent = Handler<RouterEnv, '/admin/agents/:id'>;

const CONFIGURED: Readonly<Record<Exclude<AgentOrigin, 'push'>, string>> = {
  engine: 'it comes from --engine: change the setting and restart, or drain it',
  file: 'it comes from --agents-file: change the file and send SIGHUP, or drain it',
};

/** `GET /`: every agent, whoever brought it in, in their order. */
export function listAgents(ports: RouterPorts): Handler<RouterEnv> {
  return () => {
    const agents = ports.agents.all().map((agent) => formatAgent(ports, agent));
    return jsonResponse(200, { agents, count: agents.length });
  };
}

/** `GET /{id}`: one agent; `setting` can be put again, but its key is write-only. */
export function readAgent(ports: RouterPorts): OneAgent {
  return (c) => {
    const agent = ports.agents.get(c.req.param('id'));
    return agent === undefined ? unknown(c.req.param('id')) : jsonResponse(200, formatAgent(ports, agent));
  };
}

/** `PUT /{id}`: 201 for a new agent, 200 for one that is replaced and serves on; also ends its drain. */
export function pushAgent(ports: RouterPorts): OneAgent {
  return async (c) => {
    const id = c.req.param('id');
    const body = await readAdminBody(ports, c, AGENT_PUSH_MAX_BYTES);
    if (!body.ok) return body.fault;
    const refused = refusalOf(ports, id, 'replace');
    if (refused !== undefined) return refused;
    const parsed = parsePushedAgent(body.value, id);
    if (!parsed.ok) {
      const rule = parsed.fault.join('; ');
      ports.log.warn('Rejected agent', { rule });
      return adminError(400, rule);
    }
    const isNew = ports.agents.get(id) === undefined;
    if (isNew && ports.agents.all().length >= AGENTS_MAX) {
      return adminError(409, `Cannot add agent "${id}": there are ${AGENTS_MAX} already`);
    }
    const agent = ports.agents.put(parsed.value, 'push');
    agent.resume();
    ports.log.info(isNew ? 'Added agent' : 'Replaced agent', { agent_id: id });
    return jsonResponse(isNew ? 201 : 200, formatAgent(ports, agent));
  };
}

/** `DELETE /{id}`: no new work from now on, and gone once nothing runs. Running requests are not cut. */
export function removeAgent(ports: RouterPorts): OneAgent {
  return (c) => {
    const id = c.req.param('id');
    const agent = ports.agents.get(id);
    if (agent === undefined) return unknown(id);
    const refused = refusalOf(ports, id, 'remove');
    if (refused !== undefined) return refused;
    agent.leave();
    ports.log.info('Removed agent', { agent_id: id, active_requests: agent.active });
    return drainedResponse(agent);
  };
}

/** `POST /{id}/drain`: no new work until `DELETE` of the same path, or until it is put again. */
export function drainAgent(ports: RouterPorts): Handler<RouterEnv, '/admin/agents/:id/drain'> {
  return (c) => {
    const agent = ports.agents.get(c.req.param('id'));
    if (agent === undefined) return unknown(c.req.param('id'));
    agent.drain();
    return drainedResponse(agent);
  };
}

/** `DELETE /{id}/drain`: the agent starts again. 409 for one that was removed: that has to be put again. */
export function resumeAgent(ports: RouterPorts): Handler<RouterEnv, '/admin/agents/:id/drain'> {
  return (c) => {
    const id = c.req.param('id');
    const agent = ports.agents.get(id);
    if (agent === undefined) return unknown(id);
    if (agent.isLeaving) return adminError(409, `Cannot resume agent "${id}": it was removed, put it again`);
    agent.resume();
    return jsonResponse(200, formatAgent(ports, agent));
  };
}

function refusalOf(ports: RouterPorts, id: string, what: 'replace' | 'remove'): Response | undefined {
  const owner = ports.agents.ownerOf(id);
  if (owner === undefined || owner === 'push') return undefined;
  return adminError(409, `Cannot ${what} agent "${id}": ${CONFIGURED[owner]}`);
}

const SHOWN_MAX = 128;

function unknown(id: string): Response {
  return adminError(404, `No agent ${JSON.stringify(id.slice(0, SHOWN_MAX))}`);
}

function drainedResponse(agent: Agent): Response {
  return jsonResponse(200, { ok: true, state: agent.state, active_requests: agent.active });
}

function formatAgent({ agents }: RouterPorts, agent: Agent): object {
  const { setting } = agent;
  return {
    id: setting.id,
    origin: agents.originOf(agent),
    ...formatStatus(agent),
    active_requests: agent.active,
    models: agent.models,
    has_api_key: setting.apiKey !== undefined,
    setting: formatAgentDocument(setting),
  };
}
