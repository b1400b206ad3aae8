// A provider behind a policy through the binary, asked by the official SDKs: either client, either provider, at once and in
// a stream, and what it may not see.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type Answer, bytes, deadUrl, type Engine, json, startEngine, stopEngines } from '../dispatch/engines.ts';
import { eventStream, eventText, goldenCases, goldenStreams } from '../dispatch/providers/golden.ts';
import { accessLineOf } from '../support/access-log.ts';
import { type RouterProcess, startRouter } from '../support/router-process.ts';
import { createGround, type Ground } from '../support/sites.ts';

const KEY = 'sk-of-the-operator';
const EVENTS = { 'content-type': 'text/event-stream' };
const MESSAGES = [{ role: 'user' as const, content: 'Hi' }];

/** What each provider answers: one answer, one stream, and how they are converted. */
const SAID = {
  openai: { whole: goldenCases('answer-to-anthropic')[0], stream: goldenStreams('stream-to-anthropic')[0] },
  anthropic: { whole: goldenCases('answer-to-openai')[0], stream: goldenStreams('stream-to-openai')[0] },
} as const;

type Dialect = keyof typeof SAID;

const DIALECTS: readonly Dialect[] = ['openai', 'anthropic'];

let ground: Ground;
before(async () => {
  ground = await createGround();
});
after(() => ground.remove());

/** Alone with a provider at this address behind every model, in files and variables as an operator has them. */
async function routerWith(dialect: Dialect, url: string, more: readonly string[] = []): Promise<RouterProcess> {
  const policy = ground.write('policy.yaml', `fallback_provider: {engine: ${dialect}, model: target}\n`);
  const baseUrl = dialect === 'openai' ? `${url}/v1` : url;
  const flags = ['--policy-file', policy, `--${dialect}-base-url`, baseUrl];
  return startRouter([...flags, `--${dialect}-api-key-file`, ground.write('key', `${KEY}\n`), ...more]);
}

const clientOf = {
  openai: (router: RouterProcess) =>
    new OpenAI({ baseURL: `${router.url}/v1`, apiKey: 'client-secret', maxRetries: 0 }),
  anthropic: (router: RouterProcess) =>
    new Anthropic({ baseURL: router.url, apiKey: 'client-secret', authToken: null, maxRetries: 0 }),
};

/** The documents of one answer, or the events of one stream, as the SDK of the client's dialect reads them. */
async function read(from: Dialect, router: RouterProcess, stream: boolean): Promise<readonly unknown[]> {
  const request = { model: 'any', messages: MESSAGES, max_tokens: 10 };
  if (from === 'openai') {
    const { completions } = clientOf.openai(router).chat;
    const counted = { ...request, stream: true, stream_options: { include_usage: true } } as const;
    if (stream) return Array.fromAsync(await completions.create(counted));
    return [await completions.create(request)];
  }
  const { messages } = clientOf.anthropic(router);
  return stream ? Array.fromAsync(await messages.create({ ...request, stream })) : [await messages.create(request)];
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Without the moment at which an answer was converted. */
function withoutTime(document: unknown): unknown {
  const { created: _created, ...rest } = document as Record<string, unknown>;
  return rest;
}

/** OpenAI's last word is no event for its SDK, and pings are none for Anthropic's. */
const readable = (events: readonly unknown[] = []) =>
  events.filter((event) => event !== '[DONE]' && (event as { type?: string }).type !== 'ping');

for (const to of DIALECTS) {
  describe(`${to} behind a policy`, () => {
    let provider: Engine;
    let router: RouterProcess;
    let answer: Answer;

    before(async () => {
      provider = await startEngine((response, request) => answer(response, request));
      router = await routerWith(to, provider.url);
    });
    after(async () => {
      await router.kill();
      stopEngines();
    });
    afterEach(() => void provider.seen.splice(0));

    for (const from of DIALECTS) {
      const { whole, stream } = SAID[to];
      it(`answers the SDK of ${from}`, async () => {
        answer = json(200, whole?.in);
        const expected = from === to ? whole?.in : whole?.out;
        assert.deepEqual(withoutTime(plain((await read(from, router, false))[0])), withoutTime(expected));
        const [seen] = provider.seen;
        assert.equal(seen?.target, to === 'openai' ? '/v1/chat/completions' : '/v1/messages');
        assert.equal(JSON.parse(String(seen?.body)).model, 'target');
        assert.equal(
          seen?.headers[to === 'openai' ? 'authorization' : 'x-api-key'],
          to === 'openai' ? `Bearer ${KEY}` : KEY,
        );
        assert.ok(!JSON.stringify([seen?.headers, String(seen?.body)]).includes('client-secret'));
      });

      it(`streams to the SDK of ${from}`, async () => {
        answer = bytes(200, eventStream(to, stream?.in ?? []), EVENTS);
        const expected = readable(from === to ? stream?.in : stream?.out);
        const events = plain(await read(from, router, true)) as readonly unknown[];
        assert.deepEqual(events.map(withoutTime), expected.map(withoutTime));
      });

      it(`hands a client of ${from} each event while the provider holds back the next`, async () => {
        const { promise, resolve } = Promise.withResolvers<(event: unknown) => void>();
        answer = (response) => {
          response.writeHead(200, EVENTS);
          resolve((event) => void response.write(eventText(to, event)));
        };
        const asking = fetch(`${router.url}${from === 'openai' ? '/v1/chat/completions' : '/v1/messages'}`, {
          method: 'POST',
          body: JSON.stringify({ model: 'any', messages: MESSAGES, max_tokens: 10, stream: true }),
        });
        const write = await promise;
        const events = stream?.in ?? [];
        write(events[0]);
        const reader = (await asking).body?.getReader();
        for (const event of events.slice(1)) {
          const chunk = await reader?.read();
          assert.ok((chunk?.value?.byteLength ?? 0) > 0, 'the event before this one has arrived');
          write(event);
        }
        let rest = '';
        const lastWord = from === 'openai' ? 'data: [DONE]\n\n' : '"type":"message_stop"}\n\n';
        while (!rest.endsWith(lastWord)) rest += Buffer.from((await reader?.read())?.value ?? assert.fail()).toString();
        await reader?.cancel();
      });
    }

    it('is told in the access log and in the metrics', async () => {
      answer = json(200, SAID[to].whole?.in);
      const response = await fetch(`${router.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model: 'logged', messages: MESSAGES }),
      });
      await response.arrayBuffer();
      const line = await accessLineOf(router, response.headers.get('x-request-id') ?? '');
      assert.deepEqual([line.status_code, line.model, line.agent_id], [200, 'logged', `provider:${to}`]);
      const metrics = await (await fetch(`${router.metricsUrl}/metrics`)).text();
      assert.match(metrics, /^hivenet_policy_provider_fallback_total\{model="other"\} [1-9]/m);
      assert.match(
        metrics,
        new RegExp(`^hivenet_routing_requests_routed_total\\{region="cloud",engine="${to}",model="other",`, 'm'),
      );
      assert.match(
        metrics,
        new RegExp(`^http_client_request_duration_seconds_count\\{provider="${to}",status_code="200"\\} [1-9]`, 'm'),
      );
      assert.ok(!metrics.includes('logged'));
      assert.ok(![...router.stdout, ...router.stderr].join().includes(KEY));
    });
  });

  it(`A request fails with a clear 502 while ${to} is down`, async () => {
    const router = await routerWith(to, await deadUrl());
    const name = to === 'openai' ? 'OpenAI' : 'Anthropic';
    try {
      await assert.rejects(read(to, router, false), {
        status: 502,
        message: new RegExp(`The provider ${name} failed: it refuses connections\\.`),
      });
      const line = await router.line((text) => text.includes('WARN Provider gave no usable answer'), 'stderr');
      assert.match(line, new RegExp(`provider="${to}" request_id="\\S+" reason="${name}: it refuses connections"$`));
    } finally {
      await router.kill();
      stopEngines();
    }
  });
}
