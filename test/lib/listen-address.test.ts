import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseListenAddress } from '../../src/lib/listen-address.ts';

const ACCEPTED: Record<string, [hostname: string | undefined, port: number]> = {
  ':8080': [undefined, 8080],
  ':0': [undefined, 0],
  ':65535': [undefined, 65_535],
  'localhost:1': ['localhost', 1],
  '127.0.0.1:8080': ['127.0.0.1', 8080],
  'router-1.my_site.example:8080': ['router-1.my_site.example', 8080],
  '[::1]:8080': ['::1', 8080],
  '[::FFFF:127.0.0.1]:8080': ['::FFFF:127.0.0.1', 8080],
};

const NOT_AN_ADDRESS = [
  '',
  ':',
  '8080',
  'localhost',
  'localhost:',
  '127.0.0.1:http',
  ':123456',
  ':-1',
  ':+1',
  ':80.0',
  ': 80',
  ' :80',
  ':80\n',
  '::1:8080',
  '[]:80',
  '[::1]',
  '[localhost]:80',
  '[::1:80',
  'http://localhost:80',
  'a b:80',
  'user@host:80',
  ':\u0660',
];

describe('parseListenAddress()', () => {
  for (const [text, [hostname, port]] of Object.entries(ACCEPTED)) {
    it(`reads ${text}`, () => assert.deepEqual(parseListenAddress(text), { ok: true, value: { hostname, port } }));
  }
  for (const text of NOT_AN_ADDRESS) {
    it(`refuses ${JSON.stringify(text)}`, () =>
      assert.deepEqual(parseListenAddress(text), { ok: false, fault: 'not a listen address' }));
  }
  for (const text of [':65536', 'localhost:99999']) {
    it(`refuses the port of ${text}`, () =>
      assert.deepEqual(parseListenAddress(text), { ok: false, fault: 'port above 65535' }));
  }
});
