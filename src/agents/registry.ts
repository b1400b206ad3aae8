// All agents of this site, and who serves a model. Nothing outside knows how an agent came in.

import type { Capability } from '../routing/endpoint.ts';
import { Agent, type OnStateChange, SYSTEM_CLOCKS } from './agent.ts';
import type { AgentSetting } from './agent-setting.ts';
import type { AgentClocks } from './health.ts';

/** Agents of one registry, from all origins. */
export const AGENTS_MAX = 1_000;

/** One line of the model listing: the agents behind a name. */
export interface ServedModel {
  readonly id: string;
  /** Of the first agent that lists it (api.md §12). */
  readonly capability: Capability;
  readonly agents: readonly Agent[];
}

/** Who brought an agent in, and alone may change it: an `--engine`, the agents file, or a push. */
export type AgentOrigin = 'engine' | 'file' | 'push';

interface Entry {
  readonly agent: Agent;
  readonly origin: AgentOrigin;
}

export class AgentRegistry {
  readonly #entries = new Map<string, Entry>();
  readonly #onStateChange: OnStateChange;
  readonly #clocks: AgentClocks;
  #onAdded: ((agent: Agent) => void) | undefined;
  readonly #vacancyListeners = new Set<(agent: Agent) => void>();

  constructor(onStateChange: OnStateChange, clocks: AgentClocks = SYSTEM_CLOCKS) {
    this.#onStateChange = onStateChange;
    this.#clocks = clocks;
  }

  /**
   * Calls `listener` whenever an agent may be able to take a request that it could not take before: at least as often
   * as that is so. Returns what ends it.
   */
  onVacancy(listener: (agent: Agent) => void): () => void {
    this.#vacancyListeners.add(listener);
    return () => void this.#vacancyListeners.delete(listener);
  }

  /** Calls `listener` with every agent there is, and with every one to come before it is given a request. */
  onAdded(listener: (agent: Agent) => void): void {
    this.#onAdded = listener;
    for (const agent of this.all()) listener(agent);
  }

  /** The new agent, `starting`. Throws when the ID is taken: settings are checked before they come here. */
  add(setting: AgentSetting, origin: AgentOrigin = 'engine'): Agent {
    if (this.#entries.has(setting.id)) throw new Error(`Cannot add agent "${setting.id}": the ID is taken`);
    const agent = new Agent(setting, this.#events(), this.#clocks);
    this.#entries.set(setting.id, { agent, origin });
    this.#onAdded?.(agent);
    return agent;
  }

  /**
   * Adds the agent, or changes the one that has its ID: requests under way and its record stay. Whoever calls has asked
   * `ownerOf` whether the ID is its own or free.
   */
  put(setting: AgentSetting, origin: AgentOrigin): Agent {
    const agent = this.#entries.get(setting.id)?.agent;
    if (agent === undefined) return this.add(setting, origin);
    this.#entries.set(setting.id, { agent, origin });
    agent.reconfigure(setting);
    return agent;
  }

  /** Whose the ID is; undefined when it is free, or its agent is leaving. */
  ownerOf(id: string): AgentOrigin | undefined {
    const entry = this.#entries.get(id);
    return entry === undefined || entry.agent.isLeaving ? undefined : entry.origin;
  }

  /** Undefined for an unknown ID, and for an agent that is gone. */
  get(id: string): Agent | undefined {
    return this.#entries.get(id)?.agent;
  }

  /** How the agent came in. */
  originOf({ setting }: Agent): AgentOrigin {
    return this.#entries.get(setting.id)?.origin ?? 'engine';
  }

  all(): readonly Agent[] {
    return [...this.#entries.values()].map(({ agent }) => agent);
  }

  /** Whether a healthy agent serves the model, all that do are down, starting or draining (D-03), or none does. */
  presence(model: string, capability: Capability): 'healthy' | 'unhealthy' | 'none' {
    let isServed = false;
    for (const { agent } of this.#entries.values()) {
      if (!agent.serves(model, capability)) continue;
      if (agent.state === 'healthy') return 'healthy';
      isServed = true;
    }
    return isServed ? 'unhealthy' : 'none';
  }

  /** All agents of the model with the capability, healthy or not. */
  serving(model: string, capability: Capability): readonly Agent[] {
    const agents: Agent[] = [];
    for (const { agent } of this.#entries.values()) {
      if (agent.serves(model, capability)) agents.push(agent);
    }
    return agents;
  }

  /** Every model that any agent lists, healthy or not, in the order of the agents. */
  models(): readonly ServedModel[] {
    const models = new Map<string, { id: string; capability: Capability; agents: Agent[] }>();
    for (const agent of this.all()) {
      for (const id of agent.models) {
        const model = models.get(id);
        if (model === undefined) models.set(id, { id, capability: agent.setting.capability, agents: [agent] });
        else model.agents.push(agent);
      }
    }
    return [...models.values()];
  }

  #events() {
    const onStateChange: OnStateChange = (agent, from, to, reason) => {
      if (to === 'gone') this.#entries.delete(agent.setting.id);
      this.#onStateChange(agent, from, to, reason);
    };
    const onVacancy = (agent: Agent): void => {
      for (const listener of this.#vacancyListeners) listener(agent);
    };
    return { onStateChange, onVacancy };
  }
}
