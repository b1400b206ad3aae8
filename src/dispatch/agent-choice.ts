// Which agents one request may still be given to, and why there is none. Apart from dispatch, because the queue asks the
// same again and again while the request waits.

import type { Agent } from '../agents/agent.ts';
import { ENGINES } from '../agents/engines/engines.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import type { Capability, Endpoint } from '../routing/endpoint.ts';
import { type Failure, noneServes, noneTried } from './failure.ts';
import type { Seat, SeatSearch } from './queue.ts';

export class AgentChoice implements SeatSearch {
  readonly model: string;
  readonly #endpoint: Endpoint;
  readonly #registry: AgentRegistry;
  readonly #asked: Agent[] = [];
  #hasRepeated = false;

  constructor(request: { readonly model: string; readonly endpoint: Endpoint }, registry: AgentRegistry) {
    this.model = request.model;
    this.#endpoint = request.endpoint;
    this.#registry = registry;
  }

  get capability(): Capability {
    return this.#endpoint.capability;
  }

  get lastAsked(): Agent | undefined {
    return this.#asked.at(-1);
  }

  /** The request is being given to this agent, and meets it no more. */
  noteAsked(agent: Agent): void {
    if (!this.#asked.includes(agent)) this.#asked.push(agent);
  }

  /** Whether it was repeated for free: not twice, or a request that kills engines would be carried through them all. */
  get hasRepeated(): boolean {
    return this.#hasRepeated;
  }

  noteRepeat(): void {
    this.#hasRepeated = true;
  }

  /** A slot on the first agent that has one. */
  takeSeat(): Seat | undefined {
    for (const agent of this.freeAgents()) {
      const release = agent.take();
      if (release !== undefined) return { agent, release };
    }
    return undefined;
  }

  freeAgents(): readonly Agent[] {
    return this.#agentsLeft().filter(({ active, setting }) => active < setting.capacity);
  }

  hasAgents(): boolean {
    return this.#agentsLeft().length > 0;
  }

  /** Why there is no seat. */
  whyNone(): Failure {
    const { model, capability } = this;
    const agents = this.#registry.all().filter((agent) => agent.serves(model, capability));
    if (agents.length > 0 && !agents.some((agent) => this.#hasEndpoint(agent))) {
      return noneServes(model, this.#endpoint.path);
    }
    return noneTried(model, this.hasAgents());
  }

  #agentsLeft(): readonly Agent[] {
    return this.#registry
      .candidates(this.model, this.capability)
      .filter((agent) => this.#hasEndpoint(agent) && !this.#asked.includes(agent));
  }

  /** A request for an endpoint that an engine lacks would only be a failed try. */
  #hasEndpoint(agent: Agent): boolean {
    return ENGINES[agent.setting.engine].endpoints.includes(this.#endpoint.path);
  }
}
