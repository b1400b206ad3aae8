// What the router has to know of an engine's own interface to tell whether it is up and which models it serves.

import type { Capability } from '../../routing/endpoint.ts';

export interface EngineAdapter {
  /** Answers 200 to GET when requests can be served. */
  readonly healthPath: string;
  /** Answers GET with the served models. */
  readonly modelsPath: string;
  /** The models of a listing, in its order; undefined when the document is no listing. */
  readonly readModels: (document: unknown) => readonly string[] | undefined;
  /** What the engine can be configured for. */
  readonly capabilities: readonly Capability[];
}
