// Streams through the router while something happens: hundreds of them at once, a client that leaves, an engine that
// dies.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { accessLines } from '../support/access-log.ts';
import { eventually } from '../support/eventually.ts';
import { postText, RawConnection } from '../support/raw-connection.ts';
import {
  type EngineProcess,
  engineFlags,
  manyAgents,
  type RouterProcess,
  runningRequests,
  startEngine,
  startRouter,
  untilHealthy,
  untilServing,
} from '../support/router-process.ts';

const STREAMS = 300;
/** Slots of one agent. */
const CAPACITY = 10;
/** Longer than a test: such a stream goes on until somebody ends it. */
const ENDLESS = { messages: [{ role: 'user', content: 'Hello' }], min_tokens: 2000, stream: true };
const OPENAI_PATH = '/v1/chat/completions';

let crowd: EngineProcess;
let steady: EngineProcess;
let silent: EngineProcess;
let router: RouterProcess;

before(async () => {
  [crowd, steady, silent] = await Promise.all([
    startEngine({ name: 'crowd', models: ['crowd'], args: ['--ttft', '500ms', '--tokens-per-second', '0.2'] }),
    startEngine({ name: 'steady', models: ['steady'], args: ['--tokens-per-second', '100'] }),
    startEngine({ name: 'silent', models: ['silent'], args: ['--ttft', '1h'] }),
  ]);
  const agents = [...manyAgents(crowd, STREAMS / CAPACITY), steady, silent];
  router = await startRouter(engineFlags(agents));
  await untilServing(router, ['steady', 'silent']);
  await untilHealthy(router, 'crowd', STREAMS / CAPACITY);
});

after(async () => void (await Promise.all([router, crowd, steady, silent].map((running) => running.kill()))));

function open(model: string, path = OPENAI_PATH): Promise<Response> {
  const body = JSON.stringify({ ...ENDLESS, model, ...(path === OPENAI_PATH ? {} : { max_tokens: 2000 }) });
  return fetch(router.url + path, { method: 'POST', body });
}

function untilRunning(engine: EngineProcess, count: number, deadlineMs = 1000): Promise<true> {
  return eventually(
    `${count} requests at engine`,
    async () => (await runningRequests(engine)) === count || undefined,
    deadlineMs,
  );
}

describe('Concurrent streams', () => {
  it(`${STREAMS} silent ones all get their first byte while all the others are open`, { timeout: 15_000 }, async () => {
    const connections = await Promise.all(Array.from({ length: STREAMS }, () => RawConnection.open(router.url)));
    for (const connection of connections) {
      connection.send(postText(router.url, OPENAI_PATH, { ...ENDLESS, min_tokens: 2, model: 'crowd' }));
    }
    await Promise.all(connections.map((connection) => connection.until((text) => text.includes('data: {'), 4000)));
    assert.equal(await runningRequests(crowd), STREAMS);
    for (const connection of connections) connection.leave();
    await untilRunning(crowd, 0, 2000);
  });
});

describe('A client that leaves', () => {
  const linesOf = (model: string) => accessLines(router).filter((line) => line.model === model);

  /** The engine is free within a second, and the router logs a client that left, no failure. */
  async function assertForgotten(engine: EngineProcess, leave: () => void): Promise<void> {
    const model = engine === steady ? 'steady' : 'silent';
    const before = linesOf(model).length;
    leave();
    await untilRunning(engine, 0, 1000);
    const line = await eventually('an access line', () => linesOf(model)[before]);
    assert.equal(line.status_code, 499);
    assert.equal(line.error_code, 'client_gone');
  }

  it('in the middle of a stream ends the work of the engine within a second (E7)', async () => {
    for (const path of [OPENAI_PATH, '/v1/messages']) {
      const connection = await RawConnection.open(router.url);
      const body = { ...ENDLESS, model: 'steady', max_tokens: 2000 };
      connection.send(postText(router.url, path, body));
      await connection.until((text) => text.split('data: ').length > 5);
      assert.equal(await runningRequests(steady), 1);
      await assertForgotten(steady, () => connection.leave());
    }
  });

  it('before the head ends the work of the engine within a second (E7)', async () => {
    const connection = await RawConnection.open(router.url);
    connection.send(postText(router.url, OPENAI_PATH, { ...ENDLESS, model: 'silent' }));
    await untilRunning(silent, 1);
    await assertForgotten(silent, () => connection.leave());
  });

  it('before the head of a whole answer does so too (E7)', async () => {
    const aborter = new AbortController();
    const body = JSON.stringify({ ...ENDLESS, model: 'silent', stream: false });
    const asked = fetch(router.url + OPENAI_PATH, { method: 'POST', body, signal: aborter.signal });
    const failed = assert.rejects(asked);
    await untilRunning(silent, 1);
    await assertForgotten(silent, () => aborter.abort());
    await failed;
  });

  it('takes no slot with it', async () => {
    for (let count = 0; count < CAPACITY * 2; count += 1) {
      const connection = await RawConnection.open(router.url);
      connection.send(postText(router.url, OPENAI_PATH, { ...ENDLESS, model: 'steady' }));
      await connection.until((text) => text.includes('data: '));
      connection.leave();
    }
    await untilRunning(steady, 0);
    const answers = await Promise.all(Array.from({ length: CAPACITY }, () => open('steady')));
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array.from({ length: CAPACITY }, () => 200),
    );
    await Promise.all(answers.map((answer) => answer.body?.cancel()));
  });
});

describe('An engine that dies in the middle of a stream', () => {
  let mortal: EngineProcess;
  let own: RouterProcess;

  before(async () => {
    mortal = await startEngine({ name: 'mortal', models: ['mortal'], args: ['--tokens-per-second', '100'] });
    own = await startRouter(engineFlags([mortal]));
    await untilServing(own, ['mortal']);
  });

  after(async () => void (await Promise.all([own.kill(), mortal.kill()])));

  it('ends it with the error event of the dialect, and never with a false end (E8)', async () => {
    const ask = (path: string) =>
      fetch(own.url + path, {
        method: 'POST',
        body: JSON.stringify({ ...ENDLESS, model: 'mortal', max_tokens: 2000 }),
      });
    const openai = new OpenAI({ baseURL: `${own.url}/v1`, apiKey: 'none', maxRetries: 0 });
    const anthropic = new Anthropic({ baseURL: own.url, apiKey: 'none', maxRetries: 0 });
    const [openaiText, anthropicText, openaiStream, anthropicStream] = await Promise.all([
      ask(OPENAI_PATH),
      ask('/v1/messages'),
      openai.chat.completions.create({
        model: 'mortal',
        messages: [{ role: 'user', content: 'Hello' }],
        stream: true,
        max_completion_tokens: 2000,
        min_tokens: 2000,
      } as OpenAI.ChatCompletionCreateParamsStreaming),
      anthropic.messages.create({
        model: 'mortal',
        messages: [{ role: 'user', content: 'Hello' }],
        stream: true,
        max_tokens: 2000,
        min_tokens: 2000,
      } as Anthropic.MessageCreateParamsStreaming),
    ]);
    const texts = Promise.all([openaiText.text(), anthropicText.text()]);
    const sdkErrors = Promise.all([
      assert.rejects(Array.fromAsync(openaiStream), /broke off/),
      assert.rejects(Array.fromAsync(anthropicStream), /broke off/),
    ]);
    await mortal.kill();

    const [ofOpenai, ofAnthropic] = await texts;
    const message = '"type":"error","error":{"type":"api_error","message":"The engine broke off its answer."';
    assert.match(ofOpenai, /^data: \{"id":"chatcmpl-mortal-/);
    assert.ok(ofOpenai.trimEnd().split('\n\n').at(-1)?.startsWith(`data: {${message}`), ofOpenai.slice(-300));
    assert.doesNotMatch(ofOpenai, /\[DONE\]/);
    assert.match(ofAnthropic, /^event: message_start\n/);
    assert.ok(ofAnthropic.trimEnd().split('\n\n').at(-1)?.startsWith(`event: error\ndata: {${message}`));
    assert.doesNotMatch(ofAnthropic, /message_stop/);
    await sdkErrors;
    const codes = await eventually('four access lines', () => {
      const lines = accessLines(own).filter(({ method }) => method === 'POST');
      return lines.length === 4 ? lines.map(({ error_code }) => error_code) : undefined;
    });
    assert.deepEqual(
      codes,
      Array.from({ length: 4 }, () => 'backend_error'),
    );
  });
});
