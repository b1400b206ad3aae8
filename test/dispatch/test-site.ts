// A site with some agents and everything that dispatch asks for, on timers that the test moves.

import type { Agent } from '../../src/agents/agent.ts';
import type { AgentSetting } from '../../src/agents/agent-setting.ts';
import { createEngineFetch, type EngineFetch } from '../../src/agents/engine-fetch.ts';
import { AgentRegistry } from '../../src/agents/registry.ts';
import {
  type DispatchOutcome,
  type DispatchPorts,
  type DispatchRequest,
  dispatch,
} from '../../src/dispatch/dispatch.ts';
import { SeatQueue } from '../../src/dispatch/queue.ts';
import type { RequestEnd } from '../../src/dispatch/request-life.ts';
import { ok } from '../../src/lib/result.ts';
import { type PolicySet, PolicyStore } from '../../src/policy/store.ts';
import { ENDPOINTS } from '../../src/routing/endpoint.ts';
import { bunRuntime } from '../../src/runtime/bun.ts';
import { FakeTimers } from '../agents/fake-timers.ts';

export const MODEL = 'm';
export const REQUEST_TIMEOUT_MS = 60_000;
export const STREAM_IDLE_MS = 30_000;

const engineFetch = createEngineFetch(fetch, bunRuntime.engineFetchInit);

export interface TestSite {
  readonly timers: FakeTimers;
  readonly registry: AgentRegistry;
  readonly agents: readonly Agent[];
  readonly ports: DispatchPorts;
  /** Ends of answered requests, in order. */
  readonly ends: RequestEnd[];
  /** The client of all requests: aborting it is leaving. */
  readonly client: AbortController;
  /** Codes of the error bodies that were made for streams. */
  readonly errorCodes: string[];
  /** `AGENT: reason` of every answer that could not be used. */
  readonly failedTries: string[];
  /** Model and seconds of every wait that ended with a slot. */
  readonly waits: (readonly [model: string, seconds: number])[];
  /** `primary` or `fallback` for every answer that was used. */
  readonly routed: string[];
  /** What the steps lacked, for every request that none had an agent for. */
  readonly exhaustions: string[];
  readonly shutdown: AbortController;
  /** Dispatches one chat request; the fields given replace its own. */
  ask(request?: Partial<DispatchRequest>): Promise<DispatchOutcome>;
}

/** Settings of all agents, and of the site. */
interface SiteSettings extends Partial<AgentSetting> {
  readonly fetch?: EngineFetch;
  /** None waits unless this is given. */
  readonly queueDepth?: number;
  /** The built-in policy by default. */
  readonly policies?: PolicySet;
  readonly streamMaxDurationMs?: number;
}

/** A site whose healthy agents front the engines at these URLs. */
export function testSite(
  urls: readonly string[],
  { fetch = engineFetch, queueDepth = 0, policies, streamMaxDurationMs, ...setting }: SiteSettings = {},
): TestSite {
  const timers = new FakeTimers();
  const registry = new AgentRegistry(() => undefined, { nowMs: Date.now, monotonicMs: () => timers.monotonicMs() });
  const agents = urls.map((backendUrl, index) => addAgent(registry, { id: `agent-${index}`, backendUrl, ...setting }));
  const client = new AbortController();
  const shutdown = new AbortController();
  const ends: RequestEnd[] = [];
  const errorCodes: string[] = [];
  const failedTries: string[] = [];
  const waits: (readonly [string, number])[] = [];
  const routed: string[] = [];
  const exhaustions: string[] = [];
  const onWaited = (model: string, seconds: number) => void waits.push([model, seconds]);
  const ports: DispatchPorts = {
    registry,
    queue: new SeatQueue({ registry, timers, depth: queueDepth, onWaited }),
    policies: new PolicyStore(policies),
    timers,
    fetch,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    streamIdleTimeoutMs: STREAM_IDLE_MS,
    streamMaxDurationMs,
    shutdown: shutdown.signal,
    onFailedTry: (agent, _requestId, reason) => void failedTries.push(`${agent.setting.id}: ${reason}`),
    onRouted: (_model, isFallback) => void routed.push(isFallback ? 'fallback' : 'primary'),
    onExhausted: (_model, _requestId, findings) => void exhaustions.push(findings),
    errorBody: (code, message) => {
      errorCodes.push(code);
      return JSON.stringify({ type: 'error', error: { code, message } });
    },
  };
  const ask = (request: Partial<DispatchRequest> = {}) =>
    dispatch({ ...chatRequest(), clientGone: client.signal, onEnd: (end) => ends.push(end), ...request }, ports);
  const told = { ends, errorCodes, failedTries, waits, routed, exhaustions };
  return { timers, registry, agents, ports, client, shutdown, ask, ...told };
}

/** A healthy agent. */
export function addAgent(
  registry: AgentRegistry,
  setting: Partial<AgentSetting> & Pick<AgentSetting, 'id' | 'backendUrl'>,
): Agent {
  const agent = registry.add({ engine: 'vllm', capability: 'llm', models: [MODEL], capacity: 10, ...setting });
  agent.reportProbe(ok([MODEL]));
  return agent;
}

function chatRequest(): Omit<DispatchRequest, 'clientGone' | 'onEnd'> {
  return {
    endpoint: endpointOf('/v1/chat/completions'),
    model: MODEL,
    body: new TextEncoder().encode(`{"model":"${MODEL}"}`),
    headers: new Headers({ 'content-type': 'application/json' }),
    requestId: '00000000-0000-4000-8000-000000000000',
  };
}

export function endpointOf(path: string) {
  const endpoint = ENDPOINTS.find((known) => known.path === path);
  if (endpoint === undefined) throw new Error(`No endpoint "${path}"`);
  return endpoint;
}

/** The response of an answered request. */
export function responseOf(outcome: DispatchOutcome): Response {
  if (outcome.kind !== 'answered') throw new Error(`Not answered: ${JSON.stringify({ ...outcome, agent: undefined })}`);
  return outcome.response;
}

/** The body of an answered request, read chunk by chunk as text. */
export function textReader(outcome: DispatchOutcome) {
  const reader = responseOf(outcome).body?.getReader();
  if (reader === undefined) throw new Error('The answer has no body');
  const read = async () => {
    const { value } = await reader.read();
    return value === undefined ? undefined : new TextDecoder().decode(value);
  };
  return { read, cancel: () => reader.cancel() };
}

/** Slots in use on each agent. */
export const slots = (site: TestSite) => site.agents.map((agent) => agent.active);

/** Code and message of a failed outcome. */
export async function failureOf(asking: Promise<DispatchOutcome>): Promise<readonly [code: string, message: string]> {
  const outcome = await asking;
  if (outcome.kind !== 'failed') throw new Error(`Not failed but ${outcome.kind}`);
  return [outcome.code, outcome.message];
}
