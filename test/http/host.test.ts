// The Host header and the request target as they come over a real socket, before any URL is parsed (R-217, T-38).

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, describe, it } from 'node:test';
import { openListeners } from '../../src/cli/listeners.ts';
import { hasValidHost } from '../../src/http/host.ts';
import { bunRuntime } from '../../src/runtime/bun.ts';
import { bearer } from '../support/test-router.ts';
import { CHAT, CHAT_BODY, counted, present, rejections, siteA } from './redirect-fixture.ts';

const REFUSED = [
  'a:65536',
  '',
  'x/admin?',
  'x/admin/sibling-map',
  'u@h',
  'u:p@h',
  'a b',
  'a\\b',
  'x#',
  'x?',
  'a:99999',
  'a:',
  'a:x',
  ':80',
  'a,b',
  'a:80:80',
  '[::1',
  '[x]',
  'é',
  '%61',
  'a/',
  'x'.repeat(254),
];
const ACCEPTED = [
  'a',
  '99999',
  'a.example.com',
  'A.Example.COM:8443',
  'a:0',
  'a:65535',
  '127.0.0.1:8080',
  '[::1]',
  '[::1]:443',
  'under_score',
  'x'.repeat(253),
];

describe('hasValidHost()', () => {
  /** As the runtime hands it over: the URL of a request with a bad Host is not absolute. */
  const requestWith = (headers: Headers, url = '/v1/models'): Request => ({ headers, url }) as Request;

  for (const host of REFUSED) {
    it(`refuses ${JSON.stringify(host.slice(0, 30))} (R-217)`, () => {
      const value = Buffer.from(host, 'utf8').toString('latin1');
      assert.equal(hasValidHost(requestWith(new Headers(host === '' ? {} : { host: value }))), false);
    });
  }
  for (const host of ACCEPTED) {
    it(`takes ${JSON.stringify(host.slice(0, 30))} (R-217)`, () =>
      assert.equal(hasValidHost(requestWith(new Headers({ host }))), true));
  }
  it('takes the authority of an absolute URL where HTTP/2 has no Host (R-217)', () => {
    for (const [url, isValid] of [
      ['https://a.example.com/v1/models', true],
      ['https://[::1]:8443/v1/models?x=1', true],
      ['https://a.example.com:99999/', false],
      ['https://u@a.example.com/', false],
      ['/v1/models', false],
    ] as const) {
      assert.equal(hasValidHost(requestWith(new Headers(), url)), isValid, url);
    }
  });
});

describe('a router on a socket', () => {
  const site = siteA();
  const listeners = openListeners(bunRuntime, {
    http: { address: '127.0.0.1:0', tls: undefined, fetch: site.fetch },
    metrics: { address: '127.0.0.1:0', fetch: () => new Response('metrics') },
  });
  assert.ok(listeners.ok);
  const { http, metrics } = listeners.value;
  after(() => {
    http.abort();
    metrics.abort();
  });

  /** The answer to raw bytes, once the connection has ended. */
  function exchange(port: number, request: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let answer = '';
      const socket = connect(port, '127.0.0.1', () => socket.end(Buffer.from(request, 'latin1')));
      socket.on('data', (bytes) => {
        answer += bytes.toString('latin1');
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(answer));
    });
  }

  function post(target: string, host: string): string {
    const { authorization } = bearer('key-1');
    const head = `POST ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\nConnection: close\r\n`;
    return `${head}Content-Length: ${CHAT_BODY.length}\r\n\r\n${CHAT_BODY}`;
  }

  async function get(port: number, path: string, host: string): Promise<number> {
    const answer = await exchange(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return Number(answer.split(' ')[1]);
  }

  it('answers 400 to a Host that is none, and handles nothing (R-217, T-38)', async () => {
    for (const host of ['x/admin?', 'u@h', 'a b', '', 'a\\b', 'x#', 'x?', 'a:99999']) {
      const written = site.written.length;
      assert.equal(await get(http.port, '/health', host), 400, host);
      assert.equal(site.written.slice(written).filter((line) => line.includes('ERROR')).length, 0);
    }
    assert.equal(await get(http.port, '/health', 'a.example.com:8080'), 200);
  });

  it('lets browsers read that 400 of /v1, and logs the path as sent (E3, R-217)', async () => {
    for (const [path, isOpen] of [
      ['/v1/models?a=1', true],
      ['/v1/chat/completions', true],
      ['/health', false],
    ] as const) {
      const answer = await exchange(http.port, `GET ${path} HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n`);
      assert.match(answer, /^HTTP\/1\.1 400 /);
      assert.equal(/\r\naccess-control-allow-origin: \*\r\n/i.test(answer), isOpen, path);
      const line = site.accessLines.at(-1);
      assert.deepEqual([line?.['path'], line?.['error_code']], [path, 'request_invalid']);
    }
  });

  it('answers 400 to such a Host on the metrics port too, without an exception (R-217)', async () => {
    assert.equal(await get(metrics.port, '/metrics', 'a'), 200);
    assert.equal(await get(metrics.port, '/other', 'a'), 404);
    for (const host of ['x/admin?', 'a b', '']) assert.equal(await get(metrics.port, '/metrics', host), 400, host);
  });

  it('makes its Location from nothing that the client wrote into Host or an absolute target (R-077, R-186)', async () => {
    for (const [target, host] of [
      [CHAT, 'evil.com'],
      [`http://evil.com${CHAT}`, 'site-fr-1.example.com'],
      [`https://evil.com:1${CHAT}`, 'evil.com'],
      ['/v1/chat/./completions', 'a'],
      ['/x/../v1/chat/completions', 'a'],
    ] as const) {
      const answer = await exchange(http.port, post(target, host));
      assert.match(answer, /^HTTP\/1\.1 307 /, target);
      const location = present(/\r\nlocation: ([^\r]*)\r\n/i.exec(answer)?.[1]);
      assert.match(location, /^https:\/\/site-fr-2\.example\.com\/v1\/chat\/completions\?rt=v2\./);
    }
  });

  it('takes bytes beyond ASCII and signs of all kinds in a query without an error (R-222, D-48)', async () => {
    for (const query of ['?x=\xc3\xa9', '?x=\xff', '?x="<>{}|\\^`', "?x='", '?%0d%0aX-Evil:1', '?x=%', '?&&=&']) {
      const answer = await exchange(http.port, post(CHAT + query, 'a'));
      assert.match(answer, /^HTTP\/1\.1 (307|404) /, query);
      assert.doesNotMatch(answer.split('\r\n\r\n')[0] ?? '', /\nx-evil/i);
    }
    assert.deepEqual(await rejections(site), counted());
  });

  it('keeps the framing after an early 401 whose body was never read (T-37, R-113)', async () => {
    const first = `POST ${CHAT}?rt=x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello`;
    const answer = await exchange(http.port, `${first}GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    assert.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 401', 'HTTP/1.1 200']);
  });

  /** The first bytes of the answer to a request whose body never comes. */
  function beginOnly(head: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(http.port, '127.0.0.1', () => socket.write(`${head}\r\n\r\n`));
      socket.on('error', reject);
      socket.on('data', (bytes) => {
        socket.destroy();
        resolve(bytes.toString('latin1'));
      });
    });
  }

  it('answers an unsigned token at once while its body has not come, be it 100 MB (R-113)', async () => {
    for (const length of [1_000_000, 100_000_000]) {
      const answer = await beginOnly(`POST ${CHAT}?rt=x HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}`);
      assert.match(answer, /^HTTP\/1\.1 401 /);
    }
  });

  it('answers what is declared too large with its own 413, in JSON and open to browsers (R-035, E3, E4)', async () => {
    const { authorization } = bearer('key-1');
    for (const length of [10_485_761, 100_000_000]) {
      const head = `POST ${CHAT} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Length: ${length}`;
      const answer = await beginOnly(head);
      assert.match(answer, /^HTTP\/1\.1 413 /);
      assert.match(answer, /access-control-allow-origin: \*/i);
      assert.match(answer, /"code":"request_invalid"/);
    }
  });

  it('answers a chunked body that grows too large in the same way (R-035, T-42)', async () => {
    const { authorization } = bearer('key-1');
    const head = `POST ${CHAT} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nTransfer-Encoding: chunked`;
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
    const answer = await beginOnly(`${head}\r\n\r\n${chunk.repeat(11)}`);
    assert.match(answer, /^HTTP\/1\.1 413 /);
    assert.match(answer, /"code":"request_invalid"/);
  });
});
