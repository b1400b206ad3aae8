// Sites that redirect to each other over HTTPS, and the clients that people have: both SDKs and curl.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { accessLineOf } from '../support/access-log.ts';
import { run } from '../support/child-process.ts';
import { Country } from './country-of-sites.ts';
import { showingApiKey } from './one-site.ts';

const PATH = '/v1/chat/completions';
const QUESTION = { role: 'user' as const, content: 'Hello' };
const hasCurl = (await run(['curl', '--version']).catch(() => undefined))?.code === 0;

let country: Country;

before(async () => {
  country = await Country.start();
});

after(() => country.kill());

/** The answer came from the second site, and both sites logged it under the ID that the client was given. */
async function assertRedirected(response: Response): Promise<void> {
  assert.ok(response.redirected);
  assert.ok(country.noteToken(response.url).startsWith(country.second.url));
  const requestId = response.headers.get('x-request-id') ?? '';
  const [redirect, serving] = await Promise.all([
    accessLineOf(country.first, requestId),
    accessLineOf(country.second, requestId),
  ]);
  assert.equal(redirect.status_code, 307);
  assert.equal(redirect.redirect_site, country.second.id);
  assert.equal(serving.status_code, 200);
  assert.equal(serving.origin_site, country.first.id);
  assert.equal(serving.hop, 1);
}

describe('openai against a site that redirects', () => {
  const client = () => new OpenAI({ baseURL: `${country.first.url}/v1`, ...country.sdk, apiKey: country.key.secret });

  it('gets a chat completion from the sibling', async () => {
    const asked = client().chat.completions.create({ model: 'm', messages: [QUESTION] });
    const { data, response } = await asked.withResponse();
    assert.match(data.choices[0]?.message.content ?? '', /^engine chat-2, model m: /);
    await assertRedirected(response);
  });

  it('gets a stream from the sibling, whole', async () => {
    const asked = client().chat.completions.create({ model: 'm', messages: [QUESTION], stream: true });
    const { data, response } = await asked.withResponse();
    const choices = (await Array.fromAsync(data)).map((chunk) => chunk.choices[0]);
    assert.match(choices.map((choice) => choice?.delta.content ?? '').join(''), /^engine chat-2, model m: /);
    assert.equal(choices.at(-1)?.finish_reason, 'stop');
    await assertRedirected(response);
  });

  it('gets embeddings and a ranking from the sibling', async () => {
    const embedding = await client().embeddings.create({ model: 'emb', input: 'Hello' }).withResponse();
    assert.equal(embedding.data.data[0]?.embedding.length, 64);
    await assertRedirected(embedding.response);
    const body = { model: 'rr', query: 'light', documents: ['dark', 'light'] };
    const ranking = await client().post<{ results: { index: number }[] }>('/rerank', { body }).withResponse();
    assert.equal(ranking.data.results[0]?.index, 1);
    await assertRedirected(ranking.response);
  });
});

describe('anthropic against a site that redirects', () => {
  const ASK = { model: 'm', max_tokens: 64, messages: [QUESTION] };
  const clients = () => [
    new Anthropic({ baseURL: country.first.url, ...country.sdk, apiKey: country.key.secret }),
    new Anthropic({
      baseURL: country.first.url,
      ...country.sdk,
      apiKey: 'unused',
      defaultHeaders: showingApiKey(country.key.secret),
    }),
  ];

  it('gets a message, a stream and a count from the sibling, with either header (E1)', async () => {
    for (const client of clients()) {
      const whole = await client.messages.create(ASK).withResponse();
      const [block] = whole.data.content;
      assert.match(block?.type === 'text' ? block.text : '', /^engine chat-2, model m: /);
      await assertRedirected(whole.response);

      const streamed = await client.messages.create({ ...ASK, stream: true }).withResponse();
      assert.equal((await Array.fromAsync(streamed.data)).at(-1)?.type, 'message_stop');
      await assertRedirected(streamed.response);

      const counted = await client.messages.countTokens({ model: 'm', messages: [QUESTION] }).withResponse();
      assert.equal(counted.data.input_tokens, whole.data.usage.input_tokens);
      await assertRedirected(counted.response);
    }
  });
});

describe('curl against a site that redirects', { skip: !hasCurl }, () => {
  async function curl(body: string, flags: readonly string[]): Promise<string> {
    const ends = country.sites.flatMap(({ url }) => ['--resolve', `${new URL(url).host}:127.0.0.1`]);
    const file = country.ground.write('curl-body', body);
    const headers = country.ground.write('curl-header', `Authorization: ${country.bearer.authorization}\n`);
    const fixed = ['-sS', '--cacert', country.ground.caFile, ...ends, '-H', `@${headers}`, '--data-binary', `@${file}`];
    const ended = await run([
      'curl',
      ...fixed,
      ...flags,
      '-w',
      '\n%{http_code} %{num_redirects}',
      country.first.url + PATH,
    ]);
    assert.equal(ended.code, 0, ended.stderr.join('\n'));
    return ended.stdout.join('\n');
  }

  for (const [name, size] of Object.entries({
    'a small body': 10,
    'a body of 2 MB that waits for 100 Continue': 2_000_000,
  })) {
    it(`follows with -L and with --location-trusted, ${name}`, async () => {
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'a'.repeat(size) }] });
      for (const flags of [['-L'], ['-L', '--location-trusted']]) {
        const text = await curl(body, flags);
        assert.match(text, /engine chat-2, model m: /);
        assert.ok(text.endsWith('\n200 1'), text.slice(-300));
      }
    });
  }

  it('is told how to follow when it does not', async () => {
    const text = await curl(JSON.stringify({ model: 'm', messages: [QUESTION] }), []);
    assert.match(text, /"code":"model_redirected"/);
    assert.match(text, /curl -L/);
    assert.ok(text.endsWith('\n307 0'));
  });
});

describe('Everything that the sites printed', () => {
  it('holds no token, no key and no secret (R-205, R-206)', () => country.assertNothingLeaked());
});
