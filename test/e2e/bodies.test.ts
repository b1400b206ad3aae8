// Request bodies at the limit and beyond it, however their length is told (E15).

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { accessLines } from '../support/access-log.ts';
import { eventually } from '../support/eventually.ts';
import { breakOff, postText, RawConnection } from '../support/raw-connection.ts';
import {
  ADMIN_KEY,
  type EngineProcess,
  engineFlags,
  type RouterProcess,
  startEngine,
  startRouter,
  untilServing,
} from '../support/router-process.ts';

/** The default of `--max-request-bytes`. */
const LIMIT = 10_485_760;
const PATH = '/v1/chat/completions';

let engine: EngineProcess;
let router: RouterProcess;

before(async () => {
  engine = await startEngine({ name: 'reader', models: ['chat'] });
  router = await startRouter(engineFlags([engine]));
  await untilServing(router, ['chat']);
});

after(async () => void (await Promise.all([router.kill(), engine.kill()])));

/** A valid request of exactly `size` bytes. */
function bodyOf(size: number): string {
  const shell = JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: '' }] });
  return shell.replace('""', `"${'a'.repeat(size - shell.length)}"`);
}

function asStream(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent >= bytes.byteLength) return controller.close();
      controller.enqueue(bytes.subarray(sent, sent + 262_144));
      sent += 262_144;
    },
  });
}

const WAYS = {
  'with Content-Length': (text: string) => text,
  chunked: asStream,
} as const;

function send(body: BodyInit): Promise<Response> {
  return fetch(router.url + PATH, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string };
}

async function assertTooLarge(answer: Response): Promise<void> {
  assert.equal(answer.status, 413);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  const { error } = (await answer.json()) as ErrorBody;
  assert.equal(error.code, 'request_invalid');
  assert.match(error.message, /10485760 bytes/);
}

for (const [way, encode] of Object.entries(WAYS)) {
  describe(`A body ${way}`, () => {
    it('of exactly the limit is served', async () => {
      const answer = await send(encode(bodyOf(LIMIT)));
      assert.equal(answer.status, 200, await answer.clone().text());
      assert.match(await answer.text(), /engine reader, model chat/);
    });

    it('of one byte more is a 413 in JSON', async () => {
      await assertTooLarge(await send(encode(bodyOf(LIMIT + 1))));
    });

    it('of twice the limit is a 413 in JSON', async () => {
      await assertTooLarge(await send(encode(bodyOf(LIMIT * 2))));
    });
  });
}

describe('Large bodies', () => {
  it('an admin document above 16 MiB is a 400 in JSON (A14)', async () => {
    const own = await startRouter(['--auth-mode', 'dynamic']);
    const answer = await fetch(`${own.url}/admin/api-keys/replace`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
      body: 'x'.repeat(18 * 1024 * 1024),
    });
    assert.equal(answer.status, 400);
    assert.match(((await answer.json()) as { error: string }).error, /16777216 bytes/);
    await own.kill();
  });

  it('two of 10 MB at once are both served', async () => {
    const answers = await Promise.all([send(bodyOf(10_000_000)), send(bodyOf(10_000_000))]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  });

  it('a declared length above the limit is refused before the body is sent', async () => {
    const connection = await RawConnection.open(router.url);
    const head = postText(router.url, PATH, {}).replace(
      /Content-Length: 2\r\n\r\n\{\}/,
      `Content-Length: ${LIMIT + 1}\r\n\r\n`,
    );
    connection.send(head);
    const answer = await connection.until((text) => text.includes('}}'), 2000);
    assert.match(answer, /^HTTP\/1\.1 413 /);
    connection.leave();
  });

  it('a body that breaks off reaches no engine', async () => {
    const isBroken = ({ status_code }: { readonly status_code: number }) => status_code === 499;
    const connection = await RawConnection.open(router.url);
    await breakOff(connection, postText(router.url, PATH, { model: 'chat', messages: [] }), 10);
    const line = await eventually('an access line', () => accessLines(router).find(isBroken));
    assert.equal(line.agent_id, undefined);
    assert.equal((await send(bodyOf(1000))).status, 200);
  });
});
