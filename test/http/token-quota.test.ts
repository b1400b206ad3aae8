// Tokens per day, from the HTTP side: reserved when a request goes to an agent, settled with what its engine said, or with
// what was seen (docs/keys.md).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EngineFetch } from '../../src/agents/engine-fetch.ts';
import type { DailyBudgets } from '../../src/quota/daily-budget.ts';
import { FakeTimers } from '../agents/fake-timers.ts';
import { eventually } from '../support/eventually.ts';
import { FIXTURE_MAP, type TestRouter } from '../support/test-router.ts';
import { ASK, answering, events, limitedSite, refusing, streamingEngine, toldOf, USED } from './limits-fixture.ts';
import { CHAT, CHAT_BODY, readWhole } from './redirect-fixture.ts';

/** 64 bytes of text: 20 tokens as estimated at first. */
const PROMPT = 'x'.repeat(64);
const body = (more: object = {}) => ({ model: 'm', messages: [{ content: PROMPT }], ...more });
const LIMITED = { status: 429, code: 'token_limit_exceeded' };

/** Tokens that the day still has, as a request for one token and no prompt would be told. */
async function left(site: TestRouter): Promise<number> {
  const probe = await toldOf(site.ask(CHAT, { model: 'm', messages: [], max_tokens: 1_000_000 }, ASK));
  assert.equal(probe['status'], 429);
  return Number(probe['tokens']);
}

describe('tokens per day', () => {
  it('are told as left without what is reserved, and settled as the engine says before a short answer leaves', async () => {
    const site = limitedSite({ tokens_per_day: 1_000 });
    assert.deepEqual(await toldOf(site.ask(CHAT, body({ max_tokens: 100 }), ASK)), { status: 200, tokens: '985' });
    assert.equal(await left(site), 985);
  });

  it('are told without the reservation while a stream runs', async () => {
    const engine = streamingEngine();
    const site = limitedSite({ tokens_per_day: 1_000 }, { engine: engine.fetch });
    const asking = site.ask(CHAT, body({ max_tokens: 100, stream: true }), ASK);
    await Promise.resolve();
    setTimeout(() => engine.write(events('a')), 0);
    const response = await asking;
    assert.equal(response.headers.get('x-ratelimit-remaining-tokens'), '880');
    engine.close();
    await readWhole(response);
  });

  it('hold up to 4,096 tokens for a request that declares no output, and need only its prompt', async () => {
    const engine = streamingEngine();
    const site = limitedSite({ tokens_per_day: 10_000 }, { engine: engine.fetch });
    const asking = site.ask(CHAT, body(), ASK);
    setTimeout(() => engine.write(events('a')), 0);
    assert.equal((await asking).headers.get('x-ratelimit-remaining-tokens'), String(10_000 - 20 - 4_096));
    const small = limitedSite({ tokens_per_day: 20 });
    assert.equal((await small.ask(CHAT, body(), ASK)).status, 200);
  });

  it('count the output of each of n answers, declared or not', async () => {
    const site = limitedSite({ tokens_per_day: 1_000 });
    const told = await toldOf(site.ask(CHAT, body({ max_tokens: 99, n: 10 }), ASK));
    assert.deepEqual(told, { ...LIMITED, tokens: '1000', retryAfter: '86400', shouldRetry: 'false' });
    assert.equal((await site.ask(CHAT, body({ max_tokens: 98, n: 10 }), ASK)).status, 200);
    const engine = streamingEngine();
    const large = limitedSite({ tokens_per_day: 100_000 }, { engine: engine.fetch });
    const asking = large.ask(CHAT, body({ n: 10 }), ASK);
    setTimeout(() => engine.write(events('a')), 0);
    const { headers } = await asking;
    assert.equal(headers.get('x-ratelimit-remaining-tokens'), String(100_000 - 20 - 10 * 4_096));
  });

  it('are told as left when a request failed at its agent, too', async () => {
    const hanging: EngineFetch = (_url, { signal }) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    for (const [engine, status] of [
      [answering({ detail: 'no' }, 500), 502],
      [answering({ detail: 'no' }, 429), 503],
      [answering({ detail: 'no' }, 400), 400],
      [hanging, 504],
    ] as const) {
      const timers = new FakeTimers();
      const site = limitedSite({ tokens_per_day: 1_000, requests_per_minute: 9 }, { engine, requestTimers: timers });
      const asking = toldOf(site.ask(CHAT, body({ max_tokens: 900 }), ASK));
      if (status === 504) {
        await eventually('the engine is asked', async () => (site.engineCalls.length > 0 ? true : undefined));
        timers.advance(3_600_000);
      }
      const { status: got, tokens, requests } = await asking;
      assert.deepEqual([got, tokens, requests], [status, '1000', '8']);
    }
  });

  it('are not told of a request that reached no agent', async () => {
    const site = limitedSite({ tokens_per_day: 1_000 }, { engine: refusing });
    const told = await toldOf(site.ask(CHAT, body({ max_tokens: 900 }), ASK));
    assert.deepEqual([told['status'], told['tokens']], [503, undefined]);
  });

  it('refuse what does not fit, tell what is left, and give the request back', async () => {
    const site = limitedSite({ tokens_per_day: 119, requests_per_minute: 1 });
    const tooMuch = { ...LIMITED, tokens: '119', retryAfter: '86400', shouldRetry: 'false' };
    for (let count = 0; count < 3; count += 1) {
      assert.deepEqual(await toldOf(site.ask(CHAT, body({ max_tokens: 100 }), ASK)), tooMuch);
    }
    assert.deepEqual(await toldOf(site.ask(CHAT, body({ max_tokens: 99 }), ASK)), {
      status: 200,
      requests: '0',
      tokens: '104',
    });
    const limited =
      'hivenet_tenant_token_limited_total{tenant_id="acme",key_id="limited",deployment_id="unset",phase="input"}';
    assert.equal(await site.metric(limited), 3);
    assert.equal(site.engineCalls.length, 1);
  });

  it('come back at midnight UTC, and the answer says in how many seconds', async () => {
    const site = limitedSite({ tokens_per_day: 40 });
    for (const tokens of ['25', '10']) assert.equal((await toldOf(site.ask(CHAT, body(), ASK)))['tokens'], tokens);
    // Noon.
    assert.deepEqual(await toldOf(site.ask(CHAT, body(), ASK)), { ...LIMITED, tokens: '10', retryAfter: '43200' });
    site.nowMs += 43_200_000 - 1;
    assert.equal((await toldOf(site.ask(CHAT, body(), ASK)))['retryAfter'], '1');
    site.nowMs += 1;
    assert.deepEqual(await toldOf(site.ask(CHAT, body(), ASK)), { status: 200, tokens: '25' });
  });

  it('make a request wait a second for those that others hold', async () => {
    const engine = streamingEngine();
    const site = limitedSite({ tokens_per_day: 200 }, { engine: engine.fetch });
    const running = site.ask(CHAT, body({ max_tokens: 100 }), ASK);
    setTimeout(() => engine.write(events('a')), 0);
    await running;
    const told = await toldOf(site.ask(CHAT, body({ max_tokens: 100 }), ASK));
    assert.deepEqual(told, { ...LIMITED, tokens: '80', retryAfter: '1' });
  });

  it('serve exactly ten of 100 parallel requests when ten are left', async () => {
    const agents = [{ models: ['m'], capacity: 100 }];
    const site = limitedSite({ tokens_per_day: 10 * 120 + 119 }, { agents });
    const asking = Array.from({ length: 100 }, () => toldOf(site.ask(CHAT, body({ max_tokens: 100 }), ASK)));
    const answers = await Promise.all(asking);
    assert.equal(answers.filter(({ status }) => status === 200).length, 10);
    assert.equal(site.engineCalls.length, 10);
    // Only what was used stays used.
    assert.equal(await left(site), 10 * 120 + 119 - 10 * 15);
  });

  it('are not asked of counting, embedding and reranking', async () => {
    const agents = (['llm', 'embedding', 'reranker'] as const).map((capability) => ({ models: ['m'], capability }));
    const site = limitedSite({ tokens_per_day: 1 }, { agents });
    for (const path of ['/v1/messages/count_tokens', '/v1/embeddings', '/v1/rerank']) {
      assert.deepEqual(await toldOf(site.ask(path, body(), ASK)), { status: 200 });
    }
    assert.deepEqual((await toldOf(site.ask('/v1/messages', body(), ASK)))['code'], 'token_limit_exceeded');
  });

  it('are those of each model under limits per model', async () => {
    const limit = { requests_per_minute_per_replica: 0, tokens_per_day: 30 };
    const site = limitedSite({ per_model: { m: limit, n: limit } }, { agents: [{ models: ['m', 'n'] }] });
    assert.equal((await toldOf(site.ask(CHAT, body(), ASK)))['tokens'], '15');
    assert.equal((await toldOf(site.ask(CHAT, body(), ASK)))['status'], 429);
    assert.equal((await toldOf(site.ask(CHAT, body({ model: 'n' }), ASK)))['tokens'], '15');
  });
});

/** A client that left is neither a success nor a failure of the site, but its tokens are used (docs/keys.md). */
function counted(site: TestRouter) {
  const labels = 'tenant_id="acme",key_id="limited",deployment_id="",model="m"';
  const families = ['requests_success', 'requests_failed', 'input_tokens', 'output_tokens'];
  return Promise.all(families.map((name) => site.metric(`hivenet_tenant_${name}_total{${labels}}`)));
}

describe('what a request is charged of them', () => {
  const DAY = 10_000;
  const NO_USE = { choices: [{ message: { content: 'twenty bytes of text' } }] };
  const cases: readonly (readonly [string, EngineFetch, number])[] = [
    ['what the engine said', answering(), 15],
    ['also beyond what was reserved', answering({ usage: { prompt_tokens: 10, completion_tokens: 5_000 } }), 5_010],
    ['the estimate and what was seen, when it said nothing', answering(NO_USE), 25],
    ['nothing when it found fault', answering({ detail: 'no' }, 400), 0],
    ['nothing when it failed', answering({ detail: 'no' }, 500), 0],
  ];
  for (const [what, engine, used] of cases) {
    it(`is ${what}`, async () => {
      const site = limitedSite({ tokens_per_day: DAY }, { engine });
      await site.ask(CHAT, body({ max_tokens: 100 }), ASK);
      assert.equal(await left(site), DAY - used);
    });
  }

  const TOLD = `data: ${JSON.stringify({ choices: [], usage: USED.usage })}\n\n`;
  const streams: readonly (readonly [string, readonly string[], 'end' | 'leave', number])[] = [
    ['of a stream: what its last event says', [events('a', 'b'), TOLD, 'data: [DONE]\n\n'], 'end', 15],
    ['of a stream without usage: the estimate and what was seen', [events('a', 'b'), 'data: [DONE]\n\n'], 'end', 22],
    ['of a stream that the client cut: what it had seen', [events('a', 'b', 'c')], 'leave', 23],
    ['of one that it cut on the last word: what the engine said', [events('a'), TOLD, 'data: [DONE]\n\n'], 'leave', 15],
  ];
  for (const [what, parts, how, used] of streams) {
    it(`is, ${what}`, async () => {
      const engine = streamingEngine();
      const site = limitedSite({ tokens_per_day: DAY }, { engine: engine.fetch });
      const asking = site.ask(CHAT, body({ stream: true, max_tokens: 100 }), ASK);
      setTimeout(() => engine.write(parts.join('')), 0);
      const response = await asking;
      const reader = response.body?.getReader();
      await reader?.read();
      if (how === 'leave') await reader?.cancel();
      else {
        engine.close();
        while ((await reader?.read())?.done === false);
      }
      assert.equal(await left(site), DAY - used);
      if (what.includes('client cut')) assert.deepEqual(await counted(site), [undefined, undefined, 20, 3]);
    });
  }

  it('is what was seen of a stream that ends without its last word, though its engine had begun to count', async () => {
    const engine = streamingEngine();
    const site = limitedSite({ tokens_per_day: DAY }, { engine: engine.fetch });
    const asking = site.ask('/v1/messages', body({ stream: true, max_tokens: 100 }), ASK);
    const usage = { input_tokens: 7, output_tokens: 1 };
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'abcd' } };
    const begun = [{ type: 'message_start', message: { usage } }, ...Array(30).fill(delta)];
    setTimeout(() => {
      engine.write(begun.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
      engine.close();
    }, 0);
    await readWhole(await asking);
    assert.equal(await left(site), DAY - 7 - 30);
  });

  it('is its prompt when the client leaves before the answer', async () => {
    const client = new AbortController();
    const hanging: EngineFetch = (_url, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
        client.abort();
      });
    const site = limitedSite({ tokens_per_day: DAY, requests_per_minute: 2 }, { engine: hanging });
    const init = {
      method: 'POST',
      headers: ASK,
      body: JSON.stringify(body({ max_tokens: 100 })),
      signal: client.signal,
    };
    assert.equal((await site.send(CHAT, init)).status, 499);
    assert.equal(await left(site), DAY - 20);
    assert.deepEqual(await counted(site), [undefined, undefined, 20, 0]);
  });

  it('is nothing when nobody was there, and the budget is as if it had never been asked', async () => {
    const site = limitedSite({ tokens_per_day: DAY }, { engine: refusing });
    assert.equal((await site.ask(CHAT, body(), ASK)).status, 503);
    assert.equal((site.ports.quotas.tokens as DailyBudgets).size, 0);
  });

  it('goes to the day of its dispatch', async () => {
    const engine = streamingEngine();
    const site = limitedSite({ tokens_per_day: DAY }, { engine: engine.fetch });
    const asking = site.ask(CHAT, body({ stream: true, max_tokens: 100 }), ASK);
    setTimeout(() => engine.write(TOLD), 0);
    const response = await asking;
    site.nowMs += 86_400_000;
    engine.close();
    await readWhole(response);
    assert.equal(await left(site), DAY);
    site.nowMs -= 86_400_000;
    assert.equal(await left(site), DAY - 15);
  });

  it('is nothing for a redirect, and no budget is even looked at (R-027)', async () => {
    const on = { siteId: 'site-fr-1', map: FIXTURE_MAP, agents: [] };
    const site = limitedSite({ tokens_per_day: 1 }, on);
    assert.equal((await site.ask(CHAT, CHAT_BODY, ASK)).status, 307);
    assert.equal((site.ports.quotas.tokens as DailyBudgets).size, 0);
  });
});
