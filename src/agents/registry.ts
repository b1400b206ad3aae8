// All agents of this site: who serves a model, and whose turn it is. Nothing outside knows how an agent came in.

import type { Capability } from '../routing/endpoint.ts';
import { Agent, type AgentSetting, type OnStateChange } from './agent.ts';

/** One line of the model listing: the agents behind a name. */
export interface ServedModel {
  readonly id: string;
  /** Of the first agent that lists it (api.md §12). */
  readonly capability: Capability;
  readonly agents: readonly Agent[];
}

export class AgentRegistry {
  readonly #agents = new Map<string, Agent>();
  readonly #onStateChange: OnStateChange;
  readonly #vacancyListeners = new Set<(agent: Agent) => void>();

  constructor(onStateChange: OnStateChange) {
    this.#onStateChange = onStateChange;
  }

  /**
   * Calls `listener` whenever an agent may be able to take a request that it could not take before: at least as often
   * as that is so. Returns what ends it.
   */
  onVacancy(listener: (agent: Agent) => void): () => void {
    this.#vacancyListeners.add(listener);
    return () => void this.#vacancyListeners.delete(listener);
  }

  /** The new agent, `starting`. Throws when the ID is taken: settings are checked before they come here. */
  add(setting: AgentSetting): Agent {
    if (this.#agents.has(setting.id)) throw new Error(`Cannot add agent "${setting.id}": the ID is taken`);
    const agent = new Agent(setting, {
      onStateChange: this.#onStateChange,
      onVacancy: (vacant) => {
        for (const listener of this.#vacancyListeners) listener(vacant);
      },
    });
    this.#agents.set(setting.id, agent);
    return agent;
  }

  all(): readonly Agent[] {
    return [...this.#agents.values()];
  }

  /** Whether a healthy agent serves the model, all that do are down or starting, or none does. */
  presence(model: string, capability: Capability): 'healthy' | 'unhealthy' | 'none' {
    const agents = this.#serving(model, capability);
    if (agents.some((agent) => agent.state === 'healthy')) return 'healthy';
    return agents.length > 0 ? 'unhealthy' : 'none';
  }

  /**
   * Healthy agents for the model, least loaded first; full ones come last. Of equally loaded ones the first is the one
   * whose last turn is longest ago, so that light traffic reaches them all (E7).
   */
  candidates(model: string, capability: Capability): readonly Agent[] {
    return this.#serving(model, capability)
      .filter((agent) => agent.state === 'healthy')
      .sort((a, b) => a.load - b.load || a.lastTaken - b.lastTaken);
  }

  /** Every model that any agent lists, healthy or not, in the order of the agents. */
  models(): readonly ServedModel[] {
    const models = new Map<string, { id: string; capability: Capability; agents: Agent[] }>();
    for (const agent of this.#agents.values()) {
      for (const id of agent.models) {
        const model = models.get(id);
        if (model === undefined) models.set(id, { id, capability: agent.setting.capability, agents: [agent] });
        else model.agents.push(agent);
      }
    }
    return [...models.values()];
  }

  #serving(model: string, capability: Capability): Agent[] {
    return this.all().filter((agent) => agent.serves(model, capability));
  }
}
