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
/** Counters are flushed every second; and a busy machine is slow. */
const FLUSH_MS = 2_000;

/** Versions of one document: the last that was sent, and the last that was answered. */
interface Pushed {
  sent: number;
  answered: number;
}

interface Life {
  readonly keys: Pushed;
  readonly map: Pushed;
  asked: number;
  /** When each answer was complete. */
  readonly servedMs: number[];
}

/** One life for each time, after which the router is killed. Resolves with what happened, in a few words. */
export async function crash(livesMs: readonly number[]): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'state-crash-'));
  const engine = await startEngine({ name: 'e', models: ['chat'] });
  const total = { pushes: 0, served: 0 };
  let router = await startOn(directory, engine);
  try {
    await push(router, 'POST', 'api-keys/replace', allKeys(0));
    for (const lifeMs of livesMs) {
      const before = await successes(router);
      const held = { keys: await heldKeys(router), map: await heldMap(router) };
      const { life, killedMs } = await live(router, held, lifeMs);
      router = await startOn(directory, engine);
      assert.deepEqual(
        router.stderr.filter((line) => line.includes(' ERROR ')),
        [],
      );
      assertWithin('keys', await heldKeys(router), life.keys);
      assertWithin('map', await heldMap(router), life.map);
      const [after, due] = [await successes(router), life.servedMs.filter((ms) => ms < killedMs - FLUSH_MS).length];
      assert.ok(after >= before + due && after <= before + life.asked, `${before} and ${due} became ${after}`);
      total.pushes += life.keys.answered - held.keys + life.map.answered - held.map;
      total.served += life.servedMs.length;
    }
  } finally {
    await Promise.all([router.kill(), engine.kill()]);
    rmSync(directory, { recursive: true });
  }
  return `${total.pushes} pushes and ${total.served} answers in ${livesMs.length} lives`;
}

async function startOn(directory: string, engine: EngineProcess): Promise<RouterProcess> {
  const site = ['--site-id', BIG_MAP_SITE, '--redirect-allowed-domains', '.example.com'];
  const flags = ['--auth-mode', 'dynamic', '--state-dir', directory, '--engine', engine.setting, ...site];
  return startRouter(flags, { HIVENET_ROUTER_REDIRECT_SECRETS: SECRETS });
}

/** Pushes and asks until it is killed. */
async function live(router: RouterProcess, held: { keys: number; map: number }, lifeMs: number) {
  const life: Life = {
    keys: { sent: held.keys, answered: held.keys },
    map: { sent: held.map, answered: held.map },
    asked: 0,
    servedMs: [],
  };
  await untilServing(router, ['chat'], { headers: CALLER });
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
  const body = JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'Hello' }] });
  for (;;) {
    life.asked += 1;
    const answer = await fetch(`${router.url}/v1/chat/completions`, { method: 'POST', headers: CALLER, body });
    await answer.text();
    assert.equal(answer.status, 200);
    life.servedMs.push(performance.now());
  }
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
  return { id, key_hash: hashKey(`sk-${id}`), owner: 'o', name: String(number), enabled: true };
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

function assertWithin(what: string, held: number, { sent, answered }: Pushed): void {
  assert.ok(held >= answered && held <= sent, `${what} ${held} after ${answered} was answered and ${sent} sent`);
}
