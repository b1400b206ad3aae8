// Two sites that share their keys, over HTTPS: whatever a client does, the site that redirects charges nothing and the site
// that serves charges once.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type EngineProcess, manyAgents, startEngine, untilServing } from '../support/router-process.ts';
import { createGround, type Ground, mapDocument, push, type SiteProcess, startSite } from '../support/sites.ts';

const DOMAIN = 'quotas.localhost';
const PATH = '/v1/chat/completions';
const DAY = 1_000_000;
const PARALLEL = 100;

let ground: Ground;
let engines: readonly EngineProcess[];
let first: SiteProcess;
let second: SiteProcess;

/** Keys by ID, each with an owner of its own: their secrets are `sk-ID`. */
const KEYS = {
  daily: { tokens_per_day: DAY },
  three: { requests_per_minute: 3 },
  ten: { requests_per_minute: 10 },
  /** Ten requests of 108 to 110 tokens, and not one more. */
  burst: { tokens_per_day: 1_150 },
  choices: { tokens_per_day: 1_150 },
} as const;

function keyDocument(): object {
  const keys = Object.entries(KEYS).map(([id, quota]) => ({
    id,
    key_hash: createHash('sha256').update(`sk-${id}`).digest('hex'),
    owner: `owner-of-${id}`,
    name: id,
    enabled: true,
    quota,
  }));
  return { version: '1', keys };
}

before(async () => {
  ground = await createGround();
  engines = await Promise.all([
    startEngine({ name: 'one', models: ['local'] }),
    startEngine({ name: 'two', models: ['m'] }),
    startEngine({ name: 'slow', models: ['paced'], args: ['--tokens-per-second', '50'] }),
  ]);
  const [one, two, slow] = engines;
  assert.ok(one && two && slow);
  const site = (id: string, fronted: readonly Pick<EngineProcess, 'setting'>[]) =>
    startSite(ground, {
      id,
      domain: DOMAIN,
      engines: fronted,
      secrets: 'k1:0123456789abcdef0123456789abcdef',
      adminKey: 'admin-key-of-the-sites',
    });
  [first, second] = await Promise.all([
    site('site-fr-1', [one]),
    site('site-fr-2', [...manyAgents(two, PARALLEL / 10), slow]),
  ]);
  const map = mapDocument(1, [
    { site: first, models: { local: 'chat' } },
    { site: second, models: { m: 'chat', paced: 'chat' } },
  ]);
  for (const each of [first, second]) {
    await push(each, '/admin/sibling-map', map);
    await push(each, '/admin/api-keys/replace', keyDocument());
  }
  const shown = { headers: { authorization: 'Bearer sk-ten' }, tls: { ca: ground.ca } };
  await untilServing(first, ['local'], shown);
  await untilServing(second, ['m', 'paced'], shown);
});

after(async () => {
  await Promise.all([first, second, ...engines].map((running) => running.kill()));
  ground.remove();
});

interface Asked {
  readonly key?: keyof typeof KEYS;
  readonly model?: string;
  readonly more?: object;
  readonly signal?: AbortSignal;
}

/** 32 bytes of prompt: 10 tokens, until an engine teaches better. */
const MESSAGES = [{ role: 'user', content: 'x'.repeat(32) }];

function post(url: string, { key, model = 'm', more = {}, signal }: Asked): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: key === undefined ? {} : { authorization: `Bearer sk-${key}` },
    body: JSON.stringify({ model, messages: MESSAGES, max_tokens: 100, ...more }),
    tls: { ca: ground.ca },
    ...(signal === undefined ? {} : { signal }),
  });
}

async function locationOf(asked: Asked): Promise<string> {
  const answer = await post(first.url + PATH, asked);
  assert.equal(answer.status, 307);
  for (const name of ['requests', 'tokens']) assert.equal(answer.headers.get(`x-ratelimit-remaining-${name}`), null);
  return answer.headers.get('location') ?? '';
}

/** Tokens that the day has left at a site, as a request that fits no day is told. */
async function left(site: SiteProcess): Promise<number> {
  const model = site === first ? 'local' : 'm';
  const answer = await post(site.url + PATH, { key: 'daily', model, more: { max_tokens: 2 * DAY } });
  assert.equal(answer.status, 429);
  return Number(answer.headers.get('x-ratelimit-remaining-tokens'));
}

/** Prompt and output, as the engine told them in its answer. */
async function usedBy(answer: Response): Promise<number> {
  const { usage } = (await answer.json()) as { usage: { prompt_tokens: number; completion_tokens: number } };
  return usage.prompt_tokens + usage.completion_tokens;
}

async function series(site: SiteProcess, name: string): Promise<readonly string[]> {
  const text = await (await fetch(`${site.metricsUrl}/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith(`${name}{`));
}

describe('A request that is redirected', () => {
  it('leaves the tokens of the first site untouched, and is charged what it used at the second, once', async () => {
    const before = await left(second);
    const answer = await post(await locationOf({ key: 'daily' }), {});
    assert.equal(answer.status, 200);
    const remaining = Number(answer.headers.get('x-ratelimit-remaining-tokens'));
    const used = await usedBy(answer);
    assert.equal(remaining, before - used);
    assert.deepEqual([await left(first), await left(second)], [DAY, before - used]);
  });

  it('is charged once when its client repeats a used URL, and once more when it asks at the original one', async () => {
    const before = await left(second);
    const location = await locationOf({ key: 'daily' });
    const used = await usedBy(await post(location, {}));
    for (let count = 0; count < 3; count += 1) assert.equal((await post(location, {})).status, 401);
    assert.equal(await left(second), before - used);
    const again = await usedBy(await post(await locationOf({ key: 'daily' }), {}));
    assert.deepEqual([await left(first), await left(second)], [DAY, before - used - again]);
  });

  it('costs nothing while its token is not followed, or its body is another', async () => {
    const before = await left(second);
    const location = await locationOf({ key: 'daily' });
    assert.equal((await post(location, { more: { max_tokens: 99 } })).status, 401);
    for (let count = 0; count < 5; count += 1) await locationOf({ key: 'daily' });
    assert.deepEqual([await left(first), await left(second)], [DAY, before]);
  });

  it('is charged what it has seen when its client aborts the stream', async () => {
    const before = await left(second);
    const client = new AbortController();
    const streaming = { model: 'paced', more: { stream: true, min_tokens: 100 }, signal: client.signal };
    const answer = await post(await locationOf({ key: 'daily', ...streaming }), streaming);
    const reader = answer.body?.getReader();
    for (let count = 0; count < 5; count += 1) await reader?.read();
    client.abort();
    const charged = await eventually('the stream is settled', async () => {
      const spent = before - (await left(second));
      return spent < 110 ? spent : undefined;
    });
    assert.ok(charged > 10 && charged < 60, `${charged} tokens`);
    assert.equal(await left(first), DAY);
  });

  it('takes a request of the minute at the second site alone', async () => {
    for (let count = 0; count < 3; count += 1) {
      const answer = await post(await locationOf({ key: 'three' }), {});
      assert.equal(answer.headers.get('x-ratelimit-remaining-requests'), String(2 - count));
    }
    const location = await locationOf({ key: 'three' });
    const limited = await post(location, {});
    assert.equal(limited.status, 429);
    const retryAfterS = Number(limited.headers.get('retry-after'));
    assert.ok(retryAfterS >= 1 && retryAfterS <= 20, `${retryAfterS} s`);
    // The token is used up: what comes next begins at the original URL.
    assert.equal((await post(location, {})).status, 401);
    const local = await post(first.url + PATH, { key: 'three', model: 'local' });
    assert.deepEqual([local.status, local.headers.get('x-ratelimit-remaining-requests')], [200, '2']);
  });

  it('counts for its owner at the second site alone', async () => {
    const requests = 'hivenet_tenant_requests_success_total';
    const ofModel = async (site: SiteProcess) => (await series(site, requests)).filter((line) => line.includes('"m"'));
    assert.deepEqual(await ofModel(first), []);
    assert.equal((await ofModel(second)).length, 2);
  });
});

describe('100 parallel requests through the binary', () => {
  const statuses = async (key: keyof typeof KEYS, more: object = {}) => {
    const asking = Array.from({ length: PARALLEL }, () => post(second.url + PATH, { key, more }));
    const answers = await Promise.all(asking);
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    return answers.map(({ status }) => status).toSorted();
  };
  const TEN_SERVED = [...Array(10).fill(200), ...Array(90).fill(429)];

  it('are ten when the minute has ten', async () => {
    assert.deepEqual(await statuses('ten'), TEN_SERVED);
  });

  it('are ten when the day has tokens for ten', async () => {
    assert.deepEqual(await statuses('burst', { min_tokens: 100 }), TEN_SERVED);
  });

  it('are ten when each asks for five answers, of which ten have room in the day', async () => {
    assert.deepEqual(await statuses('choices', { n: 5, max_tokens: 20, min_tokens: 20 }), TEN_SERVED);
  });
});
