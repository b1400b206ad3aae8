// The agents of `serve`: where they come from, who is told of what happens to them, and what watches their engines.

import type { Agent } from '../agents/agent.ts';
import { agentSeries, engineSeries } from '../agents/agent-series.ts';
import type { EngineFetch } from '../agents/engine-fetch.ts';
import type { AgentState } from '../agents/health.ts';
import { startMetricsPolling } from '../agents/metrics-poll.ts';
import { startProbing } from '../agents/probe.ts';
import { AgentRegistry } from '../agents/registry.ts';
import type { Timers } from '../agents/timers.ts';
import type { AgentsConfig } from '../config/read-agents.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import type { Log } from '../telemetry/log.ts';
import type { MetricSources } from '../telemetry/metrics.ts';
import { KEEP_ALIVE_MS, type RegistrationStream } from '../telemetry/registration-stream.ts';

export interface AgentListeners {
  readonly log: Log;
  readonly registrations: RegistrationStream;
  /** An agent turned healthy. */
  readonly onHealthy: () => void;
}

/** The configured agents, all `starting`. */
export function createAgents(config: AgentsConfig, { log, registrations, onHealthy }: AgentListeners): AgentRegistry {
  const agents = new AgentRegistry((agent, from, to, reason) => {
    const fields = { agent_id: agent.setting.id, reason };
    if (from === to) log.info('Agent is not ready yet', fields);
    else log.info('Agent changed state', { agent_id: agent.setting.id, from, to, reason });
    announce(registrations, agent, from, to);
    if (to === 'healthy') onHealthy();
  });
  for (const setting of config.engines) agents.add(setting, 'engine');
  for (const setting of config.fromFile) agents.add(setting, 'file');
  return agents;
}

/** Only what changes whether it is given requests, so that nothing is told twice (routing.md §31.4, G18). */
function announce(
  registrations: RegistrationStream,
  { setting, status }: Agent,
  from: AgentState,
  to: AgentState,
): void {
  if (from === to || (from !== 'healthy' && to !== 'healthy')) return;
  registrations.publish({
    event_type: to === 'healthy' ? 'registered' : 'unregistered',
    deployment_id: setting.deploymentId ?? '',
    replica_id: setting.replicaId ?? '',
    agent_id: setting.id,
    timestamp: formatTimestamp(status.sinceMs),
  });
}

/** What the metrics show of them. */
export function agentSources(agents: AgentRegistry, timers: Timers): Pick<MetricSources, 'agents' | 'engines'> {
  return {
    agents: () => agentSeries(agents.all()),
    engines: () => engineSeries(agents.all(), timers.monotonicMs()),
  };
}

export interface WatchPorts extends Pick<AgentListeners, 'log' | 'registrations'> {
  readonly fetch: EngineFetch;
  readonly timers: Timers;
  readonly isAwaited: () => boolean;
}

/** Probes, scrapes and keeps subscriptions alive, until what it returns is called. */
export function watchEngines(agents: AgentRegistry, { log, registrations, ...ports }: WatchPorts): () => void {
  const stopProbing = startProbing(agents, ports);
  const stopPolling = startMetricsPolling(agents, {
    ...ports,
    onChange: ({ setting }, reason) =>
      reason === undefined
        ? log.info('Engine metrics are there', { agent_id: setting.id })
        : log.info('No engine metrics', { agent_id: setting.id, reason }),
  });
  const stopSigns = ports.timers.every(KEEP_ALIVE_MS, () => registrations.keepAlive());
  return () => {
    stopProbing();
    stopPolling();
    stopSigns();
  };
}
