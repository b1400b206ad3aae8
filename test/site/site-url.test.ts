import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { parseSiteUrl } from '../../src/site/site-url.ts';
import { ROUTER } from './map-document.ts';

const { domains } = ROUTER;

const FORM = 'not an absolute https:// URL';
const PATH = 'has a path, query or fragment';
const CREDENTIALS = 'has credentials';
const HOST = 'host is not a DNS name';
const PORT = 'port is not a number from 1 to 65535';
const DOMAIN = 'host is not below an allowed domain';

const LABEL_63 = 'a'.repeat(63);
/** 241 characters, which with `.example.com` are the 253 of the longest host. */
const LONGEST = `${LABEL_63}.${LABEL_63}.${LABEL_63}.${'a'.repeat(49)}`;

describe('parseSiteUrl()', () => {
  const TAKEN = {
    'https://a.example.com': 'https://a.example.com',
    'https://a.example.com/': 'https://a.example.com',
    'HTTPS://A.Example.COM': 'https://a.example.com',
    'https://a.example.com:443/': 'https://a.example.com',
    'https://a.b.example.com': 'https://a.b.example.com',
    'https://a.example.com:8443': 'https://a.example.com:8443',
    'https://a.example.com:1': 'https://a.example.com:1',
    'https://a.example.com:65535/': 'https://a.example.com:65535',
    'https://xn--bcher-kva.example.com': 'https://xn--bcher-kva.example.com',
    [`https://${LABEL_63}.example.com`]: `https://${LABEL_63}.example.com`,
    [`https://${LONGEST}.example.com`]: `https://${LONGEST}.example.com`,
  };
  for (const [text, url] of Object.entries(TAKEN)) {
    it(`reads ${text} as ${url} (2.7)`, () => assert.deepEqual(parseSiteUrl(text, domains), { ok: true, value: url }));
  }

  const REFUSED: Record<string, readonly string[]> = {
    [FORM]: [
      ...['', 'http://a.example.com', 'wss://a.example.com', '//a.example.com', 'a.example.com', 'https:a.example.com'],
      ...['https:\\\\a.example.com', 'https:///a.example.com', ' https://a.example.com', '\thttps://a.example.com'],
      ...[
        'http\u017f://a.example.com',
        'https:/a.example.com',
        'ttps://a.example.com',
        'javascript:https://a.example.com',
        'https\n://a.example.com',
      ],
    ],
    [PATH]: [
      ...['https://a.example.com//', 'https://a.example.com/x', 'https://a.example.com?', 'https://a.example.com/?'],
      ...[
        'https://a.example.com#',
        'https://a.example.com/#',
        'https://a.example.com\\',
        'https://evil.com\\.example.com',
      ],
      ...['https://evil.com/.example.com', 'https://evil.com#.example.com', 'https://evil.com?.example.com'],
      ...['https://evil.com/@a.example.com', 'https://a.example.com/..'],
    ],
    [CREDENTIALS]: [
      ...[
        'https://u@a.example.com',
        'https://@a.example.com',
        'https://u:p@a.example.com',
        'https://evil.com@a.example.com',
      ],
    ],
    [HOST]: [
      ...[
        'https://',
        'https://.example.com',
        'https://a..example.com',
        'https://-a.example.com',
        'https://a-.example.com',
      ],
      ...['https://a_b.example.com', `https://${LABEL_63}a.example.com`, `https://${LONGEST}a.example.com`],
      ...[
        'https://a.example.com.',
        'https://a%2eexample.com',
        'https://\uff41.example.com',
        'https://bücher.example.com',
      ],
      ...['https://\u212a.example.com', 'https://a .example.com', 'https://a\t.example.com', 'https://a\n.example.com'],
      ...[
        'https://a.example.com ',
        'https://a.example.com\n',
        'https://a.example.com\u0000',
        'https://[::1]',
        'https://:8443',
      ],
      ...['https://a\uff0eexample.com', 'https://a\u00ad.example.com', 'https://*.example.com'],
    ],
    [PORT]: [
      ...[
        'https://a.example.com:',
        'https://a.example.com:/',
        'https://a.example.com:0',
        'https://a.example.com:00443',
      ],
      ...[
        'https://a.example.com:65536',
        'https://a.example.com:8a',
        'https://a.example.com:-1',
        'https://a.example.com:+443',
      ],
      ...[
        'https://a.example.com:443:443',
        'https://a.example.com:1e3',
        'https://a.example.com:٤٤٣',
        'https://a.example.com: 443',
      ],
    ],
    [DOMAIN]: [
      ...['https://example.com', 'https://evilexample.com', 'https://example.com.evil.com', 'https://127.0.0.1'],
      'https://a.example.com.evil.com',
      ...['https://a.example.co', 'https://a.example.com.com', 'https://localhost:8443'],
    ],
  };
  for (const [rule, texts] of Object.entries(REFUSED)) {
    for (const text of texts) {
      it(`refuses ${JSON.stringify(text).slice(0, 80)}: ${rule} (R-184, R-185)`, () => {
        assert.deepEqual(parseSiteUrl(text, domains), { ok: false, fault: rule });
      });
    }
  }

  const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
  const grammar = new RegExp(`^[Hh][Tt]{2}[Pp][Ss]://(?:${label}\\.)+example\\.com(?::([1-9][0-9]{0,4}))?/?$`);
  const pieces = fc.array(
    fc.constantFrom('a', 'B', '-', '.', ':', '/', '@', '9', '0', '443', '\\', '?', '#', 'é', ' '),
  );
  const texts = fc
    .tuple(fc.constantFrom('https://', 'HTTPS://', 'http://', 'https:/'), pieces, pieces)
    .map(([scheme, before, after]) => `${scheme}${before.join('')}.example.com${after.join('')}`);
  it('accepts exactly what the grammar of 2.7 accepts', () =>
    fc.assert(
      fc.property(texts, (text) => {
        const match = grammar.exec(text);
        assert.equal(parseSiteUrl(text, domains).ok, match !== null && Number(match[1] ?? 443) <= 65_535);
      }),
      { numRuns: 2_000 },
    ));

  const urls = fc
    .record({
      labels: fc.array(fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9]{0,5}[A-Za-z0-9])?$/), {
        minLength: 1,
        maxLength: 4,
      }),
      port: fc.oneof(
        fc.constant(''),
        fc.integer({ min: 1, max: 65_535 }).map((port) => `:${port}`),
      ),
      end: fc.constantFrom('', '/'),
    })
    .map(({ labels, port, end }) => `https://${labels.join('.')}.example.com${port}${end}`);
  it('answers the origin that every WHATWG parser sees (P-14)', () =>
    fc.assert(
      fc.property(urls, (text) => {
        const { origin, pathname, username, search, hash } = new URL(text);
        assert.deepEqual(parseSiteUrl(text, domains), { ok: true, value: origin });
        assert.deepEqual([pathname, username, search, hash], ['/', '', '', '']);
      }),
      { numRuns: 500 },
    ));

  it('refuses a text of megabytes at once', () => {
    const startMs = performance.now();
    for (const piece of ['a', 'a.', '-', 'a-', ':1', '@']) parseSiteUrl(`https://${piece.repeat(4_000_000)}`, domains);
    assert.ok(performance.now() - startMs < 2_000);
  });
});
