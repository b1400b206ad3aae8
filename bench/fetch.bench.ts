// The whole application without a socket: a redirect, a request with an accepted token and a served one, against the least
// that they cannot avoid. The engine is a function that answers at once.

import assert from 'node:assert/strict';
import { createHmac, hash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { mintToken } from '../src/redirect/token.ts';
import { verifyBeforeBody, verifyBody } from '../src/redirect/verify.ts';
import { claims, keyring, okValue, present, scope, site, siteId } from '../test/redirect/builders.ts';
import { facts } from '../test/redirect/target.ts';
import { bearer, createTestRouter, FIXTURE_MAP, NOW_MS, type TestRouter } from '../test/support/test-router.ts';
import { chatBody, KIB } from './bodies.ts';
import { type Figure, IS_QUICK, tell } from './figure.ts';
import { median, ns } from './report.ts';

const PATH = '/v1/chat/completions';
const ROUNDS = IS_QUICK ? 5 : 15;
const CALLS = 200;
const ANSWER = JSON.stringify({ id: 'a', choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } });
const CONNECTION = {
  remoteAddress: '192.0.2.1',
  allowSilence: () => undefined,
  endSilence: () => undefined,
  closeSoon: () => undefined,
};

interface Compared {
  readonly name: string;
  readonly status: number;
  readonly run: (call: number) => Promise<Response> | Response;
  readonly floor: (call: number) => Promise<Response> | Response;
  /** Throws unless it is the right answer of the router. */
  readonly assertAnswer: (answer: Response) => void | Promise<void>;
  readonly atMost: number;
}

async function compare({ name, status, run, floor, assertAnswer, atMost }: Compared): Promise<Figure> {
  await assertAnswer(await run(ROUNDS * CALLS));
  const rounds: { readonly runNs: number; readonly floorNs: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({ runNs: await roundNs(run, round, status), floorNs: await roundNs(floor, round, status) });
  }
  const counted = rounds.slice(2);
  const [runNs, floorNs] = [median(counted.map((one) => one.runNs)), median(counted.map((one) => one.floorNs))];
  const value = median(counted.map((one) => one.runNs / one.floorNs));
  return { name, value, unit: '×', atMost, note: `${ns(runNs)}, floor ${ns(floorNs)}` };
}

async function roundNs(run: Compared['run'], round: number, status: number): Promise<number> {
  const startedMs = performance.now();
  for (let call = 0; call < CALLS; call += 1) {
    const response = await run(round * CALLS + call);
    if (response.status !== status) throw new Error(`status ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  }
  return ((performance.now() - startedMs) * 1e6) / CALLS;
}

function request(url: string, body: Uint8Array<ArrayBuffer>, headers: Record<string, string>): Request {
  const length = String(body.byteLength);
  return new Request(url, {
    method: 'POST',
    headers: { host: new URL(url).host, 'content-length': length, ...headers },
    body,
  });
}

/** What was written for tests to look at would grow without end. */
function forgetful(router: TestRouter): TestRouter {
  Object.assign(router.ports, { writeAccessLine: () => undefined });
  const { engineCalls } = router;
  engineCalls.push = () => 0;
  return router;
}

/** A 307 to a sibling, with a token that the sibling takes for this very request. */
function assertRedirect(answer: Response, body: Uint8Array): void {
  assert.equal(answer.status, 307);
  const { host, pathname, searchParams } = new URL(answer.headers.get('location') ?? '');
  const [target = ''] = host.split('.');
  assert.notEqual(target, 'site-fr-1');
  assert.equal(pathname, PATH);
  const at = { siteId: siteId(target), ownSite: site(target, 'FR', true), arrivedMs: NOW_MS };
  const head = verifyBeforeBody(
    searchParams.getAll('rt'),
    keyring(),
    facts({ ...at, keyMatches: (id) => id === 'key-1' }),
  );
  const claims = okValue(head);
  okValue(verifyBody(claims, hash('sha256', body, 'hex')));
}

async function assertServed(answer: Response): Promise<void> {
  assert.equal(answer.status, 200);
  assert.equal(await answer.text(), ANSWER);
}

function redirect(size: string, bytes: number): Compared {
  const body = chatBody(bytes, 'm');
  const router = forgetful(createTestRouter({ siteId: 'site-fr-1', map: FIXTURE_MAP, authMode: 'dynamic' }));
  const url = `https://site-fr-1.example.com${PATH}`;
  const { key } = keyring().signing;
  return {
    name: `redirect, body of ${size}, over read, hash, HMAC and answer`,
    status: 307,
    run: () => router.fetch(request(url, body, bearer('key-1')), CONNECTION),
    floor: async () => {
      const received = new Uint8Array(await request(url, body, bearer('key-1')).arrayBuffer());
      const digest = hash('sha256', received, 'hex');
      const location = `${url}?rt=${createHmac('sha256', key).update(digest.repeat(4)).digest('base64url')}`;
      return new Response(ANSWER, { status: 307, headers: { location } });
    },
    assertAnswer: (answer) => assertRedirect(answer, body),
    atMost: 20,
  };
}

const engine = async (): Promise<Response> =>
  new Response(ANSWER, { headers: { 'content-type': 'application/json', 'content-length': String(ANSWER.length) } });
const AGENTS = [{ models: ['m'] }];

function served(size: string, bytes: number): Compared {
  const body = chatBody(bytes, 'm');
  const router = forgetful(createTestRouter({ agents: AGENTS, engine, authMode: 'dynamic' }));
  const url = `https://site-fr-1.example.com${PATH}`;
  return {
    name: `served request, body of ${size}, over read, engine and answer`,
    status: 200,
    run: () => router.fetch(request(url, body, bearer('key-1')), CONNECTION),
    floor: async () => {
      await request(url, body, bearer('key-1')).arrayBuffer();
      const head = await engine();
      return new Response(await head.arrayBuffer(), { headers: head.headers });
    },
    assertAnswer: assertServed,
    atMost: 20,
  };
}

/** Each token works once, so each call has its own, and the one before them. */
function accepted(size: string, bytes: number): Compared {
  const body = chatBody(bytes, 'm');
  const settings = { siteId: 'site-fr-2', map: FIXTURE_MAP, authMode: 'dynamic', agents: AGENTS, engine } as const;
  const router = forgetful(createTestRouter(settings));
  const bodyHash = hash('sha256', body, 'hex');
  const [ring, bare] = [keyring(), 'https://site-fr-2.example.com/v1/chat/completions'];
  const told = {
    bodyHash,
    issuedMs: NOW_MS,
    keyId: 'key-1',
    model: 'm',
    scope: scope('country:FR'),
    target: siteId('site-fr-2'),
  };
  const urls = Array.from({ length: ROUNDS * CALLS + 1 }, (_, number) => {
    const text = mintToken(claims({ ...told, tokenId: number.toString(16).padStart(32, '0') }), ring);
    return `${bare}?rt=${present(text)}`;
  });
  return {
    name: `accepted token, body of ${size}, over the same with an API key`,
    status: 200,
    run: (call) => router.fetch(request(urls[call] ?? '', body, bearer('key-1')), CONNECTION),
    floor: () => router.fetch(request(bare, body, bearer('key-1')), CONNECTION),
    assertAnswer: assertServed,
    atMost: 2.5,
  };
}

const CASES = [redirect, accepted, served].flatMap((make) => [make('1 KiB', KIB), make('32 KiB', 32 * KIB)]);
const figures: Figure[] = [];
for (const one of CASES) figures.push(await compare(one));
tell('app.fetch', figures);
