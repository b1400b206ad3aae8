// Requests that follow a policy through the binary: labels, gates, sessions, the fallback chain, and another policy under
// load.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { Load } from '../support/load.ts';
import {
  ADMIN_KEY,
  type EngineProcess,
  type RouterProcess,
  startEngine,
  startRouter,
  untilHealthy,
} from '../support/router-process.ts';
import { createGround, type Ground } from '../support/sites.ts';

const NORTH_THEN_SOUTH = `routing_policy:
  match: { region: north, tags: [production] }
  exclude_if:
    waiting_requests: { gt: 1000 }
    consecutive_failures: { gte: 3 }
  strategy: session-affinity
fallback_chain:
  - { name: south, match: { region: south } }
`;
const SOUTH = 'routing_policy: { match: { region: south } }\n';
const NOWHERE =
  'routing_policy: { match: { region: nowhere } }\nfallback_chain: [{ name: west, match: { region: west } }]\n';

const SESSIONS = Array.from({ length: 12 }, (_, index) => `conversation-${index}`);

let ground: Ground;
let engines: Readonly<Record<'north-1' | 'north-2' | 'south', EngineProcess>>;
let router: RouterProcess;

before(async () => {
  ground = await createGround();
});
after(() => ground.remove());

beforeEach(async () => {
  const start = (name: string) => startEngine({ name, models: ['chat'], args: ['--ttft', '2ms'] });
  const [first, second, south] = await Promise.all([start('north-1'), start('north-2'), start('south')]);
  engines = { 'north-1': first, 'north-2': second, south };
  const agents = Object.entries(engines).map(([id, { url }]) => {
    const region = id.slice(0, 5);
    return { id, engine: 'vllm', backend_url: url, capacity: 50, region, tags: ['production', id] };
  });
  const flags = ['--agents-file', ground.write('agents.yaml', JSON.stringify({ agents }))];
  router = await startRouter([...flags, '--policy-file', ground.write('policy.yaml', NORTH_THEN_SOUTH)]);
  await untilHealthy(router, 'chat', 3);
});

afterEach(async () => void (await Promise.all([router, ...Object.values(engines)].map((running) => running.kill()))));

async function ask(session: string): Promise<readonly [status: number, engine: string]> {
  const answer = await fetch(`${router.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-session-id': session },
    body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.arrayBuffer();
  return [answer.status, answer.headers.get('x-mock-engine') ?? ''];
}

/** Which engine answers each session; every answer must be a 200. */
async function homes(): Promise<readonly string[]> {
  const answers = await Promise.all(SESSIONS.map(ask));
  assert.deepEqual([...new Set(answers.map(([status]) => status))], [200]);
  return answers.map(([, engine]) => engine);
}

async function metric(series: string): Promise<number> {
  const text = await (await fetch(`${router.metricsUrl}/metrics`)).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1));
}

async function reload(policy: string): Promise<void> {
  ground.write('policy.yaml', policy);
  router.signal('SIGHUP');
  await router.line((line) => line.includes('INFO Reloaded policies'), 'stderr');
}

describe('A policy in force', () => {
  it('keeps sessions on their agents, and moves to the next ones as agents die', async () => {
    const first = await homes();
    assert.deepEqual([...new Set(first)].toSorted(), ['north-1', 'north-2']);
    assert.deepEqual(await homes(), first);
    await engines['north-1'].kill();
    assert.deepEqual(
      await homes(),
      SESSIONS.map(() => 'north-2'),
    );
    assert.equal(await metric('hivenet_policy_primary_routed_total{model="chat"}'), 3 * SESSIONS.length);
    await engines['north-2'].kill();
    assert.deepEqual(
      await homes(),
      SESSIONS.map(() => 'south'),
    );
    assert.equal(await metric('hivenet_policy_fallback_routed_total{model="chat"}'), SESSIONS.length);
  });

  it('gives way to another under load without a failed request', async () => {
    const load = new Load(router.url, 'chat', 8);
    await homes();
    await reload(SOUTH);
    const reloadedMs = performance.now();
    await homes();
    await load.stop();
    const { answered } = load;
    assert.ok(answered.every(({ status, isWhole }) => status === 200 && isWhole));
    const later = answered.filter(({ startedMs }) => startedMs > reloadedMs);
    assert.ok(later.length > 0 && later.length < answered.length, `${later.length} of ${answered.length}`);
    assert.deepEqual([...new Set(later.map(({ engine }) => engine))], ['south']);
  });

  it('answers 503 where it leaves no agent, and the log tells what each step lacked', async () => {
    await reload(NOWHERE);
    assert.deepEqual(await ask('any'), [503, '']);
    const line = await router.line((candidate) => candidate.includes('WARN No agent for a request'), 'stderr');
    assert.match(
      line,
      / model="chat" request_id="\S+" findings="routing_policy: match\.region=3 \| west: match\.region=3"/,
    );
    assert.equal(await metric('hivenet_policy_exhausted_total{model="chat"}'), 1);
  });

  it('can be no policy with a provider of which there is no key', async () => {
    const answer = await fetch(`${router.url}/admin/policy`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
      body: 'fallback_provider: { engine: openai, model: gpt-4o-mini }',
    });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /must be a provider that this router has a key of, and there is a key of none/);
    assert.deepEqual([...new Set(await homes())].toSorted(), ['north-1', 'north-2']);
  });
});
