// A router that is killed again and again in the middle of pushes and requests, on one state directory: what it answered
// must be there after each restart, and what is there must be whole.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashKey } from '../../src/auth/api-key.ts';
import { BIG_MAP_SITE, bigMapBytes } from './big-map.ts';
import {
  ADMIN_KEY,
  type EngineProcess,
  type RouterProcess,
  startEngine,
  startRouter,
  untilServing,
} from './router-process.ts';

const HEADERS = { authorization: `Bearer ${ADMIN_KEY}` };
const CALLER = { authorization: 'Bearer sk-caller' };
const SECRETS = `k1:${'s'.repeat(32)}`;

const KEYS = 1_000;
const PLACEMENTS = 2_000;
/** All keys at every so many versions, one key at the others. */
const REPLACED_EVERY = 5;
/** Use and counters are flushed every second; and a busy machine is slow. */
const FLUSH_MS = 2_000;
/** More than is ever used, so that the headers tell what was. */
const TOKENS_PER_DAY = 1_000_000_000_000;
/** More than a request reserves. */
const RESERVED_MAX = 10_000;

/** Versions of one document: the last that was sent, and the last that was answered. */
interface Pushed {
  sent: number;
  answered: number;
}

interface Life {
  readonly keys: Pushed;
  readonly map: Pushed;
  asked: number;
  readonly served: Served[];
}

interface Served {
  /** When the answer was complete. */
  readonly atMs: number;
  readonly tokens: number;
}

/** One life for each time, after which the router is killed. Resolves with what happened, in a few words. */
export async function crash(livesMs: readonly number[]): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'state-crash-'));
  const engine = await startEngine({ name: 'e', models: ['chat'] });
  let router = await startOn(directory, engine);
  let [pushes, answers] = [0, 0];
  try {
    await push(router, 'POST', 'api-keys/replace', allKeys(0));
    let before = await figures(router);
    for (const lifeMs of livesMs) {
      const { life, killedMs } = await live(router, before, lifeMs);
      router = await startOn(directory, engine);
      const after = await figures(router);
      check(life, killedMs, before, after);
      pushes += life.keys.answered - before.keys + life.map.answered - before.map;
      answers += life.served.length;
      before = after;
    }
  } finally {
    await Promise.all([router.kill(), engine.kill()]);
    rmSync(directory, { recursive: true });
  }
  return `${pushes} pushes and ${answers} answers in ${livesMs.length} lives`;
}

/** What a router begins its life with. */
interface Figures {
  readonly keys: number;
  readonly map: number;
  readonly successes: number;
  /** Tokens of the day. */
  readonly used: number;
  readonly day: number;
}

async function figures(router: RouterProcess): Promise<Figures> {
  assert.deepEqual(
    router.stderr.filter((line) => line.includes(' ERROR ')),
    [],
  );
  await untilServing(router, ['chat'], { headers: CALLER });
  const held = { keys: await heldKeys(router), map: await heldMap(router), successes: await successes(router) };
  const { remaining, tokens } = await askOnce(router);
  return { ...held, used: TOKENS_PER_DAY - remaining - tokens, day: Math.floor(Date.now() / 86_400_000) };
}

/** All that was answered is there, and all use and counters but those of the last flush. */
function check(life: Life, killedMs: number, before: Figures, after: Figures): void {
  assertBetween('version of keys', life.keys.answered, after.keys, life.keys.sent);
  assertBetween('version of the map', life.map.answered, after.map, life.map.sent);
  const due = life.served.filter(({ atMs }) => atMs < killedMs - FLUSH_MS);
  // And the one of the figures.
  const asked = life.asked + 1;
  assertBetween('answers', before.successes + due.length, after.successes, before.successes + asked);
  if (before.day !== after.day) return;
  const dueTokens = due.reduce((sum, { tokens }) => sum + tokens, before.used);
  assertBetween('tokens', dueTokens, after.used, before.used + asked * RESERVED_MAX);
}

async function startOn(directory: string, engine: EngineProcess): Promise<RouterProcess> {
  const site = ['--site-id', BIG_MAP_SITE, '--redirect-allowed-domains', '.example.com'];
  const flags = ['--auth-mode', 'dynamic', '--state-dir', directory, '--engine', engine.setting, ...site];
  return startRouter(flags, { HIVENET_ROUTER_REDIRECT_SECRETS: SECRETS });
}

/** Pushes and asks until it is killed. */
async function live(router: RouterProcess, held: Figures, lifeMs: number) {
  const life: Life = {
    keys: { sent: held.keys, answered: held.keys },
    map: { sent: held.map, answered: held.map },
    asked: 0,
    served: [],
  };
  const work = Promise.allSettled([
    pushKeys(router, life.keys),
    pushMaps(router, life.map),
    ask(router, life),
    ask(router, life),
  ]);
  await new Promise((resolve) => setTimeout(resolve, lifeMs));
  const killedMs = performance.now();
  await router.kill();
  await work;
  return { life, killedMs };
}

/** Until the router is gone. */
async function pushKeys(router: RouterProcess, pushed: Pushed): Promise<never> {
  for (;;) {
    const number = pushed.sent + 1;
    pushed.sent = number;
    if (number % REPLACED_EVERY === 0) await push(router, 'POST', 'api-keys/replace', allKeys(number));
    else await push(router, 'PUT', 'api-keys/single', { ...entry('single', number), version: versionOf(number) });
    pushed.answered = number;
  }
}

async function pushMaps(router: RouterProcess, pushed: Pushed): Promise<never> {
  for (;;) {
    const number = pushed.sent + 1;
    pushed.sent = number;
    await push(router, 'POST', 'sibling-map', bigMapBytes(number, String(number), PLACEMENTS));
    pushed.answered = number;
  }
}

async function ask(router: RouterProcess, life: Life): Promise<never> {
  for (;;) {
    life.asked += 1;
    const { tokens } = await askOnce(router);
    life.served.push({ atMs: performance.now(), tokens });
  }
}

async function askOnce(router: RouterProcess) {
  const body = JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'Hello' }] });
  const answer = await fetch(`${router.url}/v1/chat/completions`, { method: 'POST', headers: CALLER, body });
  const { usage } = (await answer.json()) as { usage: { total_tokens: number } };
  assert.equal(answer.status, 200);
  return { tokens: usage.total_tokens, remaining: Number(answer.headers.get('x-ratelimit-remaining-tokens')) };
}

async function push(
  router: RouterProcess,
  method: string,
  path: string,
  body: object | Uint8Array<ArrayBuffer>,
): Promise<void> {
  const sent = body instanceof Uint8Array ? body : JSON.stringify(body);
  const answer = await fetch(`${router.url}/admin/${path}`, { method, headers: HEADERS, body: sent });
  assert.equal(answer.status, 200, await answer.text());
}

function versionOf(number: number): string {
  return `v${String(number).padStart(8, '0')}`;
}

/** The number stands in the name. */
function entry(id: string, number: number) {
  const quota = id === 'caller' ? { tokens_per_day: TOKENS_PER_DAY } : undefined;
  return { id, key_hash: hashKey(`sk-${id}`), owner: 'o', name: String(number), enabled: true, quota };
}

function allKeys(number: number) {
  const ids = Array.from({ length: KEYS }, (_, index) => `k${index}`);
  return { version: versionOf(number), keys: ['caller', ...ids].map((id) => entry(id, number)) };
}

/** The number of the version that is held, once its keys are seen to be those of that version. */
async function heldKeys(router: RouterProcess): Promise<number> {
  const ready = await fetch(`${router.url}/health/ready`);
  assert.equal(ready.status, 200);
  const { version } = (await (await fetch(`${router.url}/admin/api-keys/version`, { headers: HEADERS })).json()) as {
    version: string;
  };
  const number = Number(version.slice(1));
  const listed = (await (await fetch(`${router.url}/admin/api-keys`, { headers: HEADERS })).json()) as {
    keys: { id: string; name: string }[];
  };
  const replaced = Math.floor(number / REPLACED_EVERY) * REPLACED_EVERY;
  const expected = allKeys(replaced).keys.map(({ id, name }) => `${id} ${name}`);
  if (number > replaced) expected.push(`single ${number}`);
  assert.deepEqual(
    listed.keys.map(({ id, name }) => `${id} ${name}`),
    expected,
  );
  return number;
}

async function heldMap(router: RouterProcess): Promise<number> {
  const text = await (await fetch(`${router.url}/admin/sibling-map`, { headers: HEADERS })).text();
  const number = Number(/"version":(\d+)/.exec(text)?.[1]);
  if (number > 0) assert.equal(text, new TextDecoder().decode(bigMapBytes(number, String(number), PLACEMENTS)));
  return number;
}

async function successes(router: RouterProcess): Promise<number> {
  const text = await (await fetch(`${router.metricsUrl}/metrics`)).text();
  return Number(/^hivenet_agent_requests_success_total\{.*\} (\d+)$/m.exec(text)?.[1]);
}

function assertBetween(what: string, least: number, is: number, most: number): void {
  assert.ok(is >= least && is <= most, `${what}: ${is}, not ${least} to ${most}`);
}
