// More requests than slots: who waits, who is turned away, and what an operator sees of it.

import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { accessLines } from '../support/access-log.ts';
import { eventually } from '../support/eventually.ts';
import { postText, RawConnection } from '../support/raw-connection.ts';
import {
  type EngineProcess,
  engineFlags,
  type RouterProcess,
  runningRequests,
  startEngine,
  startRouter,
  untilServing,
} from '../support/router-process.ts';

/** Slots of one agent. */
const CAPACITY = 10;
const PATH = '/v1/chat/completions';
const ASK = { model: 'chat', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 2 };
/** Longer than any test. */
const ENDLESS = { ...ASK, stream: true, min_tokens: 2000, max_tokens: 2000 };

let engine: EngineProcess;
let router: RouterProcess;

afterEach(async () => void (await Promise.all([router.kill(), engine.kill()])));

async function startWith(pace: readonly string[], ...flags: readonly string[]): Promise<void> {
  engine = await startEngine({ name: 'narrow', models: ['chat'], args: pace });
  router = await startRouter([...flags, ...engineFlags([engine])]);
  await untilServing(router, ['chat']);
}

const ask = (body: object = ASK) => fetch(router.url + PATH, { method: 'POST', body: JSON.stringify(body) });

async function metric(series: string): Promise<number> {
  const text = await (await fetch(`${router.metricsUrl}/metrics`)).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1));
}

/** Takes every slot with streams that do not end by themselves. */
async function fillSlots(): Promise<readonly RawConnection[]> {
  const connections = await Promise.all(Array.from({ length: CAPACITY }, () => RawConnection.open(router.url)));
  for (const connection of connections) connection.send(postText(router.url, PATH, ENDLESS));
  await Promise.all(connections.map((connection) => connection.until((text) => text.includes('data: '))));
  return connections;
}

const untilQueued = (count: number) =>
  eventually(
    `${count} in the queue`,
    async () => (await metric('hivenet_queue_depth{model="chat"}')) === count || undefined,
  );

describe('Requests beyond the capacity', () => {
  it('wait and are all served, never more at a time than there are slots', async () => {
    await startWith(['--ttft', '100ms']);
    let most = 0;
    const watch = setInterval(() => void runningRequests(engine).then((count) => (most = Math.max(most, count))), 10);
    const answers = await Promise.all(Array.from({ length: 4 * CAPACITY }, () => ask()));
    clearInterval(watch);
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.ok(most <= CAPACITY && most > CAPACITY / 2, `${most} at a time`);
    assert.equal(await metric('hivenet_queue_wait_seconds_count{model="chat"}'), 3 * CAPACITY);
    assert.equal(await metric('hivenet_queue_depth{model="chat"}'), 0);
  });

  it('are turned away at once beyond --queue-depth, with a time to come back', async () => {
    await startWith(['--tokens-per-second', '20'], '--queue-depth', '2');
    const running = await fillSlots();
    const waiting = [ask(), ask()];
    await untilQueued(2);
    const refused = await ask();
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.equal(((await refused.json()) as { error: { code: string } }).error.code, 'no_capacity');
    for (const connection of running) connection.leave();
    assert.deepEqual(
      (await Promise.all(waiting)).map(({ status }) => status),
      [200, 200],
    );
  });

  it('free their place as soon as their client leaves, and are logged as such', async () => {
    await startWith(['--tokens-per-second', '20'], '--queue-depth', '1');
    const running = await fillSlots();
    const client = await RawConnection.open(router.url);
    client.send(postText(router.url, PATH, ASK));
    await untilQueued(1);
    client.leave();
    await untilQueued(0);
    const line = await eventually('a line', () => accessLines(router).find(({ status_code }) => status_code === 499));
    assert.deepEqual([line.error_code, line.agent_id], ['client_gone', undefined]);
    const next = ask();
    await untilQueued(1);
    running[0]?.leave();
    assert.equal((await next).status, 200);
    for (const connection of running) connection.leave();
  });

  it('end with 504 when none came free within --request-timeout', async () => {
    await startWith(['--tokens-per-second', '20'], '--request-timeout', '300ms');
    const running = await fillSlots();
    const answer = await ask();
    assert.equal(answer.status, 504);
    assert.match(await answer.text(), /was free within the request timeout/);
    for (const connection of running) connection.leave();
  });

  it('end with 503 and a time to come back when the grace of a stop is over (E13)', async () => {
    await startWith(['--tokens-per-second', '20'], '--shutdown-grace', '100ms');
    await fillSlots();
    const waiting = ask();
    await untilQueued(1);
    router.signal('SIGTERM');
    const answer = await waiting;
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1']);
    assert.equal(await router.ended, 0);
  });

  it('are not sent anywhere with --queue-depth 0', async () => {
    await startWith(['--tokens-per-second', '20'], '--queue-depth', '0');
    const running = await fillSlots();
    assert.equal((await ask()).status, 503);
    for (const connection of running) connection.leave();
  });
});

describe('--max-tries-per-step', () => {
  it('bounds the engines that may fail one request', async () => {
    engine = await startEngine({ name: 'narrow', models: ['chat'], args: ['--error-rate', '1'] });
    const { port } = new URL(engine.url);
    const agents = Array.from({ length: 4 }, (_, index) => `vllm=http://agent-${index}.localhost:${port}`);
    router = await startRouter(['--max-tries-per-step', '2', ...agents.flatMap((agent) => ['--engine', agent])]);
    await untilServing(router, ['chat']);
    assert.equal((await ask()).status, 502);
    await eventually('two failed tries', () => {
      const failed = router.stderr.filter((line) => line.includes('Engine gave no usable answer'));
      return failed.length === 2 || undefined;
    });
  });
});
