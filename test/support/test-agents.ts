// Agents of a test, which takes them for healthy or for down without a probe.

import { SYSTEM_CLOCKS } from '../../src/agents/agent.ts';
import type { AgentSetting } from '../../src/agents/agent-setting.ts';
import { AgentRegistry } from '../../src/agents/registry.ts';
import { ok } from '../../src/lib/result.ts';

export type TestAgent = Partial<AgentSetting> & {
  readonly models: readonly string[];
  readonly down?: boolean;
};

/** `nowMs`: the clock by which they say since when they are as they are. */
export function registryOf(settings: readonly TestAgent[], nowMs: () => number): AgentRegistry {
  const agents = new AgentRegistry(() => undefined, { ...SYSTEM_CLOCKS, nowMs });
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
