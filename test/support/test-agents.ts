// Agents of a test, which takes them for healthy or for down without a probe.

import type { AgentSetting } from '../../src/agents/agent-setting.ts';
import type { AgentClocks } from '../../src/agents/health.ts';
import { AgentRegistry } from '../../src/agents/registry.ts';
import { ok } from '../../src/lib/result.ts';

export type TestAgent = Partial<AgentSetting> & {
  readonly models: readonly string[];
  readonly down?: boolean;
};

export function registryOf(settings: readonly TestAgent[], clocks: AgentClocks): AgentRegistry {
  const agents = new AgentRegistry(() => undefined, clocks);
  for (const [index, { models, down, ...setting }] of settings.entries()) {
    const agent = agents.add({
      id: `agent-${index + 1}`,
      engine: 'vllm',
      capability: 'llm',
      backendUrl: `http://10.0.0.${index + 1}:8000`,
      capacity: 10,
      models,
      ...setting,
    });
    agent.reportProbe(ok(models));
    if (down === true) agent.reportConnectionRefused();
  }
  return agents;
}
