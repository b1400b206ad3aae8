// One agent, alone, and all that it tells.

import { Agent } from '../../src/agents/agent.ts';
import type { AgentSetting } from '../../src/agents/agent-setting.ts';
import { fault, ok } from '../../src/lib/result.ts';

export const SETTING: AgentSetting = {
  id: 'vllm-h-1',
  engine: 'vllm',
  capability: 'llm',
  backendUrl: 'http://h:1',
  models: [],
  capacity: 2,
};

export const GOOD = ok(['m']);
export const BAD = fault('GET /health: status 503');

/** An agent and the changes of state it reported. */
export function newAgent(setting: Partial<AgentSetting> = {}) {
  const changes: string[] = [];
  const vacancies: string[] = [];
  const agent = new Agent(
    { ...SETTING, ...setting },
    {
      onStateChange: (of, from, to, reason) => changes.push(`${of.setting.id}: ${from} → ${to} (${reason})`),
      onVacancy: (of) => vacancies.push(`${of.setting.id}: ${of.active} of ${of.setting.capacity}`),
    },
  );
  return { agent, changes, vacancies };
}

export function healthyAgent() {
  const { agent, changes } = newAgent();
  agent.reportProbe(GOOD);
  changes.length = 0;
  return { agent, changes };
}
