// A site with some agents and everything that dispatch asks for, on timers that the test moves.

import type { Agent } from '../../src/agents/agent.ts';
import type { AgentSetting } from '../../src/agents/agent-setting.ts';
import { createEngineFetch, type EngineFetch } from '../../src/agents/engine-fetch.ts';
import { AgentRegistry } from '../../src/agents/registry.ts';
import { type DispatchPorts, type DispatchRequest, dispatch } from '../../src/dispatch/dispatch.ts';
import { LivesUnderWay } from '../../src/dispatch/lives-under-way.ts';
import type { Answerer, DispatchOutcome } from '../../src/dispatch/outcome.ts';
import type { ProviderAccount } from '../../src/dispatch/providers/provider.ts';
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
/** Of the wall clock. */
const NOW_MS = 1_700_000_000_999;

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
  /** `primary`, `fallback` or `provider` for every answer that was used. */
  readonly routed: string[];
  /** What the steps lacked, for every request that none had an agent for. */
  readonly lacks: string[];
  /** Models of the requests that nothing could serve. */
  readonly exhausted: string[];
  /** `PROVIDER STATUS` of every head of a provider, 0 for none. */
  readonly providerHeads: string[];
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
  /** None by default. */
  readonly accounts?: readonly ProviderAccount[];
}

/** A site whose healthy agents front the engines at these URLs. */
export function testSite(
  urls: readonly string[],
  { fetch = engineFetch, queueDepth = 0, policies, streamMaxDurationMs, accounts = [], ...setting }: SiteSettings = {},
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
  const lacks: string[] = [];
  const exhausted: string[] = [];
  const providerHeads: string[] = [];
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
    lives: new LivesUnderWay(shutdown.signal),
    accounts: new Map(accounts.map((account) => [account.dialect, account])),
    nowMs: () => NOW_MS,
    onFailedTry: (by, _requestId, reason) => void failedTries.push(`${nameOf(by)}: ${reason}`),
    onRouted: (_model, isFallback) => void routed.push(isFallback ? 'fallback' : 'primary'),
    onNoAgent: (_model, _requestId, findings) => void lacks.push(findings),
    onProviderHead: (provider, status, seconds) =>
      void providerHeads.push(`${provider} ${status}${seconds === 0 ? '' : ` after ${seconds} s`}`),
    onProviderUsed: () => void routed.push('provider'),
    onExhausted: (model) => void exhausted.push(model),
    errorBody: (code, message) => {
      errorCodes.push(code);
      return JSON.stringify({ type: 'error', error: { code, message } });
    },
  };
  const ask = (request: Partial<DispatchRequest> = {}) =>
    dispatch({ ...chatRequest(), clientGone: client.signal, onEnd: (end) => ends.push(end), ...request }, ports);
  const told = { ends, errorCodes, failedTries, waits, routed, lacks, exhausted, providerHeads };
  return { timers, registry, agents, ports, client, shutdown, ask, ...told };
}

/** The ID of an agent, the name of a provider. */
const nameOf = (by: Answerer) => (typeof by === 'string' ? by : by.setting.id);

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
    modelAt: { start: 9, end: 12 },
    headers: new Headers({ 'content-type': 'application/json' }),
    requestId: '00000000-0000-4000-8000-000000000000',
    onReached: () => undefined,
    onHandOver: () => undefined,
    onOutput: () => undefined,
  };
}

export function endpointOf(path: string) {
  const endpoint = ENDPOINTS.find((known) => known.path === path);
  if (endpoint === undefined) throw new Error(`No endpoint "${path}"`);
  return endpoint;
}

/** The response of an answered request. */
export function responseOf(outcome: DispatchOutcome): Response {
  if (outcome.kind !== 'answered') throw new Error(`Not answered: ${JSON.stringify({ ...outcome, by: undefined })}`);
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
