// Requests that are held by the binary while their model wakes, in real time.

import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { eventually } from '../support/eventually.ts';
import { postText, RawConnection } from '../support/raw-connection.ts';
import { ADMIN_KEY, type EngineProcess, startEngine } from '../support/router-process.ts';
import { freePort, type SleepingSite, startSleepingSite } from '../support/sleeping-site.ts';

const PATIENT = { timeout: 30_000 };
const ASK = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello' }] };
const HELD = 'hivenet_hold_requests{model="m"}';

let site: SleepingSite;
let engine: EngineProcess | undefined;

/** A site with one engine that is not there yet; `start` brings it. */
async function asleep(args: readonly string[] = [], fields: object = {}) {
  const port = await freePort();
  site = await startSleepingSite([`vllm=http://127.0.0.1:${port}#m`], args);
  await site.place(['m'], fields);
  const start = async (flags: readonly string[] = []) => {
    engine = await startEngine({ name: 'late', models: ['m'], port, args: flags });
  };
  return { port, start };
}

const ask = (headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(`${site.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(ASK),
    headers,
    ...(signal === undefined ? {} : { signal }),
  });

const untilHeld = (count: number) =>
  eventually(`${count} held`, async () => ((await site.metric(HELD)) ?? 0) === count || undefined);

/** A busy machine may be slow: the quickest of three at most is what the router can do. */
async function quickest(limitMs: number, measure: () => Promise<number>): Promise<void> {
  const spans: number[] = [];
  while (spans.length < 3 && !spans.some((span) => span < limitMs)) spans.push(await measure());
  assert.ok(Math.min(...spans) < limitMs, `${spans} ms`);
}

afterEach(async () => {
  await Promise.all([site.kill(), engine?.kill()]);
  engine = undefined;
});

describe('a held request', () => {
  it('is answered to the official SDKs, which see nothing but a wait', PATIENT, async () => {
    const { start } = await asleep();
    const openai = new OpenAI({ baseURL: `${site.url}/v1`, apiKey: 'none', maxRetries: 0 });
    const anthropic = new Anthropic({ baseURL: site.url, apiKey: 'none', maxRetries: 0 });
    const chat = openai.chat.completions.create(ASK).withResponse();
    const streamed = openai.chat.completions.create({ ...ASK, stream: true });
    const message = anthropic.messages.create({ ...ASK, max_tokens: 16 });
    await untilHeld(3);
    await start(['--start-delay', '1s']);
    const { data, response } = await chat;
    assert.match(`${data.choices[0]?.message.content}`, /^engine late, model m/);
    assert.match(`${response.headers.get('server-timing')}`, /^hold;dur=\d+$/);
    assert.ok((await Array.fromAsync(await streamed)).length > 1);
    assert.equal((await message).model, 'm');
    assert.equal(await site.metric('hivenet_hold_total{model="m",outcome="served"}'), 3);
    assert.equal(await site.metric(HELD), 0);
  });

  it('is with an engine within 400 ms of its first good answer', PATIENT, async () => {
    await quickest(400, async () => {
      const { port } = await asleep();
      const asking = ask();
      await untilHeld(1);
      const seen = { probes: 0, readyMs: 0, askedMs: 0 };
      const server = await loadingEngine(port, seen);
      try {
        await eventually('probes of an engine that loads', () => seen.probes > 3 || undefined);
        seen.readyMs = performance.now();
        assert.equal((await asking).status, 200);
        return seen.askedMs - seen.readyMs;
      } finally {
        server.closeAllConnections();
        server.close();
        await site.kill();
      }
    });
  });

  it('ends within 250 ms of its time: the budget of the map, or what its client asked for', PATIENT, async () => {
    await asleep([], { hold_budget: '1200ms' });
    const lateness = async (headers: Record<string, string>, budgetMs: number) => {
      const startedMs = performance.now();
      const response = await ask(headers);
      assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '5']);
      const lateMs = performance.now() - startedMs - budgetMs;
      assert.ok(lateMs > -1, `${-lateMs} ms too early`);
      return lateMs;
    };
    await quickest(250, () => lateness({}, 1_200));
    await quickest(250, () => lateness({ 'x-hivenet-max-wait': '700ms' }, 700));
  });

  it('is gone from the gauge within 100 ms when its client leaves, and from the engine’s work', PATIENT, async () => {
    const { start } = await asleep();
    await quickest(100, async () => {
      const connection = await RawConnection.open(site.url);
      connection.send(postText(site.url, '/v1/chat/completions', ASK));
      await untilHeld(1);
      const leftMs = performance.now();
      connection.leave();
      await untilHeld(0);
      return performance.now() - leftMs;
    });
    await start();
    assert.equal((await ask()).status, 200);
    assert.ok(((await site.metric('hivenet_hold_total{model="m",outcome="client_gone"}')) ?? 0) > 0);
  });

  it('is told 503 with a Retry-After at once when the router stops, which then ends', PATIENT, async () => {
    await asleep(['--shutdown-delay', '2s']);
    const asking = ask();
    await untilHeld(1);
    site.signal('SIGTERM');
    const response = await asking;
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1']);
    assert.ok(!site.stderr.some((line) => line.includes('Stopped')), 'before its shutdown has gone on');
    assert.equal(await site.ended, 0);
  });

  it('is one of a hundred at most, who go in order, four at a time, to an agent of capacity 4', PATIENT, async () => {
    site = await startSleepingSite([]);
    await site.place(['m']);
    const all: Promise<Response>[] = [];
    for (let number = 1; number <= 100; number += 1) {
      all.push(ask({ 'x-number': String(number) }));
      await untilHeld(number);
    }
    const response = await ask();
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1']);
    assert.match(await response.text(), /"code":"queue_full"/);
    const seen = { order: [] as number[], firstMs: 0, running: 0, mostRunning: 0 };
    const server = await countingEngine(seen);
    try {
      const healthy = site.line((line) => line.includes('to="healthy"'), 'stderr').then(() => performance.now());
      const { port } = server.address() as AddressInfo;
      const agent = { engine: 'vllm', backend_url: `http://127.0.0.1:${port}`, models: ['m'], capacity: 4 };
      const headers = { authorization: `Bearer ${ADMIN_KEY}` };
      const init = { method: 'PUT', headers, body: JSON.stringify(agent) };
      assert.equal((await fetch(`${site.url}/admin/agents/late`, init)).status, 201);
      for (const asking of all) assert.equal((await asking).status, 200);
      const afterMs = seen.firstMs - (await healthy);
      assert.ok(afterMs < 100, `${afterMs} ms`);
      // Four connections carry them: of those that run together any may arrive first.
      const strays = seen.order.filter((number, index) => Math.abs(number - 1 - index) > 3);
      assert.deepEqual([seen.order.length, strays], [100, []]);
      assert.equal(seen.mostRunning, 4);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('whoever wakes models', () => {
  it('is told on the registration stream when one is wanted, and when it no longer is', PATIENT, async () => {
    const { start } = await asleep();
    const events: Record<string, unknown>[] = [];
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const stream = await fetch(`${site.url}/admin/registration-stream`, { headers });
    void readEvents(stream, events);
    const asking = ask();
    await eventually('wake_wanted', () => events.length > 0 || undefined);
    await start();
    await asking;
    await eventually('wake_done', () => events.some((event) => event['event_type'] === 'wake_done') || undefined);
    const wakes = events.filter(({ event_type }) => String(event_type).startsWith('wake_'));
    const { since, timestamp } = wakes[0] ?? {};
    assert.match(`${since} ${timestamp}`, /^20\d\d-\S+Z 20\d\d-\S+Z$/);
    const fixed = { site: 'site-fr-1', model: 'm', kind: 'chat', since };
    assert.deepEqual(
      wakes.map(({ timestamp: _, ...event }) => event),
      [
        { event_type: 'wake_wanted', held: 1, ...fixed },
        { event_type: 'wake_done', held: 0, ...fixed },
      ],
    );
    assert.deepEqual(events.map(({ event_type }) => event_type).toSorted(), ['registered', 'wake_done', 'wake_wanted']);
  });

  for (const [what, answer] of [
    ['hangs', () => undefined],
    ['answers 500', (response) => void response.writeHead(500).end()],
    ['breaks off', (response) => void response.destroy()],
  ] satisfies readonly (readonly [string, (response: import('node:http').ServerResponse) => void])[]) {
    it(`harms nothing when its endpoint ${what}, which no log names`, PATIENT, async () => {
      let calls = 0;
      const server = createServer((request, response) => {
        calls += 1;
        request.resume();
        answer(response);
      });
      const url = await listening(server);
      try {
        const canary = 'canary-password';
        const { start } = await asleep(['--wake-webhook-url', url.replace('//', `//me:${canary}@`)]);
        const all = [ask(), ask()];
        await eventually('a call', () => calls > 0 || undefined);
        if (what !== 'hangs') {
          const failures = () => site.metric('hivenet_wake_webhook_failures_total');
          await eventually('a failure', async () => ((await failures()) ?? 0) > 0 || undefined);
        }
        await start();
        for (const asking of all) assert.equal((await asking).status, 200);
        assert.equal(calls, 1);
        assert.doesNotMatch([...site.stdout, ...site.stderr].join('\n'), new RegExp(`${canary}|${new URL(url).port}/`));
        site.signal('SIGTERM');
        assert.equal(await site.ended, 0, 'nor does it hold up the end');
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  }
});

interface Seen {
  probes: number;
  readyMs: number;
  askedMs: number;
}

/** Answers 503 to everything until it is ready, as while it loads weights, and then at once. */
async function loadingEngine(port: number, seen: Seen): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === '/health') seen.probes += 1;
    if (seen.readyMs === 0) return void response.writeHead(503).end();
    if (request.method === 'POST') seen.askedMs ||= performance.now();
    response.setHeader('content-type', 'application/json');
    response.end('{"object":"chat.completion","choices":[]}');
  });
  await listening(server, port);
  return server;
}

/** Works on each request for a moment, and keeps count of them by the number in their header. */
async function countingEngine(seen: { order: number[]; firstMs: number; running: number; mostRunning: number }) {
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === 'GET') return void response.end();
    seen.firstMs ||= performance.now();
    seen.order.push(Number(request.headers['x-number']));
    seen.running += 1;
    seen.mostRunning = Math.max(seen.mostRunning, seen.running);
    setTimeout(() => {
      seen.running -= 1;
      response.setHeader('content-type', 'application/json');
      response.end('{"object":"chat.completion","choices":[]}');
    }, 5);
  });
  await listening(server);
  return server;
}

function listening(server: Server, port = 0): Promise<string> {
  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  });
}

async function readEvents(stream: Response, events: Record<string, unknown>[]): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of stream.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data: ')) events.push(JSON.parse(line.slice('data: '.length)));
    }
  } catch {
    // The router has gone.
  }
}
