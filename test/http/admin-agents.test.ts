// The admin API of agents. What makes a document valid, and what an agent does when it drains, is tested in test/agents.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AGENTS_MAX } from '../../src/agents/registry.ts';
import { ok } from '../../src/lib/result.ts';
import { bearer, createTestRouter, NOW_MS, type TestRouter } from '../support/test-router.ts';
import { CHAT, outcomeOf, siteA } from './redirect-fixture.ts';

const PATH = '/admin/agents';
const DOCUMENT = { engine: 'vllm', backend_url: 'http://10.0.0.9:8000', models: ['m'], capacity: 2 };

interface Shown {
  readonly id: string;
  readonly origin: string;
  readonly state: string;
  readonly reason: string;
  readonly active_requests: number;
  readonly has_api_key: boolean;
  readonly models: readonly string[];
  readonly setting: Record<string, unknown>;
}

async function statusAndBody(answer: Promise<Response>): Promise<readonly [number, Record<string, unknown>]> {
  const response = await answer;
  return [response.status, (await response.json()) as Record<string, unknown>];
}

const put = (site: TestRouter, id: string, document: unknown = DOCUMENT) =>
  site.admin('PUT', `${PATH}/${id}`, document);

async function shown(site: TestRouter, id: string): Promise<Shown> {
  const response = await site.admin('GET', `${PATH}/${id}`);
  assert.equal(response.status, 200);
  return (await response.json()) as Shown;
}

/** What a probe would do. */
const probed = (site: TestRouter, id: string) => site.ports.agents.get(id)?.reportProbe(ok(['m']));

const askM = (site: TestRouter) => outcomeOf(site.ask(CHAT, { model: 'm' }, bearer('key-1')));

describe('PUT /admin/agents/{id}', () => {
  it('is 201 for a new agent, which serves after its first good probe', async () => {
    const site = createTestRouter();
    const [status, body] = await statusAndBody(put(site, 'gpu-1'));
    assert.equal(status, 201);
    assert.deepEqual([body['id'], body['origin'], body['state']], ['gpu-1', 'push', 'starting']);
    assert.equal(await askM(site), '503 no_agents_available');
    probed(site, 'gpu-1');
    assert.equal(await askM(site), '200');
    assert.ok(site.written.some((line) => line.includes('INFO Added agent agent_id="gpu-1"')));
  });

  it('is 200 for one that it replaces, whose counters and requests stay', async () => {
    const site = createTestRouter();
    await put(site, 'gpu-1');
    const agent = site.ports.agents.get('gpu-1');
    agent?.reportProbe(ok(['m']));
    agent?.take();
    agent?.record.succeeded();
    const [status, body] = await statusAndBody(put(site, 'gpu-1', { ...DOCUMENT, models: ['x'], region: 'eu' }));
    assert.deepEqual([status, body['state'], body['active_requests']], [200, 'starting', 1]);
    assert.deepEqual([agent?.record.successes, agent?.setting.region], [1, 'eu']);
    assert.equal(await askM(site), '404 model_not_found');
  });

  it('ends a drain', async () => {
    const site = createTestRouter();
    await put(site, 'gpu-1');
    await site.admin('POST', `${PATH}/gpu-1/drain`);
    await put(site, 'gpu-1');
    assert.equal((await shown(site, 'gpu-1')).state, 'starting');
  });

  it('calls a removal off while requests still run', async () => {
    const site = createTestRouter();
    await put(site, 'gpu-1');
    const release = site.ports.agents.get('gpu-1')?.take();
    await site.admin('DELETE', `${PATH}/gpu-1`);
    assert.equal((await put(site, 'gpu-1')).status, 200);
    release?.();
    assert.equal((await shown(site, 'gpu-1')).state, 'starting');
  });

  it('refuses what is wrong with path and rule, and changes nothing', async () => {
    const site = createTestRouter();
    await put(site, 'gpu-1');
    const [status, body] = await statusAndBody(put(site, 'gpu-1', { ...DOCUMENT, capacity: 0, apikey: 'canary' }));
    assert.equal(status, 400);
    assert.equal(body['error'], 'capacity: must be a whole number from 1 to 100000; apikey: unknown field');
    assert.equal((await shown(site, 'gpu-1')).setting['capacity'], 2);
    assert.doesNotMatch(site.written.join(), /canary/);
    assert.ok(site.written.some((line) => line.includes('WARN Rejected agent rule="capacity: must be')));
    assert.equal((await put(site, 'gpu-1', '{')).status, 400);
    assert.equal((await put(site, '-gpu')).status, 400);
    assert.equal((await put(site, 'x'.repeat(129))).status, 400);
    assert.equal((await put(site, 'x'.repeat(128))).status, 201);
  });

  it('refuses an agent that a setting or the file configures, and says where it can be changed', async () => {
    const site = createTestRouter({ agents: [{ id: 'from-engine', models: ['m'] }] });
    site.ports.agents.add({ ...site.ports.agents.all()[0]?.setting, id: 'from-file' } as never, 'file');
    for (const [id, where] of [
      ['from-engine', 'it comes from --engine: change the setting and restart, or drain it'],
      ['from-file', 'it comes from --agents-file: change the file and send SIGHUP, or drain it'],
    ] as const) {
      const replaced = await statusAndBody(put(site, id));
      assert.deepEqual(replaced, [409, { error: `Cannot replace agent "${id}": ${where}` }]);
      const removed = await statusAndBody(site.admin('DELETE', `${PATH}/${id}`));
      assert.deepEqual(removed, [409, { error: `Cannot remove agent "${id}": ${where}` }]);
    }
    assert.equal(site.ports.agents.all().length, 2);
  });

  it('bounds the agents', async () => {
    const site = createTestRouter();
    const setting = { engine: 'vllm', capability: 'llm', backendUrl: 'http://h', models: ['m'], capacity: 1 } as const;
    for (let index = 1; index < AGENTS_MAX; index += 1) site.ports.agents.add({ ...setting, id: `a${index}` });
    assert.equal((await put(site, 'last')).status, 201);
    const [status, body] = await statusAndBody(put(site, 'more'));
    assert.deepEqual([status, body['error']], [409, 'Cannot add agent "more": there are 1000 already']);
    assert.equal((await put(site, 'last')).status, 200);
  });
});

describe('GET /admin/agents', () => {
  it('lists every agent with its origin and state', async () => {
    const site = createTestRouter({ agents: [{ models: ['m'] }, { models: ['n'], down: true }] });
    await put(site, 'pushed');
    const response = await site.admin('GET', PATH);
    const list = (await response.json()) as { agents: readonly Shown[]; count: number };
    assert.equal(list.count, 3);
    assert.deepEqual(
      list.agents.map(({ id, origin, state, reason }) => [id, origin, state, reason]),
      [
        ['agent-1', 'engine', 'healthy', 'probe answered'],
        ['agent-2', 'engine', 'unhealthy', 'connection refused'],
        ['pushed', 'push', 'starting', 'not probed yet'],
      ],
    );
  });

  it('never shows a key, which a push without one takes away', async () => {
    const site = createTestRouter();
    const answer = await put(site, 'a', { ...DOCUMENT, api_key: 'canary-key' });
    assert.doesNotMatch(await answer.text(), /canary/);
    for (const path of [PATH, `${PATH}/a`, '/admin/routing-table', '/admin/health', '/admin/models/m']) {
      assert.doesNotMatch(await (await site.admin('GET', path)).text(), /canary/, path);
    }
    assert.doesNotMatch(await site.ports.metrics.expose(), /canary/);
    assert.doesNotMatch(site.written.join(), /canary/);
    assert.equal((await shown(site, 'a')).has_api_key, true);
    await put(site, 'a', (await shown(site, 'a')).setting);
    assert.equal((await shown(site, 'a')).has_api_key, false);
  });

  it('is 404 for an agent that is not there, whatever the method', async () => {
    const site = createTestRouter();
    for (const [method, path] of [
      ['GET', 'none'],
      ['DELETE', 'none'],
      ['POST', 'none/drain'],
      ['DELETE', 'none/drain'],
    ] as const) {
      const [status, body] = await statusAndBody(site.admin(method, `${PATH}/${path}`));
      assert.deepEqual([status, body['error']], [404, 'No agent "none"']);
    }
  });
});

describe('GET /admin/agents/{id}', () => {
  it('tells when its probes last were good, and nothing before the first', async () => {
    const site = createTestRouter({ agents: [{ id: 'a', models: ['m'] }] });
    await put(site, 'b');
    const lastSeen = async (id: string) => (await (await site.admin('GET', `${PATH}/${id}`)).json()).last_seen;
    assert.equal(await lastSeen('a'), new Date(NOW_MS).toISOString());
    assert.equal(await lastSeen('b'), undefined);
  });

  it('repeats 128 characters of an ID that is not there', async () => {
    const [, body] = await statusAndBody(createTestRouter().admin('GET', `${PATH}/${'x'.repeat(129)}`));
    assert.equal(body['error'], `No agent "${'x'.repeat(128)}"`);
  });
});

describe('DELETE /admin/agents/{id}', () => {
  it('takes an idle agent out at once, and its series with it', async () => {
    const site = createTestRouter();
    await put(site, 'a');
    assert.equal((await site.family('hivenet_routing_agent_info')).length, 1);
    assert.deepEqual(await statusAndBody(site.admin('DELETE', `${PATH}/a`)), [
      200,
      { ok: true, state: 'gone', active_requests: 0 },
    ]);
    assert.equal((await site.admin('GET', `${PATH}/a`)).status, 404);
    assert.doesNotMatch(await site.ports.metrics.expose(), /peer_id="a"/);
  });

  it('lets requests finish first', async () => {
    const site = createTestRouter();
    await put(site, 'a');
    probed(site, 'a');
    const release = site.ports.agents.get('a')?.take();
    for (let asked = 0; asked < 2; asked += 1) {
      const answer = await statusAndBody(site.admin('DELETE', `${PATH}/a`));
      assert.deepEqual(answer, [200, { ok: true, state: 'draining', active_requests: 1 }]);
    }
    assert.equal(await askM(site), '503 no_agents_available');
    assert.equal((await site.admin('DELETE', `${PATH}/a/drain`)).status, 409);
    release?.();
    assert.equal(await askM(site), '404 model_not_found');
  });
});

describe('POST /admin/agents/{id}/drain', () => {
  it('gives the agent no new work, also a configured one, until DELETE of the same path', async () => {
    const site = createTestRouter({ agents: [{ id: 'a', models: ['m'] }] });
    assert.deepEqual(await statusAndBody(site.admin('POST', `${PATH}/a/drain`)), [
      200,
      { ok: true, state: 'draining', active_requests: 0 },
    ]);
    assert.equal(await askM(site), '503 no_agents_available');
    const { state, reason } = await shown(site, 'a');
    assert.deepEqual([state, reason], ['draining', 'drained by the admin API']);
    const [status, body] = await statusAndBody(site.admin('DELETE', `${PATH}/a/drain`));
    assert.deepEqual([status, body['state']], [200, 'starting']);
    probed(site, 'a');
    assert.equal(await askM(site), '200');
  });

  it('sends requests to a sibling: a draining agent counts as absent (D-03)', async () => {
    const site = siteA({ agents: [{ id: 'a', models: ['m'] }] });
    assert.equal(await askM(site), '200');
    await site.admin('POST', `${PATH}/a/drain`);
    assert.equal(await askM(site), '307 model_redirected');
  });
});

describe('/admin/agents', () => {
  it('is for admin keys', async () => {
    const site = createTestRouter({ agents: [{ id: 'a', models: ['m'] }] });
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/a'],
      ['PUT', '/b'],
      ['DELETE', '/a'],
      ['POST', '/a/drain'],
    ] as const) {
      assert.equal((await site.send(PATH + path, { method })).status, 401);
      assert.equal((await site.send(PATH + path, { method, headers: bearer('key-1') })).status, 401);
    }
    assert.equal((await shown(site, 'a')).state, 'healthy');
  });

  it('has no ID in a metric’s route (R-200)', async () => {
    const site = createTestRouter();
    await site.admin('POST', `${PATH}/made-up/drain`);
    const lines = await site.family('http_server_request_duration_seconds_count');
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /route="\/admin\/agents\/\{id\}\/drain"/);
  });

  it('is 405 for other methods (E10)', async () => {
    const site = createTestRouter();
    const allow = async (method: string, path: string) =>
      (await site.admin(method, PATH + path, {})).headers.get('allow');
    assert.equal(await allow('POST', ''), 'GET, HEAD');
    assert.equal(await allow('POST', '/a'), 'GET, HEAD, PUT, DELETE');
    assert.equal(await allow('PUT', '/a/drain'), 'POST, DELETE');
  });
});
