// Bodies that cost a router more than they are worth, over plain sockets: too slow, too many, too small pieces, bombs.
// Each gets one clear answer, and what it took is given back (R-218, T-41, T-42).

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { accessLineOf } from '../support/access-log.ts';
import { eventually } from '../support/eventually.ts';
import { memoryMb } from '../support/memory.ts';
import { RawConnection } from '../support/raw-connection.ts';
import {
  ADMIN_KEY,
  type EngineProcess,
  engineFlags,
  metricOf,
  type RouterProcess,
  startEngine,
  startRouter,
  untilServing,
} from '../support/router-process.ts';

const PATH = '/v1/chat/completions';
/** The least that `--body-memory` takes: three bodies of 10 MB. */
const BODY_MEMORY = 33_554_432;
const BODY_TIMEOUT_MS = 400;
const BIG = 10_000_000;
/** What a garbage collector may leave lying of a few such bodies. */
const GROWTH_MAX_MB = 200;

let engine: EngineProcess;
/** With a short time for a body. */
let hasty: RouterProcess;
/** With a small memory for bodies. */
let small: RouterProcess;

before(async () => {
  engine = await startEngine({ name: 'reader', models: ['chat'] });
  const flags = engineFlags([engine]);
  [hasty, small] = await Promise.all([
    startRouter(['--body-timeout', `${BODY_TIMEOUT_MS}ms`, ...flags]),
    startRouter(['--body-memory', String(BODY_MEMORY), ...flags]),
  ]);
  await Promise.all([hasty, small].map((router) => untilServing(router, ['chat'])));
});

after(async () => void (await Promise.all([hasty, small, engine].map((running) => running.kill()))));

/** The head of a POST; `framing` is a whole header line. */
function head(framing: string, path = PATH): string {
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;
}

/** A valid request of exactly `size` bytes. */
function bodyOf(size: number): string {
  const shell = JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: '' }] });
  return shell.replace('""', `"${'a'.repeat(size - shell.length)}"`);
}

/** Resolves once the router holds exactly this many bytes of bodies. */
function untilHeld(router: RouterProcess, bytes: number): Promise<unknown> {
  return eventually(`${bytes} bytes of bodies`, async () =>
    (await metricOf(router, 'hivenet_router_body_bytes')) === bytes ? true : undefined,
  );
}

describe('A body that trickles', () => {
  const ways = {
    'with a small Content-Length': ['Content-Length: 1000', ' '],
    'with a large Content-Length': ['Content-Length: 1000000', ' '],
    chunked: ['Transfer-Encoding: chunked', '1\r\n \r\n'],
  } as const;
  for (const [way, [framing, piece]] of Object.entries(ways)) {
    it(`${way} is a 400 that names the limit, and the connection is closed (E15, T-41)`, async () => {
      const connection = await RawConnection.open(hasty.url);
      const startedMs = performance.now();
      connection.send(head(framing));
      const trickle = setInterval(() => connection.send(piece), 20);
      const answer = await connection.closed(3000).finally(() => clearInterval(trickle));
      assert.ok(performance.now() - startedMs >= BODY_TIMEOUT_MS - 5);
      assert.match(answer, /^HTTP\/1\.1 400 /);
      assert.match(answer, /\r\nconnection: close\r\n/i);
      assert.match(answer, /"message":"The request body was not complete within 400 ms \(--body-timeout\)\."/);
      const [, requestId = ''] = /\r\nx-request-id: (\S+)\r\n/i.exec(answer) ?? [];
      const line = await accessLineOf(hasty, requestId);
      assert.equal(line.agent_id, undefined);
      await untilHeld(hasty, 0);
    });
  }
});

describe('A flood of chunks', () => {
  it('of one byte each, 200,000 of them, is served and costs little memory (T-42)', async () => {
    const before = await memoryMb(small);
    const connection = await RawConnection.open(small.url);
    connection.send(head('Transfer-Encoding: chunked\r\nConnection: close'));
    connection.send(`${[...bodyOf(200_000)].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`);
    assert.match(await connection.closed(), /^HTTP\/1\.1 200 /);
    assert.ok((await memoryMb(small)) - before < 50, 'a chunk costs more than its byte');
    await untilHeld(small, 0);
  });
});

/** Connections that have sent all of a body of BIG bytes but the last one. */
async function holders(count: number): Promise<RawConnection[]> {
  const held = await Promise.all(Array.from({ length: count }, () => RawConnection.open(small.url)));
  for (const connection of held) connection.send(`${head(`Content-Length: ${BIG}`)}${'x'.repeat(BIG - 1)}`);
  await untilHeld(small, count * (BIG - 1));
  return held;
}

describe('More bodies than --body-memory', () => {
  it('are a 503 before they are sent, until others are over (E15, R-218)', async () => {
    const held = await holders(3);
    const fourth = await RawConnection.open(small.url);
    fourth.send(head(`Content-Length: ${BIG}`));
    const refusal = await fourth.until((text) => text.includes('}}'));
    assert.match(refusal, /^HTTP\/1\.1 503 /);
    assert.match(refusal, /\r\nretry-after: 1\r\n/i);
    assert.match(refusal, /"code":"queue_full"/);
    assert.equal((await fetch(small.url + PATH, { method: 'POST', body: bodyOf(1000) })).status, 200, 'a small one');
    held[0]?.leave();
    await untilHeld(small, 2 * (BIG - 1));
    assert.equal((await fetch(small.url + PATH, { method: 'POST', body: bodyOf(BIG) })).status, 200);
    for (const connection of [...held, fourth]) connection.leave();
    await untilHeld(small, 0);
  });

  it('are not made of bodies that were declared and never came, nor do those take memory', async () => {
    const before = await memoryMb(small);
    // One less than eight times the memory has room for.
    const silent = await Promise.all(Array.from({ length: 25 }, () => RawConnection.open(small.url)));
    for (const connection of silent) connection.send(`${head(`Content-Length: ${BIG}`)}{`);
    await untilHeld(small, silent.length);
    const post = async (size: number) => (await fetch(small.url + PATH, { method: 'POST', body: bodyOf(size) })).status;
    assert.equal(await post(BIG), 200);
    const last = await RawConnection.open(small.url);
    last.send(`${head(`Content-Length: ${BIG}`)}{`);
    await untilHeld(small, silent.push(last));
    assert.deepEqual([await post(BIG), await post(1000)], [503, 200]);
    assert.ok((await memoryMb(small)) - before < GROWTH_MAX_MB);
    for (const connection of silent) connection.leave();
    await untilHeld(small, 0);
  });

  it('keep no operator out', async () => {
    const held = await holders(3);
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const body = `{"aliases":{}}${' '.repeat(BIG)}`;
    const pushed = await fetch(`${small.url}/admin/model-aliases`, { method: 'PUT', headers, body });
    // Read, and then found to be longer than such a table may be.
    assert.equal(pushed.status, 400);
    for (const connection of held) connection.leave();
    await untilHeld(small, 0);
  });

  it('come back when their clients leave, chunked ones too', async () => {
    const [declared, chunked] = await Promise.all([RawConnection.open(small.url), RawConnection.open(small.url)]);
    declared.send(`${head(`Content-Length: ${BIG}`)}{`);
    chunked.send(`${head('Transfer-Encoding: chunked')}1\r\n{\r\n`);
    await untilHeld(small, 1 + 16_384);
    chunked.leave();
    await untilHeld(small, 1);
    declared.leave();
    await untilHeld(small, 0);
  });

  it('leave a connection in step: the refused body is skipped, and the next request is read as one', async () => {
    const held = await holders(3);
    const connection = await RawConnection.open(small.url);
    connection.send(head(`Content-Length: ${BIG}`));
    await connection.until((text) => text.includes('}}'));
    connection.send(`${'x'.repeat(BIG)}GET /health HTTP/1.1\r\nHost: a\r\n\r\n`);
    assert.match(await connection.until((text) => text.includes('HTTP/1.1 200 ')), / 503 .*HTTP\/1\.1 200 /s);
    for (const each of [...held, connection]) each.leave();
    await untilHeld(small, 0);
  });

  it('leave a connection in step also when a body is refused in its middle', async () => {
    const held = await holders(2);
    const connection = await RawConnection.open(small.url);
    connection.send(`${head(`Content-Length: ${BIG}`)}x`);
    await untilHeld(small, 2 * (BIG - 1) + 1);
    const third = await RawConnection.open(small.url);
    third.send(`${head(`Content-Length: ${BIG}`)}${'x'.repeat(BIG - 1)}`);
    await untilHeld(small, 3 * (BIG - 1) + 1);
    connection.send(`${'x'.repeat(BIG - 1)}GET /health HTTP/1.1\r\nHost: a\r\n\r\n`);
    assert.match(await connection.until((text) => text.includes('HTTP/1.1 200 ')), / 503 .*HTTP\/1\.1 200 /s);
    for (const each of [...held, third, connection]) each.leave();
    await untilHeld(small, 0);
  });
});

describe('A bomb', () => {
  const zeros = Buffer.alloc(256 * 1024 * 1024, 0x20);
  const bombs = { gzip: gzipSync(zeros, { level: 1 }), zstd: zstdCompressSync(zeros), br: brotliOf(zeros) };

  for (const [coding, bomb] of Object.entries(bombs)) {
    it(`in ${coding} of 256 MiB is a 413, and the router keeps its size (E5)`, async () => {
      const before = await memoryMb(small);
      const headers = { 'content-encoding': coding };
      const answers = await Promise.all(
        [1, 2].map(() => fetch(small.url + PATH, { method: 'POST', headers, body: bomb })),
      );
      for (const answer of answers) assert.match(await answer.text(), /larger than 10485760 bytes|queue_full/);
      assert.ok(answers.some(({ status }) => status === 413));
      assert.ok((await memoryMb(small)) - before < GROWTH_MAX_MB);
      await untilHeld(small, 0);
    });
  }

  /** At its default of quality, this takes seconds. */
  function brotliOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    return new Uint8Array(brotliCompressSync(bytes.subarray(0, 64 * 1024 * 1024), { params: { 1: 2 } }));
  }
});

describe('An encoded body', () => {
  it('that is cut short is a 400 and reaches no engine (E5)', async () => {
    const body = gzipSync(bodyOf(1000)).subarray(0, -4);
    const answer = await fetch(small.url + PATH, { method: 'POST', headers: { 'content-encoding': 'gzip' }, body });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /not one whole gzip body/);
    const line = await accessLineOf(small, answer.headers.get('x-request-id') ?? '');
    assert.equal(line.agent_id, undefined);
  });
});

describe('All of this', () => {
  it('was no news for the application log', () => {
    for (const line of [...hasty.stderr, ...small.stderr])
      assert.match(line, /Agent changed state|Rejected model aliases/);
  });
});
