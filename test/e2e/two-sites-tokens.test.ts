// Redirect tokens between sites over HTTPS: used by many at once, by clients that keep their key, under maps that are not
// true, and at a site with another secret.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { accessLineOf, accessLines } from '../support/access-log.ts';
import { Country } from '../support/country-of-sites.ts';
import { eventually } from '../support/eventually.ts';
import { breakOff, postText, RawConnection } from '../support/raw-connection.ts';

const PATH = '/v1/chat/completions';
const QUESTION = { role: 'user' as const, content: 'Hello' };
const ask = (model: string): object => ({ model, messages: [QUESTION] });

let country: Country;

before(async () => {
  country = await Country.start();
});

after(() => country.kill());

/** The 307 of the first site: the URL that the client should repeat its request at. */
async function locationOf(model: string): Promise<string> {
  const redirect = await country.post(country.first.url + PATH, ask(model), { headers: country.bearer });
  assert.equal(redirect.status, 307);
  return country.noteToken(redirect.headers.get('location'));
}

describe('A token', () => {
  it('lets exactly one of 100 parallel requests through (R-110, R-111)', async () => {
    const location = await locationOf('m');
    const answers = await Promise.all(Array.from({ length: 100 }, () => country.post(location, ask('m'))));
    const statuses = answers.map(({ status }) => status).toSorted();
    assert.deepEqual(statuses, [200, ...Array.from({ length: 99 }, () => 401)]);
    for (const answer of answers) {
      if (answer.status === 401) assert.equal(answer.headers.get('x-should-retry'), 'true');
    }
  });

  it('survives an upload that breaks off, and another body (R-114)', async () => {
    const location = new URL(await locationOf('m'));
    const connection = await RawConnection.open(country.second.url, country.ground.ca);
    const broken = () => accessLines(country.second).filter(({ status_code }) => status_code === 499).length;
    const before = broken();
    await breakOff(connection, postText(country.second.url, location.pathname + location.search, ask('m')), 5);
    await eventually('the line of the broken upload', () => broken() > before || undefined);
    assert.equal((await country.post(location.href, ask('another'))).status, 401);
    assert.equal((await country.post(location.href, ask('m'))).status, 200);
  });

  it('that comes again gets a 401 which browsers can read and SDKs act upon, without a reason (E2, E3, E4, R-126)', async () => {
    const location = await locationOf('m');
    assert.equal((await country.post(location, ask('m'))).status, 200);
    const { status, headers } = await country.post(location, ask('m'), { headers: { origin: 'null' } });
    const text = await country.post(location, ask('m')).then((answer) => answer.text());
    assert.equal(status, 401);
    assert.deepEqual(
      ['access-control-allow-origin', 'x-should-retry', 'www-authenticate'].map((name) => headers.get(name)),
      ['*', 'true', 'Bearer realm="hivenet-router"'],
    );
    assert.match(headers.get('access-control-expose-headers') ?? '', /x-should-retry/);
    const { type, error } = JSON.parse(text) as { type: string; error: Record<string, unknown> };
    assert.deepEqual([type, error['type'], error['code']], ['error', 'authentication_error', 'unauthorized']);
    assert.match(String(error['message']), /Repeat the request at the original URL/);
    assert.doesNotMatch(text, /replay|site-fr|key-1/);
  });

  it('is left alone by the preflight of a browser (E3)', async () => {
    const location = await locationOf('m');
    const headers = { origin: 'null', 'access-control-request-headers': 'content-type,x-api-key' };
    for (let count = 0; count < 3; count += 1) {
      const answer = await fetch(location, { method: 'OPTIONS', headers, tls: country.tls });
      assert.equal(answer.status, 204);
      assert.equal(answer.headers.get('access-control-allow-origin'), '*');
      assert.equal(answer.headers.get('access-control-allow-headers'), 'content-type,x-api-key');
    }
    assert.equal((await country.post(location, ask('m'))).status, 200);
  });

  it('survives a client that repeats its streamed body as an empty one (clients.md, section 2)', async () => {
    const location = await locationOf('m');
    const refused = await fetch(location, { method: 'POST', tls: country.tls });
    assert.equal(refused.status, 401);
    const line = await accessLineOf(country.second, refused.headers.get('x-request-id') ?? '');
    assert.equal(line.refusal_reason, 'body');
    assert.equal((await country.post(location, ask('m'))).status, 200);
  });

  it('is not needed twice: the original URL gives a new one (R-213)', async () => {
    const [one, other] = [await locationOf('m'), await locationOf('m')];
    assert.notEqual(one, other);
    assert.equal((await country.post(one, ask('m'))).status, 200);
    assert.equal((await country.post(other, ask('m'))).status, 200);
  });
});

describe('A stale map', () => {
  it('costs a second redirect, and the request keeps its ID over all three sites', async () => {
    const client = new OpenAI({ baseURL: `${country.first.url}/v1`, ...country.sdk, apiKey: country.key.secret });
    const { data, response } = await client.chat.completions
      .create({ model: 'moved', messages: [QUESTION] })
      .withResponse();
    assert.match(data.choices[0]?.message.content ?? '', /^engine chat-3, model moved: /);
    assert.ok(country.noteToken(response.url).startsWith(country.third.url));
    const requestId = response.headers.get('x-request-id') ?? '';
    const hops = await Promise.all(country.sites.slice(0, 3).map((site) => accessLineOf(site, requestId)));
    assert.deepEqual(
      hops.map(({ status_code }) => status_code),
      [307, 307, 200],
    );
    assert.deepEqual(
      hops.map(({ hop }) => hop),
      [1, 2, 2],
    );
    assert.deepEqual(
      hops.map(({ origin_site }) => origin_site),
      Array.from({ length: 3 }, () => country.first.id),
    );
  });
});

describe('A site with another secret', () => {
  /** Follows redirects with the key at hand, as some clients do; the answers on the way. */
  async function followKeepingKey(model: string): Promise<readonly Response[]> {
    const answers: Response[] = [];
    for (let url = country.first.url + PATH; answers.length < 10; ) {
      const answer = await country.post(url, ask(model), { headers: country.bearer });
      answers.push(answer);
      if (answer.status !== 307) break;
      url = country.noteToken(answer.headers.get('location'));
    }
    return answers;
  }

  it('ends a client that keeps its key in one clear error, after at most two redirects (D-33)', async () => {
    const answers = await followKeepingKey('lost');
    assert.ok(answers.length <= 3, `${answers.length - 1} redirects`);
    const last = answers.at(-1);
    assert.equal(last?.status, 404);
    const { error } = (await last.json()) as { error: { code: string; message: string } };
    assert.equal(error.code, 'model_not_found');
    assert.match(error.message, /"lost"/);
  });

  it('serves a client that keeps its key what it has', async () => {
    const answers = await followKeepingKey('at-stranger');
    assert.deepEqual(
      answers.map(({ status }) => status),
      [307, 200],
    );
  });
});

describe('Everything that the sites printed', () => {
  it('holds no token, no key and no secret (R-205, R-206)', () => country.assertNothingLeaked());
});
