// What an operator says of one agent, whichever way it came in: the same words on a command line, in a file and in a
// push (routing.md §3).

import type { Capability } from '../routing/endpoint.ts';

export const ENGINE_NAMES = ['vllm', 'sglang', 'ollama', 'llamacpp', 'infinity', 'custom'] as const;

export type EngineName = (typeof ENGINE_NAMES)[number];

/** Slots of an agent whose capacity is not configured. */
export const DEFAULT_CAPACITY = 10;

/** What is shown of an agent and matched by policies; undefined: not said. None of it changes how it is reached. */
interface AgentMetadata {
  readonly region?: string | undefined;
  readonly organization?: string | undefined;
  readonly machine?: string | undefined;
  readonly gpuModel?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Of its model, for listings. */
  readonly prettyName?: string | undefined;
  readonly info?: string | undefined;
  /** A flag in listings for whoever draws them; it hides and blocks nothing (routing.md §30, 34). */
  readonly isHidden?: boolean | undefined;
  /** The names that an external scheduler knows this replica by. */
  readonly deploymentId?: string | undefined;
  readonly replicaId?: string | undefined;
}

export interface AgentSetting extends AgentMetadata {
  /** Unique in the registry; `ENGINE-host-port` for an `--engine`. */
  readonly id: string;
  readonly engine: EngineName;
  readonly capability: Capability;
  /** `http:` or `https:` URL without trailing slash, query or fragment; the request path is appended. */
  readonly backendUrl: string;
  /** Pinned model names; empty: whatever the engine lists. */
  readonly models: readonly string[];
  /** Requests and streams at a time, at least 1. */
  readonly capacity: number;
  /** Answers 200 to GET when the engine is up; undefined: the engine's own health path. */
  readonly healthPath?: string | undefined;
  /** Shown to the engine as a bearer token. Never in a log, an error, a metric or an answer. */
  readonly apiKey?: string | undefined;
}

/** What makes an agent another one to its engine, its clients or its scheduler. */
const IDENTITY = [
  'engine',
  'capability',
  'backendUrl',
  'healthPath',
  'apiKey',
  'deploymentId',
  'replicaId',
] as const satisfies readonly (keyof AgentSetting)[];

/** Whether what is known of the agent's health holds under the other setting too. */
export function isSameEngine(a: AgentSetting, b: AgentSetting): boolean {
  return IDENTITY.every((field) => a[field] === b[field]) && a.models.join('\n') === b.models.join('\n');
}
