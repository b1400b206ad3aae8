// Sites whose callers have limits, and what is left to them.

import type { EngineFetch } from '../../src/agents/engine-fetch.ts';
import { createTestRouter, type TestRouter, type TestRouterSettings } from '../support/test-router.ts';

export const ASK = { authorization: 'Bearer sk-limited' };

/** An answer with its usage. */
export const USED = { choices: [{ message: { content: 'hi' } }], usage: { prompt_tokens: 10, completion_tokens: 5 } };

/** There is nobody at the agent's address. */
export const refusing: EngineFetch = () =>
  Promise.reject(Object.assign(new TypeError('fetch failed'), { code: 'ECONNREFUSED' }));

export const answering =
  (document: object = USED, status = 200): EngineFetch =>
  async () =>
    Response.json(document, { status });

/** Events of OpenAI's dialect, one piece of text each. */
export function events(...texts: readonly string[]): string {
  return texts.map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`).join('');
}

/** A stream that the test goes on with. */
export function streamingEngine() {
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  const fetch: EngineFetch = async (_url, init) => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        stream = controller;
        init.signal?.addEventListener('abort', () => controller.error(new Error('aborted')));
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  const write = (text: string): void => stream?.enqueue(new TextEncoder().encode(text));
  return { fetch, write, close: () => stream?.close() };
}

/** A site with a healthy agent for `m`, and a key with this quota; `owner` has no other key. */
export function limitedSite(quota: object, settings: TestRouterSettings = {}, entry: object = {}): TestRouter {
  const extraKeys = [{ id: 'limited', secret: 'sk-limited', owner: 'acme', quota, ...entry }];
  return createTestRouter({ agents: [{ models: ['m'] }], engine: answering(), extraKeys, ...settings });
}

/** What a client is told of its limits: status, code, what is left, and when to come back. */
export async function toldOf(answer: Response | Promise<Response>): Promise<Record<string, unknown>> {
  const response = await answer;
  const { headers, status } = response;
  const body = (await response.json().catch(() => ({}))) as { error?: { code?: string } };
  const told = {
    status,
    code: body.error?.code,
    requests: headers.get('x-ratelimit-remaining-requests') ?? undefined,
    tokens: headers.get('x-ratelimit-remaining-tokens') ?? undefined,
    retryAfter: headers.get('retry-after') ?? undefined,
    shouldRetry: headers.get('x-should-retry') ?? undefined,
  };
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined));
}
