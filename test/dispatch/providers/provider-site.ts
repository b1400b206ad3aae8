// A router's last resort for tests: requests that go to a provider which the test plays itself, with dispatch's own
// limits and answers around the call.

import { createEngineFetch, type EngineFetch } from '../../../src/agents/engine-fetch.ts';
import { streamResponse, wholeResponse } from '../../../src/dispatch/answer.ts';
import { earlyEnd, triesFailed } from '../../../src/dispatch/failure.ts';
import { callProvider } from '../../../src/dispatch/providers/call-provider.ts';
import {
  type ChatEndpoint,
  isChatEndpoint,
  type ProviderAccount,
  providerTarget,
} from '../../../src/dispatch/providers/provider.ts';
import type { ProviderAttempt } from '../../../src/dispatch/providers/provider-answer.ts';
import { RequestLife } from '../../../src/dispatch/request-life.ts';
import type { Dialect } from '../../../src/routing/endpoint.ts';
import { bunRuntime } from '../../../src/runtime/bun.ts';
import type { Listener } from '../../../src/runtime/runtime.ts';
import { endpointOf, testSite } from '../test-site.ts';
import { modelBody, NOW_MS } from './golden.ts';

export const API_KEY = 'sk-operator-secret';

const PATHS = { openai: '/v1/chat/completions', anthropic: '/v1/messages' } as const;

export interface Call {
  /** The client's dialect, and the provider's. */
  readonly from: Dialect;
  readonly to: Dialect;
  readonly url: string;
  /** In place of a socket. */
  readonly fetch?: EngineFetch;
}

export interface Asking {
  readonly body: object | string;
  readonly headers?: Headers;
}

const socketFetch = createEngineFetch(fetch, bunRuntime.engineFetchInit);

/** A provider at this URL, asked by clients of one dialect. */
export function providerSite({ from, to, url, fetch: fetchProvider = socketFetch }: Call) {
  const site = testSite([]);
  const account: ProviderAccount = { dialect: to, baseUrl: to === 'openai' ? `${url}/v1` : url, apiKey: API_KEY };
  const target = providerTarget(account, () => undefined);
  const ports = { fetch: fetchProvider, timers: site.timers, nowMs: () => NOW_MS };
  const endpoint = chatEndpoint(PATHS[from]);

  async function call({ body, headers = new Headers() }: Asking, clientGone = site.client.signal) {
    const life = new RequestLife({ clientGone, onEnd: (end) => site.ends.push(end) }, site.ports);
    const request = {
      endpoint,
      model: 'target',
      ...modelBody(typeof body === 'string' ? body : JSON.stringify(body)),
      headers,
      requestId: 'request-1',
    };
    return { life, attempt: await callProvider(request, { account, target }, ports, life) };
  }

  /** As dispatch concludes an attempt, errors in short. */
  async function respond(asking: Asking, clientGone?: AbortSignal): Promise<Response> {
    const { life, attempt } = await call(asking, clientGone);
    const plan = { ports: site.ports, dialect: endpoint.dialect, onOutput: () => undefined };
    if (attempt.kind === 'stream') return streamResponse(attempt, target, life, plan);
    if (attempt.kind === 'whole') return wholeResponse(attempt, target, life);
    life.end('broken');
    return new Response(site.ports.errorBody(...failureOf(attempt)), { status: 502 });
  }
  return { ...site, call: async (asking: Asking) => (await call(asking)).attempt, respond };
}

function chatEndpoint(path: string): ChatEndpoint {
  const endpoint = endpointOf(path);
  if (!isChatEndpoint(endpoint)) throw new Error('Not a chat endpoint');
  return endpoint;
}

function failureOf(attempt: Exclude<ProviderAttempt, { kind: 'stream' | 'whole' }>) {
  switch (attempt.kind) {
    case 'failed': {
      const { code, message } = triesFailed(attempt);
      return [code, message] as const;
    }
    case 'cut':
      return [earlyEnd(attempt.cut).code, earlyEnd(attempt.cut).message] as const;
    default:
      return ['request_invalid', attempt.message] as const;
  }
}

const listeners: Listener[] = [];

/** The same behind a real socket, for the SDKs. */
export function listen(site: ReturnType<typeof providerSite>): string {
  const listener = bunRuntime.listen({
    address: '127.0.0.1:0',
    maxBodyBytes: 1_048_576,
    fetch: async (request) => site.respond({ body: await request.text(), headers: request.headers }, request.signal),
  });
  listeners.push(listener);
  return `http://127.0.0.1:${listener.port}`;
}

export function stopListening(): void {
  for (const listener of listeners.splice(0)) listener.abort();
}
