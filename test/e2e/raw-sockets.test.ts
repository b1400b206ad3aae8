// Requests that no HTTP client would send, over plain sockets: each gets one clear answer or none, never the inside of
// the program, and the next client is served as if nothing had been.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { RawConnection } from '../support/raw-connection.ts';
import { metricOf, type RouterProcess, startRouter } from '../support/router-process.ts';

let router: RouterProcess;
const received: string[] = [];

before(async () => {
  router = await startRouter([]);
});

afterEach(async () => {
  assert.equal((await fetch(`${router.url}/health`)).status, 200);
});

after(() => router.kill());

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** The answer to its last byte, with the connection left open or closed. */
async function exchange(bytes: string): Promise<Answer> {
  const connection = await RawConnection.open(router.url);
  connection.send(bytes);
  const text = await connection.until(isWhole).catch(() => connection.received);
  connection.leave();
  return note(text);
}

/** The answer after which the router closes the connection by itself. */
async function exchangeToClose(bytes: string): Promise<Answer> {
  const connection = await RawConnection.open(router.url);
  connection.send(bytes);
  return note(await connection.closed(1000));
}

function note(text: string): Answer {
  received.push(text);
  return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]), text };
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? Number.POSITIVE_INFINITY);
  return end !== -1 && text.length >= end + 4 + length;
}

function lines(...all: readonly string[]): string {
  return `${all.join('\r\n')}\r\n\r\n`;
}

function assertHostRefused({ status, text }: Answer): void {
  assert.equal(status, 400, text);
  assert.match(text, /\r\ncontent-type: application\/json/i);
  assert.match(text, /"message":"The Host header is missing or is not host\[:port\]\."/);
}

describe('A Host header', () => {
  const bad = [
    'x/admin?',
    'u@h',
    'a b',
    '',
    'a\\b',
    'x#',
    'x?',
    'a:99999',
    'a:',
    'a:b',
    '[::1',
    '[::1]:1:2',
    'a,b',
    'a\u00e9',
  ];
  for (const host of bad) {
    it(`of ${JSON.stringify(host)} is refused before anything reads the URL (R-217, D-49)`, async () => {
      for (const path of ['/health', '/admin/sibling-map', '/v1/models']) {
        assertHostRefused(await exchange(lines(`GET ${path} HTTP/1.1`, `Host: ${host}`)));
      }
    });
  }

  for (const host of ['a', 'a.b-c_d:1', 'a:65535', '127.0.0.1:80', '[::1]', '[::1]:65535']) {
    it(`of "${host}" is accepted`, async () => {
      assert.equal((await exchange(lines('GET /health HTTP/1.1', `Host: ${host}`))).status, 200);
    });
  }

  it('that is missing is refused (R-217)', async () => {
    assert.equal((await exchange(lines('GET /health HTTP/1.1'))).status, 400);
  });

  it('that is missing in HTTP/1.0 is refused in JSON, and the connection closed', async () => {
    assertHostRefused(await exchangeToClose(lines('GET /health HTTP/1.0')));
  });

  it('that is there in HTTP/1.0 is accepted', async () => {
    assert.equal((await exchange(lines('GET /health HTTP/1.0', 'Host: a'))).status, 200);
  });
});

describe('Ambiguous framing', () => {
  const chunks = '2\r\n{}\r\n0\r\n\r\n';
  const length = 'Content-Length: 2';
  const cases: Readonly<Record<string, readonly [headers: readonly string[], body: string]>> = {
    'Content-Length before Transfer-Encoding': [[length, 'Transfer-Encoding: chunked'], chunks],
    'Transfer-Encoding before Content-Length': [['Transfer-Encoding: chunked', length], chunks],
    'two different Content-Length': [[length, 'Content-Length: 3'], '{}'],
    'a list as Content-Length': [['Content-Length: 2, 2'], '{}'],
    'a signed Content-Length': [['Content-Length: +2'], '{}'],
    'a Content-Length with a blank before its colon': [['Content-Length : 2'], '{}'],
    'an unknown Transfer-Encoding': [['Transfer-Encoding: xchunked'], chunks],
    'a Transfer-Encoding that does not end in chunked': [['Transfer-Encoding: chunked, gzip'], chunks],
    'a folded header': [['X-Folded: a', ' b', length], '{}'],
    'a chunk size that is no number': [['Transfer-Encoding: chunked'], 'ZZ\r\n{}\r\n0\r\n\r\n'],
  };
  for (const [name, [headers, body]] of Object.entries(cases)) {
    it(`by ${name} is refused, and the connection closed (R-220)`, async () => {
      const head = lines('POST /v1/chat/completions HTTP/1.1', 'Host: a', ...headers);
      const { status, text } = await exchangeToClose(head + body);
      assert.equal(status, 400, text);
    });
  }

  it('by two equal Content-Length is none (A13)', async () => {
    const head = lines('POST /v1/chat/completions HTTP/1.1', 'Host: a', length, length);
    const { status, text } = await exchange(`${head}{}`);
    assert.equal(status, 400);
    assert.match(text, /\\"model\\" is required/);
    assert.equal(await metricOf(router, 'hivenet_router_body_bytes'), 0);
  });

  it('by two equal Content-Length keeps the limit of a body (A13, R-218)', async () => {
    const declared = 'Content-Length: 10485761';
    const head = lines('POST /v1/chat/completions HTTP/1.1', 'Host: a', declared, declared);
    assert.equal((await exchange(head)).status, 413);
  });
});

describe('A request line', () => {
  const cases: Readonly<Record<string, readonly [bytes: string, statuses: readonly number[]]>> = {
    'that is none': ['GARBAGE\r\n\r\n', [400]],
    'of another HTTP version': [lines('GET /health HTTP/2.0', 'Host: a'), [400, 505]],
    'of 20 KB': [lines(`GET /${'a'.repeat(20_000)} HTTP/1.1`, 'Host: a'), [414, 431]],
    'with an absolute URL of somebody else': [
      lines('GET http://evil.example/admin/sibling-map HTTP/1.1', 'Host: a'),
      [401],
    ],
    'with two slashes': [lines('GET //admin/sibling-map HTTP/1.1', 'Host: a'), [404]],
    'with dot segments into /admin': [lines('GET /v1/../admin/sibling-map HTTP/1.1', 'Host: a'), [401]],
    'with a NUL': [lines('GET /health%00 HTTP/1.1', 'Host: a'), [404]],
    'with the method CONNECT': [lines('CONNECT a:443 HTTP/1.1', 'Host: a:443'), [400, 404, 405]],
    'with the method TRACE': [lines('TRACE /health HTTP/1.1', 'Host: a'), [405]],
  };
  for (const [name, [bytes, statuses]] of Object.entries(cases)) {
    it(`${name} is refused`, async () => {
      const { status, text } = await exchange(bytes);
      assert.ok(statuses.includes(status), text);
    });
  }
});

describe('All of these answers', () => {
  it('hold no stack, no HTML and no name of a source file, and nothing was logged', () => {
    assert.ok(received.length > 60, String(received.length));
    for (const text of received) assert.doesNotMatch(text, /<|\bat \S+ \(|\.tsx?\b|node:|bunfs|Error:/);
    assert.deepEqual(router.stderr, []);
  });
});
