// When a provider is asked, through the binary: an agent that dies under load, a sibling that comes first, agents that a
// gate holds back; and policies that name a provider of which there is no key.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Answer, bytes, json, startEngine as startProvider, stopEngines } from '../dispatch/engines.ts';
import { eventStream, goldenCases, goldenStreams } from '../dispatch/providers/golden.ts';
import { BARE_ENV, BINARY, run } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import { Load } from '../support/load.ts';
import {
  ADMIN_KEY,
  engineFlags,
  type RouterProcess,
  startEngine,
  startRouter,
  untilHealthy,
  untilServing,
} from '../support/router-process.ts';
import { createGround, type Ground, keyDocument, mapDocument, push, startSite } from '../support/sites.ts';

const BEHIND_ALL = 'fallback_provider: {engine: openai, model: target}\n';
const QUESTION = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10 };
const ADMIN = { authorization: `Bearer ${ADMIN_KEY}` };

let ground: Ground;
const running: { kill(): Promise<unknown> }[] = [];
before(async () => {
  ground = await createGround();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.kill()));
  stopEngines();
});
after(() => ground.remove());

const openai: Answer = (response, request) => {
  const events = eventStream('openai', goldenStreams('stream-to-anthropic')[0]?.in ?? []);
  const isStream = JSON.parse(String(request.body)).stream === true;
  const whole = json(200, goldenCases('answer-to-anthropic')[0]?.in);
  (isStream ? bytes(200, events, { 'content-type': 'text/event-stream' }) : whole)(response, request);
};

function keep<Process extends { kill(): Promise<unknown> }>(process: Process): Process {
  running.push(process);
  return process;
}

/** A router with this policy and OpenAI's stand-in. */
async function routerWith(policy: string, url: string, args: readonly string[] = []): Promise<RouterProcess> {
  const flags = ['--policy-file', ground.write('policy.yaml', policy), '--openai-base-url', `${url}/v1`, ...args];
  return keep(await startRouter(flags, { HIVENET_ROUTER_OPENAI_API_KEY: 'sk-of-the-operator' }));
}

function ask({ url }: { readonly url: string }, model: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model, ...QUESTION }),
    redirect: 'manual',
    ...init,
  });
}

describe('An agent that dies under load with a provider behind it', () => {
  it('costs at most the streams that it had begun, and comes back to its requests', { timeout: 25_000 }, async () => {
    const provider = await startProvider(openai);
    const args = ['--ttft', '10ms', '--tokens-per-second', '200'];
    const engine = keep(await startEngine({ name: 'only', models: ['chat'], args }));
    const router = await routerWith(BEHIND_ALL, provider.url, engineFlags([engine]));
    await untilHealthy(router, 'chat', 1);
    const load = new Load(router.url, 'chat', 24);
    await eventually('answers of the agent', () => load.answered.length > 24 || undefined);
    await engine.kill();
    await eventually('answers of the provider', () => {
      return load.answered.filter(({ engine: name }) => name === '').length > 200 || undefined;
    });
    const { port } = new URL(engine.url);
    keep(await startEngine({ name: 'again', models: ['chat'], args, port: Number(port) }));
    await eventually('answers of the agent again', () => {
      return load.answered.some(({ engine: name }) => name === 'again') || undefined;
    });
    await load.stop();
    const lost = load.answered.filter(({ isWhole }) => !isWhole);
    assert.ok(lost.length <= 10, `${lost.length} lost`);
    assert.deepEqual(
      lost.map(({ isStream, status, engine: name }) => [isStream, status, name]),
      lost.map(() => [true, 200, 'only']),
      'only a stream that had begun is lost',
    );
    assert.ok(provider.seen.length > 200);
  });
});

describe('A request with a provider behind its policy', () => {
  it('goes to a sibling first, and to the provider where there is none (R-032, R-033)', async () => {
    const provider = await startProvider(openai);
    const key = { id: 'key-1', secret: 'sk-of-a-client' };
    const site = keep(
      await startSite(ground, {
        id: 'site-fr-1',
        domain: 'sites.localhost',
        engines: [],
        secrets: `k1:${'s'.repeat(32)}`,
        adminKey: ADMIN_KEY,
        args: ['--policy-file', ground.write('policy.yaml', BEHIND_ALL), '--openai-base-url', `${provider.url}/v1`],
        env: { HIVENET_ROUTER_OPENAI_API_KEY: 'sk-of-the-operator' },
      }),
    );
    const sibling = { id: 'site-fr-2', url: 'https://site-fr-2.sites.localhost' };
    await push(site, '/admin/api-keys/replace', keyDocument([key]));
    const entries = [
      { site, models: {} },
      { site: sibling, models: { placed: 'chat' } },
    ] as const;
    await push(site, '/admin/sibling-map', mapDocument(1, entries));
    const init = { headers: { authorization: `Bearer ${key.secret}` }, tls: { ca: ground.ca } };
    assert.equal((await ask(site, 'placed', init)).status, 307);
    assert.equal(provider.seen.length, 0);
    assert.equal((await ask(site, 'elsewhere', init)).status, 200);
    assert.equal(provider.seen.length, 1);
    assert.ok(!JSON.stringify(provider.seen[0]?.headers).includes(key.secret));
  });

  it('is answered by the provider while gates hold every agent back, and by no count of tokens', async () => {
    const provider = await startProvider(openai);
    const engine = keep(await startEngine({ name: 'held', models: ['chat'] }));
    const policy = `routing_policy: {match: {region: nowhere}}\n${BEHIND_ALL}`;
    const router = await routerWith(policy, provider.url, engineFlags([engine]));
    await untilServing(router, ['chat']);
    const response = await ask(router, 'chat');
    assert.deepEqual([response.status, response.headers.get('x-mock-engine')], [200, null]);
    const line = await router.line((text) => text.includes('WARN No agent for a request'), 'stderr');
    assert.match(line, / findings="routing_policy: match\.region=1"$/);
    const count = await fetch(`${router.url}/v1/messages/count_tokens`, {
      method: 'POST',
      body: JSON.stringify({ model: 'chat', ...QUESTION }),
    });
    assert.equal(count.status, 503);
    assert.equal(provider.seen.length, 1);
  });
});

describe('A policy that names a provider without a key', () => {
  const rule = /must be a provider that this router has a key of, which are (openai|anthropic)/;

  it('refuses the start', async () => {
    const file = ground.write('keyless.yaml', BEHIND_ALL);
    const { code, stderr } = await run([BINARY, '--policy-file', file], {
      ...BARE_ENV,
      HIVENET_ROUTER_ADMIN_API_KEYS: ADMIN_KEY,
      HIVENET_ROUTER_ANTHROPIC_API_KEY: 'sk-of-the-operator',
    });
    assert.equal(code, 1);
    assert.match(stderr.join('\n'), rule);
  });

  it('is refused by PUT and by SIGHUP, and nothing changes', async () => {
    const provider = await startProvider(openai);
    const router = await routerWith(BEHIND_ALL, provider.url);
    const other = BEHIND_ALL.replace('openai', 'anthropic');
    for (const [path, text] of [
      ['/admin/policy', other],
      ['/admin/policy/models/of-chat', `models: [chat]\n${other}`],
    ] as const) {
      const put = await fetch(router.url + path, { method: 'PUT', headers: ADMIN, body: text });
      assert.equal(put.status, 400);
      assert.match(await put.text(), rule);
    }
    ground.write('policy.yaml', other);
    router.signal('SIGHUP');
    assert.match(await router.line((text) => text.includes('ERROR Cannot reload policies'), 'stderr'), rule);
    assert.equal((await ask(router, 'chat')).status, 200);
  });
});
