// Answers that come before the body they refuse: at once, without a byte of it, and with the connection left in step or
// closed (R-113, RFC 9112 §9.3).

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { memoryMb } from '../support/memory.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { type RouterProcess, startRouter } from '../support/router-process.ts';

const PATH = '/v1/chat/completions';
const NEXT = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n';
const LIMIT = 1000;
const PATIENT = { timeout: 60_000 };
/** A twentieth of what is sent. */
const GROWTH_MAX_MB = 36;

/** Knows no key: every inference request is a 401 before its body. */
let closed: RouterProcess;
/** Takes bodies of {@link LIMIT} bytes from everyone, and has no engine: 404. */
let open: RouterProcess;

before(async () => {
  [closed, open] = await Promise.all([
    startRouter(['--auth-mode', 'dynamic', '--site-id', 'site-fr-1', '--redirect-allowed-domains', '.example.com'], {
      HIVENET_ROUTER_REDIRECT_SECRETS: `k1:${'s'.repeat(32)}`,
    }),
    startRouter(['--max-request-bytes', String(LIMIT)]),
  ]);
});

after(async () => void (await Promise.all([closed.kill(), open.kill()])));

function head(...headers: readonly string[]): string {
  return [`POST ${PATH} HTTP/1.1`, 'Host: a', ...headers].join('\r\n').concat('\r\n\r\n');
}

const isWhole = (text: string): boolean => text.includes('}}');

/** The request, and the statuses once `after` has been sent behind its first answer. */
async function exchange(router: RouterProcess, request: string, after: string): Promise<readonly string[]> {
  const connection = await RawConnection.open(router.url);
  connection.send(request);
  await connection.until(isWhole);
  connection.send(after);
  const text = await connection.until((received) => received.includes('"ok"') || received.includes('HTTP/1.1 400'));
  connection.leave();
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status);
}

describe('A 401', () => {
  for (const framing of ['Content-Length: 100000000', 'Transfer-Encoding: chunked']) {
    it(`comes before a body with ${framing}, of which nothing has been sent (R-113)`, async () => {
      const connection = await RawConnection.open(closed.url);
      connection.send(head(framing));
      assert.match(await connection.until(isWhole, 2000), /^HTTP\/1\.1 401 /);
      connection.leave();
    });
  }

  it('is the answer to a token that is none, before the body (R-113)', async () => {
    const connection = await RawConnection.open(closed.url);
    connection.send(head('Content-Length: 100000000').replace(PATH, `${PATH}?rt=v2.k1.AAAA.BBBB`));
    assert.match(await connection.until(isWhole, 2000), /^HTTP\/1\.1 401 /);
    connection.leave();
  });

  it('costs no memory when the bodies follow, eight of 90 MB: they are skipped (R-113, T-42)', PATIENT, async () => {
    const body = Buffer.alloc(90_000_000, 0x78);
    const request = head(`Content-Length: ${body.byteLength}`).replace(PATH, `${PATH}?rt=v2.k1.AAAA.BBBB`);
    const before = await memoryMb(closed);
    const connections = await Promise.all(Array.from({ length: 8 }, () => RawConnection.open(closed.url)));
    for (const connection of connections) connection.send(request);
    await Promise.all(connections.map((connection) => connection.until(isWhole, 2000)));
    for (const connection of connections) {
      connection.send(body);
      connection.send(NEXT);
    }
    // That the next request is answered shows that all of the body has come.
    let most = before;
    const watch = setInterval(async () => {
      most = Math.max(most, await memoryMb(closed));
    }, 20);
    const answered = connections.map((connection) => connection.until((text) => text.includes('"ok"'), 30_000));
    await Promise.all(answered).finally(() => clearInterval(watch));
    assert.ok(most - before < GROWTH_MAX_MB, `${before} MB before, ${most} MB`);
    for (const connection of connections) connection.leave();
  });

  it('leaves the connection in step: the body is skipped, and what follows is the next request', async () => {
    const declared = head('Content-Length: 50000');
    assert.deepEqual(await exchange(closed, declared, 'x'.repeat(50_000) + NEXT), ['401', '200']);
    const chunked = head('Transfer-Encoding: chunked');
    assert.deepEqual(await exchange(closed, chunked, `5\r\nhello\r\n0\r\n\r\n${NEXT}`), ['401', '200']);
  });

  it('is followed by a 400 when the skipped body is framed wrongly (R-220)', async () => {
    const chunked = head('Transfer-Encoding: chunked');
    assert.deepEqual(await exchange(closed, chunked, `5\r\nhello\r\nZZ\r\n${NEXT}`), ['401', '400']);
  });
});

describe('A 413', () => {
  it('comes before a declared body, and leaves the connection in step', async () => {
    const size = LIMIT + 1;
    const declared = head(`Content-Length: ${size}`);
    assert.deepEqual(await exchange(open, declared, 'x'.repeat(size) + NEXT), ['413', '200']);
  });

  it('comes in the middle of a chunked body, and leaves the connection in step', async () => {
    const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
    const begun = head('Transfer-Encoding: chunked') + chunk;
    assert.deepEqual(await exchange(open, begun, `${chunk}0\r\n\r\n${NEXT}`), ['413', '200']);
  });
});

describe('Expect: 100-continue', () => {
  it('is answered, and the body then read (clients.md 7.11)', async () => {
    const connection = await RawConnection.open(open.url);
    const body = '{"model":"m"}';
    connection.send(head(`Content-Length: ${body.length}`, 'Expect: 100-continue'));
    await connection.until((text) => text === 'HTTP/1.1 100 Continue\r\n\r\n', 2000);
    connection.send(body);
    assert.match(await connection.until(isWhole), /HTTP\/1\.1 404 /);
    connection.leave();
  });

  it('of a request that is refused is answered with the refusal too, without a body', async () => {
    const connection = await RawConnection.open(closed.url);
    connection.send(head('Content-Length: 100000', 'Expect: 100-continue'));
    assert.match(await connection.until(isWhole, 2000), /HTTP\/1\.1 401 /);
    connection.leave();
  });
});
