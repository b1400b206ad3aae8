import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sourceIp } from '../../src/http/source-ip.ts';

const CASES: readonly (readonly [string, Record<string, string>, string])[] = [
  ['the peer', {}, '192.0.2.1'],
  ['the leftmost of X-Forwarded-For', { 'x-forwarded-for': '198.51.100.7, 2001:db8::1' }, '198.51.100.7'],
  ['the peer, when one entry is no address', { 'x-forwarded-for': '198.51.100.7, unknown' }, '192.0.2.1'],
  ['the peer, when an entry is empty', { 'x-forwarded-for': '198.51.100.7,' }, '192.0.2.1'],
  ['X-Real-IP, when X-Forwarded-For is no list', { 'x-forwarded-for': 'x', 'x-real-ip': '2001:db8::2' }, '2001:db8::2'],
  [
    'of X-Forwarded-For, whatever X-Real-IP says',
    { 'x-forwarded-for': '198.51.100.7', 'x-real-ip': '2001:db8::2' },
    '198.51.100.7',
  ],
  ['the peer, when X-Real-IP is no address', { 'x-real-ip': '192.0.2.1:80' }, '192.0.2.1'],
];

describe('sourceIp()', () => {
  for (const [what, headers, expected] of CASES) {
    it(`is ${what} (api.md 16.4)`, () =>
      assert.equal(sourceIp(new Headers(headers), { remoteAddress: '192.0.2.1' }), expected));
  }

  it('shows an IPv4 peer without its mapping', () => {
    assert.equal(sourceIp(new Headers(), { remoteAddress: '::ffff:192.0.2.1' }), '192.0.2.1');
    assert.equal(sourceIp(new Headers(), { remoteAddress: '2001:db8::1' }), '2001:db8::1');
  });
});
