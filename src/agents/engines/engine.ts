// What the router has to know of an engine's own interface: whether it is up, which models and endpoints it serves, and
// how busy it is.

import type { EndpointPath } from '../../redirect/claims.ts';
import type { Capability } from '../../routing/endpoint.ts';
import type { MetricsSource } from './metrics-source.ts';

export interface EngineAdapter {
  /** Answers 200 to GET when requests can be served. */
  readonly healthPath: string;
  /** Answers GET with the served models. */
  readonly modelsPath: string;
  /** The models of a listing, in its order; undefined when the document is no listing. */
  readonly readModels: (document: unknown) => readonly string[] | undefined;
  /** What the engine can be configured for. */
  readonly capabilities: readonly Capability[];
  /** The endpoints it has, each at the router's own path. An agent gets no request for another one. */
  readonly endpoints: readonly EndpointPath[];
  /** Undefined when the engine tells no figures that the router could use. */
  readonly metrics: MetricsSource | undefined;
}
