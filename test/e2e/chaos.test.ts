// Two hundred requests of which hardly one goes well, beside others that nobody disturbs: afterwards every slot is free,
// nobody was harmed, and no agent pays for what a client did.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { type CustomEngine, startCustomEngine } from '../support/custom-engine.ts';
import { eventually } from '../support/eventually.ts';
import { Load } from '../support/load.ts';
import { breakOff, postText, RawConnection } from '../support/raw-connection.ts';
import {
  type EngineProcess,
  engineFlags,
  type RouterProcess,
  runningRequests,
  startEngine,
  startRouter,
  untilHealthy,
  untilServing,
} from '../support/router-process.ts';

const REQUESTS = 200;
/** Slots of one agent. */
const CAPACITY = 10;
const PATH = '/v1/chat/completions';
const EVENT = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
const HELLO = [{ role: 'user', content: 'Hello' }];

/** What the custom engine does with a request. */
type Mood = (response: ServerResponse) => void;

const stream: Mood = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(EVENT);
};

const MOODS: readonly Mood[] = [
  (response) => response.writeHead(500).end('no'),
  (response) => response.writeHead(429, { 'retry-after': '1' }).end('busy'),
  (response) => response.destroy(),
  (response) => {
    stream(response);
    setTimeout(() => response.destroy(), 20);
  },
  // Silence, before the head and after the first event: a timeout of the router ends it.
  () => undefined,
  stream,
];

let moody: CustomEngine;
let isCalm = false;
let steady: readonly EngineProcess[];
let calm: EngineProcess;
let router: RouterProcess;

before(async () => {
  const args = ['--ttft', '10ms', '--tokens-per-second', '100'];
  steady = await Promise.all(['a', 'b'].map((name) => startEngine({ name, models: ['mixed'], args })));
  calm = await startEngine({ name: 'calm', models: ['calm'], args });
  let turn = 0;
  moody = await startCustomEngine('mixed', (response) => {
    turn += 1;
    (isCalm ? stream : (MOODS[turn % MOODS.length] ?? stream))(response);
  });
  const limits = ['--request-timeout', '700ms', '--stream-idle-timeout', '2s', '--queue-depth', '40'];
  router = await startRouter([...limits, ...engineFlags([...steady, calm, moody])]);
  await untilHealthy(router, 'mixed', 3);
  await untilServing(router, ['calm']);
});

after(async () => {
  await Promise.all([router, calm, ...steady].map((running) => running.kill()));
  moody.close();
});

const textOf = (body: object) => postText(router.url, PATH, { model: 'mixed', messages: HELLO, ...body });

/** Each asks for one thing, and gets or does something else. */
const CLIENTS: readonly ((connection: RawConnection) => Promise<unknown>)[] = [
  // Takes whatever comes.
  (connection) => {
    connection.send(textOf({ max_tokens: 5 }));
    return connection.until((text) => /^HTTP\/1\.1 \d{3}[\s\S]*\r\n\r\n./.test(text));
  },
  (connection) => {
    connection.send(textOf({ max_tokens: 20, stream: true }));
    return connection.until((text) => text.endsWith('0\r\n\r\n') || !text.startsWith('HTTP/1.1 200'));
  },
  // Leaves before the head, in the middle of a stream, in the middle of its own body.
  async (connection) => {
    connection.send(textOf({ max_tokens: 50 }));
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
  },
  (connection) => {
    connection.send(textOf({ min_tokens: 500, max_tokens: 500, stream: true }));
    return connection.until((text) => text.includes('data: ') || text.includes('"error"'));
  },
  (connection) => breakOff(connection, textOf({ max_tokens: 5 }), 10),
  // Asks for what is not there, or for nothing at all.
  (connection) => {
    connection.send(textOf({ model: 'unknown' }));
    return connection.until((text) => text.includes('model_not_found'));
  },
  (connection) => {
    connection.send(textOf({}).replace('{"model"', '"{model"'));
    return connection.until((text) => text.includes('request_invalid'));
  },
];

describe('Two hundred requests that go wrong', () => {
  it('leave every slot free, harm nobody else and no agent', { timeout: 30_000 }, async () => {
    const others = new Load(router.url, 'calm', 4);
    const clients = Array.from({ length: REQUESTS }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 5));
      const connection = await RawConnection.open(router.url);
      await CLIENTS[index % CLIENTS.length]?.(connection);
      connection.leave();
    });
    await Promise.all(clients);
    await others.stop();
    assert.ok(others.answered.length > 10 && others.answered.every(({ isWhole }) => isWhole));

    await eventually('every engine is free', async () => {
      const running = await Promise.all([...steady, calm].map(runningRequests));
      return (moody.running() === 0 && running.every((count) => count === 0)) || undefined;
    });
    await eventually('the router is free', async () => {
      const text = await (await fetch(`${router.metricsUrl}/metrics`)).text();
      return (
        (/^http_server_active_requests 0$/m.test(text) && /^hivenet_queue_depth\{model="mixed"\} 0$/m.test(text)) ||
        undefined
      );
    });
    const changes = router.stderr.filter(
      (line) => line.includes('Agent changed state') && !line.includes('to="healthy"'),
    );
    assert.deepEqual(changes, []);
    const blamed = router.stderr.filter((line) => line.includes('Engine gave no usable answer'));
    assert.ok(blamed.length > 0 && blamed.every((line) => line.includes('agent_id="custom-')));
    await assertEverySlotIsFree();
  });
});

/** As many streams as there are slots all run at once, and each agent has its share. */
async function assertEverySlotIsFree(): Promise<void> {
  isCalm = true;
  const count = CAPACITY * 3;
  const connections = await Promise.all(Array.from({ length: count }, () => RawConnection.open(router.url)));
  for (const connection of connections) connection.send(textOf({ min_tokens: 500, max_tokens: 500, stream: true }));
  await Promise.all(connections.map((connection) => connection.until((text) => text.includes('data: '), 1500)));
  assert.deepEqual(
    [...(await Promise.all(steady.map(runningRequests))), moody.running()],
    [CAPACITY, CAPACITY, CAPACITY],
  );
  for (const connection of connections) connection.leave();
}
