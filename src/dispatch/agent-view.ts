// An agent as a policy sees it at one moment and for one endpoint. It copies nothing: figures are read only where the
// policy asks for them.

import type { Agent } from '../agents/agent.ts';
import { ENGINES } from '../agents/engines/engines.ts';
import { standingOf } from '../agents/standing.ts';
import type { PolicyAgent, Standing } from '../policy/policy-agent.ts';
import type { Endpoint } from '../routing/endpoint.ts';

const NO_TAGS: readonly string[] = [];

export class AgentView implements PolicyAgent {
  readonly agent: Agent;
  readonly #endpoint: Endpoint;
  readonly #nowMs: number;

  /** The agent has the endpoint's capability; `nowMs` is monotonic. */
  constructor(agent: Agent, endpoint: Endpoint, nowMs: number) {
    this.agent = agent;
    this.#endpoint = endpoint;
    this.#nowMs = nowMs;
  }

  get id(): string {
    return this.agent.setting.id;
  }

  get engine(): string {
    return this.agent.setting.engine;
  }

  get region(): string | undefined {
    return this.agent.setting.region;
  }

  get organization(): string | undefined {
    return this.agent.setting.organization;
  }

  get machine(): string | undefined {
    return this.agent.setting.machine;
  }

  get gpuModel(): string | undefined {
    return this.agent.setting.gpuModel;
  }

  get tags(): readonly string[] {
    return this.agent.setting.tags ?? NO_TAGS;
  }

  get isHealthy(): boolean {
    return this.agent.state === 'healthy';
  }

  /** A request for an endpoint that an engine lacks would only be a failed try. */
  get isCapable(): boolean {
    return ENGINES[this.agent.setting.engine].endpoints.includes(this.#endpoint.path);
  }

  get active(): number {
    return this.agent.active;
  }

  get capacity(): number {
    return this.agent.setting.capacity;
  }

  get lastTaken(): number {
    return this.agent.lastTaken;
  }

  get standing(): Standing {
    return standingOf(this.agent, this.#nowMs);
  }

  get record(): Agent['record'] {
    return this.agent.record;
  }

  get engineMetrics(): Agent['metrics'] {
    return this.agent.metrics;
  }

  /** Nothing measures an engine's machine from here. */
  get hardware(): undefined {
    return undefined;
  }
}
