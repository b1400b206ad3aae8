// `/admin/routing-table`: all that the router knows of each agent and chooses by (api.md, 17; routing.md §22).

import type { Handler } from 'hono';
import type { Agent } from '../../agents/agent.ts';
import { standingOf } from '../../agents/standing.ts';
import { jsonResponse } from '../respond.ts';
import type { RouterEnv, RouterPorts } from '../router-ports.ts';
import { formatStatus } from './agent-status.ts';

export function readRoutingTable(ports: RouterPorts): Handler<RouterEnv> {
  return () => {
    const nowMs = ports.monotonicMs();
    const agents = ports.agents.all().map((agent) => ({
      peer_id: agent.setting.id,
      metadata: metadataOf(agent),
      status: statusOf(agent, nowMs),
      universal: countersOf(agent),
      engine: engineOf(agent, nowMs),
    }));
    return jsonResponse(200, { total: agents.length, agents });
  };
}

/** What was not said is left out. */
function metadataOf({ setting, models }: Agent): object {
  return {
    model: models[0] ?? '',
    models,
    engine: setting.engine,
    capacity: setting.capacity,
    region: setting.region,
    organization: setting.organization,
    machine: setting.machine,
    tags: setting.tags,
    hide_llm: setting.isHidden,
    llm_pretty_name: setting.prettyName,
    llm_info: setting.info,
    capability: setting.capability,
    gpu_model: setting.gpuModel,
    deployment_id: setting.deploymentId,
    replica_id: setting.replicaId,
  };
}

function statusOf(agent: Agent, nowMs: number): object {
  const isHealthy = agent.state === 'healthy';
  return {
    healthy: isHealthy,
    // A configured agent has no process of its own that could be well while its engine is not.
    backend_healthy: isHealthy,
    ...formatStatus(agent),
    standing: standingOf(agent, nowMs),
    active_requests: agent.active,
    capacity_utilization: agent.load,
  };
}

function countersOf({ record }: Agent): object {
  const { losses, srttMs } = record;
  return {
    successful_requests_total: record.successes,
    failed_requests_total: record.failures,
    success_rate: record.successRate ?? 0,
    consecutive_failures: record.consecutiveFailures,
    input_tokens_total: record.inputTokens,
    output_tokens_total: record.outputTokens,
    // No agent of ours rejects requests; the field stays for those who read it.
    rejected_requests_total: 0,
    disconnections_total: losses.refused,
    agent_failures_total: record.timesLost,
    backend_failures_total: losses.probes,
    srtt_ms: srttMs,
    rttvar_ms: record.rttvarMs,
    latency_state: srttMs === undefined ? 'UNKNOWN' : 'KNOWN',
  };
}

/** Undefined, and so left out, without fresh figures. */
function engineOf(agent: Agent, nowMs: number): object | undefined {
  const figures = agent.shownMetrics(nowMs);
  if (figures === undefined) return undefined;
  return {
    kv_cache_utilization: figures.kvCacheUse,
    running_requests: figures.runningRequests,
    waiting_requests: figures.waitingRequests,
    preemptions_total: figures.preemptionsTotal,
    avg_ttft_seconds: seconds(figures.ttftMs),
    p90_ttft_seconds: seconds(figures.ttftP90Ms),
    avg_itl_seconds: seconds(figures.itlMs),
    p90_itl_seconds: seconds(figures.itlP90Ms),
  };
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
