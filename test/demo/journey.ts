// What became of one request, told by both sites' access logs and held against what the client saw.

import { accessLineOf, accessLines } from '../support/access-log.ts';
import { eventually } from '../support/eventually.ts';
import type { Fleet } from './fleet.ts';

/** A step that did not do what it should; the message is one clear line without tokens. */
export class DemoFailure extends Error {}

export function expect(isAsItShould: boolean, otherwise: string): void {
  if (!isAsItShould) throw new DemoFailure(otherwise);
}

/** One call as its client saw it. */
export interface Call {
  /** The response at the end of the redirects. */
  readonly response: Response;
  /** Milliseconds from the call to its last byte. */
  readonly totalMs: number;
  /** What the answer holds, in a few words. */
  readonly finding: string;
}

/** One call as both sites saw it. */
export interface Journey {
  readonly requestId: string;
  /** Milliseconds, by each site's own clock. */
  readonly redirectMs: number;
  readonly serveMs: number;
  readonly agentId: string;
}

/** Checks that the first site answered 307, the second 200, and that both logged one request ID: the client's. */
export async function followJourney({ first, second }: Fleet, call: Pick<Call, 'response'>): Promise<Journey> {
  const { response } = call;
  const requestId = response.headers.get('x-request-id') ?? '';
  expect(requestId !== '', 'the answer has no X-Request-ID');
  expect(response.redirected, `the answer came without a redirect from ${new URL(response.url).host}`);
  expect(response.url.startsWith(`${second.url}/`), `the answer came from ${new URL(response.url).host}`);
  const redirect = await accessLineOf(first, requestId);
  expect(redirect.status_code === 307, `${first.id} logged status ${redirect.status_code} instead of 307`);
  expect(redirect.redirect_site === second.id, `${first.id} redirected to ${redirect.redirect_site}`);
  const serving = await accessLineOf(second, requestId);
  expect(serving.status_code === 200, `${second.id} logged status ${serving.status_code} instead of 200`);
  expect(serving.origin_site === first.id, `${second.id} logged origin site ${serving.origin_site}`);
  expect(serving.agent_id !== undefined, `${second.id} logged no agent`);
  const agentId = serving.agent_id ?? '';
  return { requestId, redirectMs: redirect.latency_ms, serveMs: serving.latency_ms, agentId };
}

/** Longest wait for the line of an answer that the client has already. */
const LINE_PATIENCE_MS = 1_000;

/** For the message of a call that failed: how far the first site's log says that it came. */
export async function howFar({ first }: Fleet): Promise<string> {
  const lastCall = () => accessLines(first).findLast(({ path }) => path.startsWith('/v1/'));
  const last = await eventually('a line in the access log', lastCall, LINE_PATIENCE_MS).catch(() => undefined);
  if (last?.redirect_site === undefined) return `${first.id} did not redirect it`;
  return `${first.id} answered ${last.status_code} to ${last.redirect_site}`;
}
