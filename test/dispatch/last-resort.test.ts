import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { DispatchRequest } from '../../src/dispatch/dispatch.ts';
import { lastResortOf } from '../../src/dispatch/last-resort.ts';
import type { ProviderAccount } from '../../src/dispatch/providers/provider.ts';
import { parsePolicy } from '../../src/policy/document.ts';
import { planOf } from '../../src/policy/plan.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { ENDPOINTS } from '../../src/routing/endpoint.ts';
import { type Answer, deadUrl, json, openStream, silent, startEngine, startRawEngine, stopEngines } from './engines.ts';
import { eventStream, goldenCases, goldenStreams, modelBody } from './providers/golden.ts';
import { EVENTS } from './providers/pairs.ts';
import { settled } from './streaming.ts';
import {
  endpointOf,
  failureOf,
  MODEL,
  REQUEST_TIMEOUT_MS,
  responseOf,
  STREAM_IDLE_MS,
  slots,
  testSite,
  textReader,
} from './test-site.ts';

afterEach(stopEngines);

const WITH_OPENAI = 'fallback_provider: {engine: openai, model: target}';
const KEYED = new Set(['openai', 'anthropic'] as const);

function policyOf(text: string): Policy {
  const policy = parsePolicy(text, 'global', KEYED);
  if (!policy.ok) assert.fail(policy.fault.join('\n'));
  return policy.value;
}

const good = json(200, { id: 'good', usage: { prompt_tokens: 3, completion_tokens: 5 } });
const QUESTION = `{"model":"${MODEL}","messages":[{"role":"user","content":"Hi"}]}`;

interface Settings {
  readonly policy?: string;
  readonly queueDepth?: number;
  readonly account?: Partial<ProviderAccount>;
}

/** A site of one-slot agents with such engines, and a provider of OpenAI's dialect behind its policy. */
async function siteOf(engines: readonly string[], answer: Answer, settings: Settings = {}) {
  const provider = await startEngine(answer);
  const { policy = WITH_OPENAI, queueDepth = 0, account } = settings;
  const policies = { global: policyOf(policy), documents: new Map() };
  const accounts = [{ dialect: 'openai', baseUrl: provider.url, apiKey: 'sk-operator', ...account } as const];
  const site = testSite(engines, { capacity: 1, queueDepth, policies, accounts });
  const ask = (request: Partial<DispatchRequest> = {}) => site.ask({ ...modelBody(QUESTION), ...request });
  return { ...site, provider, ask };
}

describe('lastResortOf()', () => {
  it('is for chats and messages alone, and where the plan names a provider (routing.md, trap 26)', () => {
    const resortsOf = (text: string) =>
      ENDPOINTS.flatMap((endpoint) => lastResortOf(planOf(policyOf(text), 3), endpoint) ?? []);
    assert.deepEqual(
      resortsOf(WITH_OPENAI).map(({ endpoint, engine, model }) => [endpoint.path, engine, model]),
      [
        ['/v1/chat/completions', 'openai', 'target'],
        ['/v1/messages', 'openai', 'target'],
      ],
    );
    assert.deepEqual(resortsOf('{}'), []);
  });
});

describe('dispatch() with a provider', () => {
  const dead = 'http://127.0.0.1:9';
  const exhaustions: readonly (readonly [why: string, engines: readonly Answer[], policy: string, lacks: string])[] = [
    ['no agent lists the model', [], '', 'no agents'],
    [
      'every agent is held back by a gate (R-023)',
      [good],
      'exclude_if: {capacity_utilization: {gte: 0}}',
      'exclude_if.capacity_utilization=1',
    ],
    ['no agent matches', [good], 'match: {region: north}', 'match.region=1'],
    ['every try failed', [json(500, {}), json(500, {})], 'max_tries: 2', 'max_tries=2'],
  ];
  for (const [why, answers, step, lacks] of exhaustions) {
    it(`asks it when ${why}, once, under its own name of the model`, async () => {
      const engines = await Promise.all(answers.map(startEngine));
      const policy = `routing_policy: {${step}}\n${WITH_OPENAI}`;
      const site = await siteOf(
        engines.map(({ url }) => url),
        good,
        { policy },
      );
      const outcome = await site.ask();
      assert.equal(outcome.by, 'openai');
      assert.equal(
        await responseOf(outcome).text(),
        JSON.stringify({ id: 'good', usage: { prompt_tokens: 3, completion_tokens: 5 } }),
      );
      assert.deepEqual(site.lacks, [`routing_policy: ${lacks}`]);
      assert.deepEqual([site.routed, site.exhausted, site.providerHeads], [['provider'], [], ['openai 200']]);
      const [seen, second] = site.provider.seen;
      assert.equal(String(seen?.body), QUESTION.replace('"m"', '"target"'));
      assert.equal(seen?.headers['authorization'], 'Bearer sk-operator');
      assert.equal(second, undefined);
      assert.deepEqual(
        site.ends.map(({ status, outcome: how, reading }) => [status, how, reading.use]),
        [[200, 'complete', { inputTokens: 3, outputTokens: 5 }]],
      );
      assert.ok(slots(site).every((used) => used === 0));
      assert.equal(site.timers.pending, 0);
    });
  }

  it('asks it when the engine is gone, and when its connection broke before an answer', async () => {
    const gone = await siteOf([await deadUrl()], good);
    assert.equal((await gone.ask()).by, 'openai');
    const broken = await startRawEngine((socket) => socket.destroy());
    const site = await siteOf([broken.url], good);
    assert.equal((await site.ask()).by, 'openai');
    assert.deepEqual(site.failedTries, ['agent-0: connection failed: ECONNRESET']);
  });

  it('asks it when no engine of the model has the endpoint', async () => {
    const site = await siteOf([dead], json(200, goldenCases('answer-to-anthropic')[0]?.in));
    for (const agent of site.agents) agent.reconfigure({ ...agent.setting, engine: 'infinity' });
    const outcome = await site.ask({
      endpoint: endpointOf('/v1/messages'),
      ...modelBody(QUESTION.replace('{', '{"max_tokens":9,')),
    });
    assert.equal(outcome.by, 'openai');
    assert.equal(responseOf(outcome).status, 200);
  });

  it('asks it when the line of those who wait is full, and not before (routing.md §19)', async () => {
    const engine = await startEngine(silent);
    const site = await siteOf([engine.url], good, { queueDepth: 1 });
    const running = site.ask();
    await engine.nextRequest();
    const waiting = site.ask();
    await settled();
    assert.equal(site.provider.seen.length, 0);
    assert.equal((await site.ask()).by, 'openai');
    site.client.abort();
    await Promise.all([running, waiting]);
    assert.equal(site.provider.seen.length, 1);
  });

  it('asks it for those who wait once their last agent is gone', async () => {
    const engine = await startEngine(silent);
    const site = await siteOf([engine.url], good, { queueDepth: 1 });
    site.agents[0]?.take();
    const waiting = site.ask();
    await settled();
    site.agents[0]?.reportConnectionRefused();
    site.timers.advance(1_000);
    assert.equal((await waiting).by, 'openai');
  });

  it('never asks it for a count of tokens, an embedding or a rerank (routing.md, trap 26)', async () => {
    const site = await siteOf([], good);
    for (const path of ['/v1/messages/count_tokens', '/v1/embeddings', '/v1/rerank']) {
      assert.equal((await failureOf(site.ask({ endpoint: endpointOf(path) })))[0], 'no_agents_available');
    }
    assert.equal(site.provider.seen.length, 0);
    assert.deepEqual(site.exhausted, [MODEL, MODEL, MODEL]);
  });

  it('asks nobody once the request timeout has passed in the queue, or the client has left', async () => {
    const site = await siteOf([dead], good, { queueDepth: 2 });
    site.agents[0]?.take();
    const late = failureOf(site.ask());
    await settled();
    site.timers.advance(REQUEST_TIMEOUT_MS);
    assert.equal((await late)[0], 'request_timeout');
    const left = failureOf(site.ask());
    await settled();
    site.client.abort();
    assert.equal((await left)[0], 'client_gone');
    assert.deepEqual([site.provider.seen.length, site.exhausted, site.lacks], [0, [], []]);
  });

  it('ends by its failure: 502, or 503 with the pause it asks for when it is only busy', async () => {
    const broken = await siteOf([], json(500, { error: { message: 'It broke' } }));
    assert.deepEqual(await failureOf(broken.ask()), ['backend_error', 'The provider OpenAI failed: It broke']);
    assert.deepEqual(broken.failedTries, ['openai: OpenAI: status 500']);
    assert.deepEqual([broken.exhausted, broken.routed, broken.providerHeads], [[MODEL], [], ['openai 500']]);
    const busy = await siteOf([], json(429, { error: { message: 'Slow down' } }, { 'retry-after': '7' }));
    assert.deepEqual(await busy.ask(), {
      kind: 'failed',
      code: 'backend_unavailable',
      message: 'The provider OpenAI failed: Slow down',
      retryAfterS: 7,
      by: 'openai',
    });
    const away = await siteOf([], good, { account: { baseUrl: await deadUrl() } });
    assert.deepEqual(await failureOf(away.ask()), [
      'backend_error',
      'The provider OpenAI failed: it refuses connections.',
    ]);
    assert.deepEqual(away.providerHeads, ['openai 0']);
    for (const site of [broken, busy, away]) assert.equal(site.timers.pending, 0);
  });

  it('is the client\u2019s fault when the request cannot be converted, in a sentence that names the member', async () => {
    const site = await siteOf([], good);
    const body = modelBody(QUESTION.replace('{', '{"max_tokens":9,"top_k":1,'));
    assert.deepEqual(await failureOf(site.ask({ endpoint: endpointOf('/v1/messages'), ...body })), [
      'request_invalid',
      'The request cannot be converted for OpenAI: "top_k" has no counterpart.',
    ]);
    assert.deepEqual([site.provider.seen.length, site.exhausted], [0, [MODEL]]);
  });

  it('passes its finding against the request on as an answer (E8)', async () => {
    const site = await siteOf([], json(400, { error: { message: 'too long' } }));
    const outcome = await site.ask();
    assert.equal(responseOf(outcome).status, 400);
    assert.deepEqual([site.routed, site.exhausted], [['provider'], []]);
  });

  it('counts the tokens of a converted stream whose client does not ask for them', async () => {
    const [stream] = goldenStreams('stream-to-openai');
    const body = eventStream('anthropic', stream?.in ?? []);
    const site = await siteOf([], (response) => void response.writeHead(200, EVENTS).end(body), {
      policy: 'fallback_provider: {engine: anthropic, model: target}',
      account: { dialect: 'anthropic' },
    });
    const outcome = await site.ask(modelBody(QUESTION.replace('{', '{"stream":true,')));
    assert.match(await responseOf(outcome).text(), /data: \[DONE\]\n\n$/);
    assert.deepEqual(
      site.ends.map(({ outcome: how, reading }) => [how, reading]),
      [['complete', { use: { inputTokens: 33, outputTokens: 7 }, lastWord: 'said', seenTokens: 2 }]],
    );
  });

  it('ends with the client and the router, within a stream too, and the provider is blamed for its silence alone', async () => {
    for (const how of ['leaves', 'waits', 'stops'] as const) {
      const stream = openStream();
      const site = await siteOf([], stream.answer);
      const asking = site.ask();
      (await stream.started).write('data: 1\n\n');
      const { read } = textReader(await asking);
      await read();
      const rest = read();
      await settled();
      if (how === 'leaves') site.client.abort();
      else if (how === 'stops') site.shutdown.abort();
      else site.timers.advance(STREAM_IDLE_MS);
      await site.provider.seen[0]?.abandoned;
      const expected = how === 'leaves' ? [499, 'client_gone'] : [200, 'broken'];
      assert.deepEqual(
        site.ends.map(({ status, outcome }) => [status, outcome]),
        [expected],
      );
      if (how === 'stops') assert.match((await rest) ?? '', /shutting_down/);
      if (how === 'waits') assert.match((await rest) ?? '', /The provider sent nothing within the idle timeout/);
    }
  });

  it('ends at the request timeout, counted neither as routed nor as exhausted', async () => {
    const site = await siteOf([], silent);
    const asking = failureOf(site.ask());
    const seen = await site.provider.nextRequest();
    site.timers.advance(REQUEST_TIMEOUT_MS);
    assert.equal((await asking)[0], 'request_timeout');
    await seen.abandoned;
    assert.deepEqual(
      [site.routed, site.exhausted, site.providerHeads],
      [[], [], [`openai 0 after ${REQUEST_TIMEOUT_MS / 1000} s`]],
    );
  });

  it('is blamed for its silence before the first event, too', async () => {
    const stream = openStream();
    const site = await siteOf([], stream.answer);
    const asking = failureOf(site.ask());
    await stream.started;
    // The limit is the stream's once its head is read.
    while (site.providerHeads.length === 0) await settled();
    await settled();
    site.timers.advance(STREAM_IDLE_MS);
    assert.deepEqual(await asking, ['request_timeout', 'The provider sent nothing within the idle timeout.']);
  });

  it('is as without one when the router has no account there', async () => {
    const site = await siteOf([], good, { account: { dialect: 'anthropic' } });
    assert.equal((await failureOf(site.ask()))[0], 'no_agents_available');
    assert.deepEqual(site.exhausted, [MODEL]);
  });
});
