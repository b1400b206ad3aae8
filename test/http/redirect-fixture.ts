// Redirect tokens and the sites that take them, for the tests of this room. Site A is `site-fr-1`, B `site-fr-2`,
// C `site-de-1`, D `site-us-1` (redirect-requirements, section 1).

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { RedirectClaims } from '../../src/redirect/claims.ts';
import { type Keyring, parseSecretsVariable } from '../../src/redirect/keyring.ts';
import { mintToken, openToken } from '../../src/redirect/token.ts';
import { REFUSAL_REASONS, type RefusalReason } from '../../src/redirect/verify.ts';
import { parseScope, type Scope } from '../../src/site/scope.ts';
import { parseSiteId, type SiteId } from '../../src/site/site.ts';
import { SECRETS } from '../support/test-redirect.ts';
import {
  createTestRouter,
  FIXTURE_MAP,
  NOW_MS,
  type TestRouter,
  type TestRouterSettings,
} from '../support/test-router.ts';

export const CHAT = '/v1/chat/completions';
export const CHAT_BODY = '{"model":"m","messages":[{"role":"user","content":"hi"}]}';
export const TOKEN_REQUEST_ID = '8b9e4a6d-dfb4-4b95-bada-319e7e5b878a';

export function present<Value>(value: Value | null | undefined): Value {
  assert.ok(value !== undefined && value !== null, 'a value is missing');
  return value;
}

export function siteId(text: string): SiteId {
  return present(parseSiteId(text));
}

export function scope(text: string): Scope {
  return present(parseScope(text));
}

export function keyring(text: string = SECRETS): Keyring {
  const parsed = parseSecretsVariable(text);
  assert.ok(parsed.ok, 'the secrets of a test are wrong');
  return parsed.value;
}

export function sha256Hex(body: string | Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

/** Claims that B accepts with {@link CHAT_BODY}: hop 1 from A, for `key-1`, issued now. */
export function claimsForB(change: Partial<RedirectClaims> = {}): RedirectClaims {
  return {
    endpoint: CHAT,
    hop: 1,
    scope: scope('country:FR'),
    issuedMs: NOW_MS,
    lifetimeMs: 60_000,
    tokenId: randomBytes(16).toString('hex'),
    bodyHash: sha256Hex(CHAT_BODY),
    requestId: TOKEN_REQUEST_ID,
    clientRequestId: undefined,
    origin: siteId('site-fr-1'),
    target: siteId('site-fr-2'),
    keyId: 'key-1',
    model: 'm',
    ...change,
  };
}

export function tokenForB(change: Partial<RedirectClaims> = {}, signedBy: Keyring = keyring()): string {
  return present(mintToken(claimsForB(change), signedBy));
}

/** A with nothing local: it redirects `m`, `emb` and `rr`. */
export function siteA(settings: TestRouterSettings = {}): TestRouter {
  return createTestRouter({ siteId: 'site-fr-1', map: FIXTURE_MAP, ...settings });
}

/** B with a healthy agent for `m`. */
export function siteB(settings: TestRouterSettings = {}): TestRouter {
  return createTestRouter({ siteId: 'site-fr-2', map: FIXTURE_MAP, agents: [{ models: ['m'] }], ...settings });
}

/** POST of {@link CHAT_BODY} with a token, read to its end; `change` replaces headers, body or path. */
export async function follow(
  site: TestRouter,
  token: string,
  change: { headers?: Record<string, string>; body?: string; path?: string } = {},
): Promise<Response> {
  return readWhole(await site.ask(`${change.path ?? CHAT}?rt=${token}`, change.body ?? CHAT_BODY, change.headers));
}

/** The answer once its last byte has left: only then is a streamed request over, logged and measured. */
export async function readWhole(response: Response): Promise<Response> {
  const { status, headers } = response;
  return new Response(await response.arrayBuffer(), { status, headers });
}

/** The URL that a 307 names. */
export function locationOf(response: Response): URL {
  assert.equal(response.status, 307);
  return new URL(present(response.headers.get('location')));
}

/** The claims of the token in a 307. */
export function claimsOf(response: Response, signedBy: Keyring = keyring()): RedirectClaims {
  const opened = openToken(present(locationOf(response).searchParams.get('rt')), signedBy);
  assert.ok(opened.ok, 'the token of a 307 does not verify');
  return opened.value;
}

/** What each reason has been counted so far. */
export async function rejections(site: TestRouter): Promise<Record<RefusalReason, number>> {
  const counts = await Promise.all(
    REFUSAL_REASONS.map(async (reason) => [
      reason,
      await site.metric(`hivenet_redirect_rejections_total{reason="${reason}"}`),
    ]),
  );
  return Object.fromEntries(counts) as Record<RefusalReason, number>;
}

/** All reasons at 0 but the given ones. */
export function counted(counts: Partial<Record<RefusalReason, number>> = {}): Record<RefusalReason, number> {
  const zeros = Object.fromEntries(REFUSAL_REASONS.map((reason) => [reason, 0])) as Record<RefusalReason, number>;
  return { ...zeros, ...counts };
}

/** The `error` object of an answer in the body of E4. */
export async function errorOf(response: Response): Promise<Record<string, unknown>> {
  const document = (await response.json()) as { type: string; error: Record<string, unknown> };
  assert.equal(document.type, 'error');
  return document.error;
}

/** Status, wire code and nothing else: most tests ask for just that. */
export async function outcomeOf(answer: Response | Promise<Response>): Promise<string> {
  const response = await answer;
  if (response.ok) return String(response.status);
  return `${response.status} ${String((await errorOf(response))['code'])}`;
}

/** A body that comes when the test says so. */
export function slowBody(text: string = CHAT_BODY): { stream: ReadableStream<Uint8Array>; finish(): void } {
  let finish = (): void => undefined;
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      finish = () => {
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      };
    },
  });
  return { stream, finish: () => finish() };
}

/** POST of a stream. */
export function sendStream(
  site: TestRouter,
  target: string,
  body: ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return site.send(target, { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
}
