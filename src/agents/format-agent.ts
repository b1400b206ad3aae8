// An agent's setting in the words of its document, so that what the admin API shows can be pushed again.

import type { AgentSetting } from './agent-setting.ts';

/** The document that describes the agent and could be pushed for it; the key is write-only. */
export function formatAgentDocument(setting: AgentSetting): object {
  return {
    id: setting.id,
    engine: setting.engine,
    backend_url: setting.backendUrl,
    capability: setting.capability,
    models: setting.models,
    capacity: setting.capacity,
    region: setting.region,
    tags: setting.tags,
    organization: setting.organization,
    machine: setting.machine,
    gpu_model: setting.gpuModel,
    health_path: setting.healthPath,
    llm_pretty_name: setting.prettyName,
    llm_info: setting.info,
    hide_llm: setting.isHidden,
    deployment_id: setting.deploymentId,
    replica_id: setting.replicaId,
  };
}
