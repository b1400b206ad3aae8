// Agents through the binary: pushed, drained under a running stream, taken out, read from a file and again on SIGHUP, and
// told of on the registration stream; and an engine that goes and comes back.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { BARE_ENV, BINARY, run } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import {
  ADMIN_KEY,
  type EngineProcess,
  engineFlags,
  type RouterProcess,
  startEngine,
  startRouter,
  untilServing,
} from '../support/router-process.ts';
import { createGround, type Ground } from '../support/sites.ts';

const HEADERS = { authorization: `Bearer ${ADMIN_KEY}` };
const PATIENT = { timeout: 20_000 };

let ground: Ground;
let engine: EngineProcess;
let router: RouterProcess;

before(async () => {
  ground = await createGround();
  engine = await startEngine({ name: 'e', models: ['m'], args: ['--tokens-per-second', '50'] });
});

afterEach(() => router.kill());

after(async () => {
  await engine.kill();
  ground.remove();
});

async function admin(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const init = { method, headers: HEADERS, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const answer = await fetch(`${router.url}/admin/${path}`, init);
  return { status: answer.status, ...((await answer.json()) as object) };
}

const documentOf = ({ url }: { readonly url: string }, more: object = {}) => ({
  engine: 'vllm',
  backend_url: url,
  ...more,
});

function ask(model: string, more: object = {}): Promise<Response> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 3, ...more });
  return fetch(`${router.url}/v1/chat/completions`, { method: 'POST', body });
}

async function stateOf(id: string): Promise<string | undefined> {
  return (await admin('GET', `agents/${id}`))['state'] as string | undefined;
}

const untilState = (id: string, state: string | undefined) =>
  eventually(`agent ${id} ${state}`, async () => ((await stateOf(id)) === state ? true : undefined));

interface StreamEvent {
  readonly event_type: string;
  readonly agent_id: string;
  readonly deployment_id: string;
  readonly timestamp: string;
}

/** What a subscriber of the registration stream has seen so far; `ended` resolves with its end. */
async function subscribe() {
  const answer = await fetch(`${router.url}/admin/registration-stream`, { headers: HEADERS });
  assert.equal(answer.status, 200);
  const events: StreamEvent[] = [];
  let isOpen: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    isOpen = resolve;
  });
  const read = async (): Promise<void> => {
    let text = '';
    for await (const chunk of answer.body ?? []) {
      isOpen();
      text += new TextDecoder().decode(chunk);
      const frames = text.split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames)
        if (frame.startsWith('data: ')) events.push(JSON.parse(frame.slice(6)) as StreamEvent);
    }
  };
  const ended = read();
  await opened;
  return { events, ended };
}

describe('An agent pushed to the binary', () => {
  it('serves, finishes its stream while it drains, and is gone after its removal', PATIENT, async () => {
    router = await startRouter([]);
    const subscription = await subscribe();
    const pushed = await admin('PUT', 'agents/gpu-1', documentOf(engine, { deployment_id: 'dep-1', region: 'eu' }));
    assert.equal(pushed['status'], 201);
    await untilServing(router, ['m']);
    assert.equal((await ask('m')).status, 200);

    const stream = await ask('m', { stream: true, max_tokens: 40 });
    await admin('POST', 'agents/gpu-1/drain');
    assert.equal((await ask('m')).status, 503);
    assert.equal((await admin('DELETE', 'agents/gpu-1'))['state'], 'draining');
    assert.match(await stream.text(), /data: \[DONE\]/);
    await untilState('gpu-1', undefined);
    assert.equal((await ask('m')).status, 404);

    const table = (await admin('GET', 'routing-table'))['agents'];
    assert.deepEqual(table, []);
    assert.doesNotMatch(await (await fetch(`${router.metricsUrl}/metrics`)).text(), /gpu-1/);
    assert.deepEqual(
      subscription.events.map(({ event_type, agent_id, deployment_id }) => [event_type, agent_id, deployment_id]),
      [
        ['registered', 'gpu-1', 'dep-1'],
        ['unregistered', 'gpu-1', 'dep-1'],
      ],
    );
    assert.ok(Math.abs(Date.parse(subscription.events[0]?.timestamp ?? '') - Date.now()) < 15_000);
    router.signal('SIGTERM');
    await subscription.ended;
    assert.equal(await router.ended, 0);
  });

  it('counts its requests in table and metrics', PATIENT, async () => {
    router = await startRouter([]);
    await admin('PUT', 'agents/gpu-1', documentOf(engine));
    await untilServing(router, ['m']);
    await (await ask('m')).text();
    const [row] = (await admin('GET', 'routing-table'))['agents'] as [{ universal: Record<string, number> }];
    assert.equal(row.universal['failed_requests_total'], 0);
    const text = await (await fetch(`${router.metricsUrl}/metrics`)).text();
    assert.match(text, /^hivenet_routing_agent_info\{peer_id="gpu-1",region="Unknown",engine="vllm",model="m",/m);
  });
});

describe('An engine that goes and comes back', () => {
  it('is out with the first refused request, and in again within a second of its return', PATIENT, async () => {
    const first = await startEngine({ name: 'first', models: ['n'] });
    router = await startRouter(engineFlags([first]));
    await untilServing(router, ['n']);
    const subscription = await subscribe();
    await first.kill();
    assert.equal((await ask('n')).status, 503);
    const id = `vllm-${new URL(first.url).host.replace(':', '-')}`;
    assert.equal(await stateOf(id), 'unhealthy');
    const again = await startEngine({ name: 'again', models: ['n', 'o'], args: ['--port', new URL(first.url).host] });
    const returnedMs = performance.now();
    await untilServing(router, ['n', 'o']);
    const tookMs = performance.now() - returnedMs;
    assert.ok(tookMs < 2000, `${tookMs} ms`);
    assert.equal((await ask('o')).status, 200);
    assert.deepEqual(
      subscription.events.map(({ event_type }) => event_type),
      ['unregistered', 'registered'],
    );
    router.signal('SIGTERM');
    await subscription.ended;
    await again.kill();
  });
});

describe('--agents-file', () => {
  const agent = (id: string, url: string, more = '') => `  - {id: ${id}, engine: vllm, backend_url: "${url}"${more}}\n`;

  it('is read at start, and again on SIGHUP without harm to a stream', PATIENT, async () => {
    const key = ground.write('engine-key', 'key-of-the-engine\n');
    const file = ground.write('agents.yaml', `agents:\n${agent('a', engine.url, `, api_key_file: ${key}`)}`);
    router = await startRouter(['--agents-file', file]);
    await untilServing(router, ['m']);
    const stream = await ask('m', { stream: true, max_tokens: 40 });
    const reload = async (text: string, end: RegExp): Promise<void> => {
      writeFileSync(file, text);
      router.signal('SIGHUP');
      await router.line((line) => end.test(line), 'stderr');
    };
    await reload(
      `agents:\n${agent('b', engine.url, ', capacity: 3')}`,
      /Reloaded agents count=1 added=1 changed=0 removed=1/,
    );
    assert.equal(await stateOf('a'), 'draining');
    await untilState('b', 'healthy');
    assert.match(await stream.text(), /data: \[DONE\]/);
    await untilState('a', undefined);

    await reload(`agents:\n${agent('c', engine.url)}${agent('b', 'h')}`, /ERROR Cannot reload agents, nothing changed/);
    assert.match(router.stderr.join('\n'), /line 3, column \d+: agents\[1\]\.backend_url: URL must start with/);
    assert.equal(await stateOf('c'), undefined);
    assert.equal((await admin('PUT', 'agents/b', documentOf(engine)))['status'], 409);
    assert.equal((await admin('PUT', 'agents/p', documentOf(engine)))['status'], 201);
    await reload(
      `agents:\n${agent('p', engine.url)}`,
      /reason="agent \\"p\\": the ID is that of a pushed agent already"/,
    );
    await reload('agents: []\n', /Reloaded agents count=0 added=0 changed=0 removed=1/);
    assert.equal(await stateOf('b'), undefined);
    assert.doesNotMatch(router.stderr.join('\n'), /key-of-the-engine/);
  });

  it('that is wrong refuses to start with every error', async () => {
    router = await startRouter([]);
    const file = ground.write('bad.yaml', `agents:\n${agent('a', 'h')}  - {id: b, engine: vllm}\n`);
    const clash = ground.write('clash.yaml', `agents:\n${agent('vllm-h-1', 'http://x')}`);
    const start = (...args: readonly string[]) =>
      run([BINARY, ...args], { ...BARE_ENV, HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY });
    const name = '--agents-file (HIVENET_ROUTER_AGENTS_FILE)';
    const bad = await start('--agents-file', file);
    assert.deepEqual(
      [bad.code, ...bad.stderr],
      [
        1,
        `${name} "${file}": line 2, column 27: agents[0].backend_url: URL must start with http:// or https://`,
        `${name} "${file}": line 3, column 5: agents[1].backend_url: is required`,
      ],
    );
    const both = await start('--agents-file', clash, '--engine', 'vllm=http://h:1');
    assert.deepEqual(both.stderr, [`${name} "${clash}": agent "vllm-h-1": the ID is that of an --engine`]);
  });
});
