import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientHeaders, engineHeaders, fieldsOf } from '../../src/dispatch/headers.ts';

const CANARY = 'canary';

describe('engineHeaders()', () => {
  const kept = [
    'content-type',
    'accept',
    'user-agent',
    'anthropic-version',
    'anthropic-beta',
    'traceparent',
    'x-session-id',
  ];
  for (const name of kept) {
    it(`passes ${name} on`, () => {
      assert.equal(engineHeaders(new Headers({ [name]: CANARY }), 'id')[name], CANARY);
    });
  }

  const dropped = [
    'Authorization',
    'X-API-Key',
    'Api-Key',
    'Cookie',
    'Referer',
    'X-Hivenet-Scope',
    'rt',
    'Host',
    'Content-Length',
    'Content-Encoding',
    'Expect',
    'Connection',
    'Keep-Alive',
    'Proxy-Authenticate',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
  ];
  for (const name of dropped) {
    it(`keeps ${name} from the engine (E6)`, () => {
      assert.equal(name.toLowerCase() in engineHeaders(new Headers({ [name]: CANARY }), 'id'), false);
    });
  }

  it('drops what Connection names, in any case and spacing, and skips what is no name', () => {
    const headers = new Headers({
      connection: 'close,  X-One ,x-two,, a b, (',
      'x-one': '1',
      'X-Two': '2',
      'x-three': '3',
    });
    const names = Object.keys(engineHeaders(headers, 'id')).sort();
    assert.deepEqual(names, ['accept-encoding', 'content-type', 'x-request-id', 'x-three']);
  });

  it('sets encoding, request ID and a missing content type itself, whatever Connection names', () => {
    const headers = new Headers({
      connection: 'x-request-id, accept-encoding',
      'accept-encoding': 'br',
      'x-request-id': 'theirs',
    });
    assert.deepEqual(engineHeaders(headers, 'ours'), {
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'x-request-id': 'ours',
    });
  });

  it('leaves the client’s own headers unchanged', () => {
    const headers = new Headers({ authorization: CANARY });
    engineHeaders(headers, 'id');
    assert.equal(headers.get('authorization'), CANARY);
  });
});

describe('clientHeaders()', () => {
  it('drops a header that repeats the engine’s key, and no other', () => {
    const headers = { 'x-seen': 'Bearer sk-1', 'x-other': 'sk-2' };
    assert.deepEqual(Object.keys(clientHeaders(headers, 'sk-1')), ['x-other']);
    assert.deepEqual(Object.keys(clientHeaders(headers)), ['x-seen', 'x-other']);
  });

  for (const name of ['content-type', 'content-encoding', 'openai-processing-ms', 'x-engine']) {
    it(`passes ${name} on`, () => assert.equal(clientHeaders({ [name.toLowerCase()]: CANARY })[name], CANARY));
  }

  const dropped = [
    'Connection',
    'Keep-Alive',
    'Proxy-Authenticate',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Content-Length',
    'Set-Cookie',
    'X-Request-ID',
    'X-Client-Request-ID',
    'Access-Control-Allow-Origin',
    'Access-Control-Allow-Credentials',
    'X-RateLimit-Remaining-Requests',
    'X-RateLimit-Remaining-Tokens',
  ];
  for (const name of dropped) {
    it(`keeps ${name} from the client`, () => {
      assert.equal(name.toLowerCase() in clientHeaders({ [name.toLowerCase()]: CANARY }), false);
    });
  }

  it('drops every cookie and what Connection names', () => {
    const headers = new Headers([
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
      ['connection', 'x-hop'],
      ['x-hop', '1'],
      ['x-end', '2'],
    ]);
    assert.deepEqual(Object.keys(clientHeaders(fieldsOf(headers))), ['x-end']);
  });
});

describe('fieldsOf()', () => {
  it('reads what a Headers holds, names in lower case and repeated ones joined', () => {
    const headers = new Headers([
      ['X-One', '1'],
      ['Vary', 'a'],
      ['vary', 'b'],
      ['Content-Type', 'text/plain'],
    ]);
    assert.deepEqual(fieldsOf(headers), { 'content-type': 'text/plain', vary: 'a, b', 'x-one': '1' });
  });

  it('counts every cookie', () => {
    const headers = new Headers();
    for (const value of ['a=1', 'b=2']) headers.append('set-cookie', value);
    assert.deepEqual(fieldsOf(headers), { 'set-cookie': 'a=1,b=2' });
  });
});
