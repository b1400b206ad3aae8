// The Location of a 307: the map's origin, one of five constant paths, the client's own query, and nothing else.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { NO_CONNECTION } from '../support/no-connection.ts';
import { bearer, FIXTURE_MAP, placement } from '../support/test-router.ts';
import { CHAT, CHAT_BODY, locationOf, outcomeOf, present, siteA, siteB, tokenForB } from './redirect-fixture.ts';

/** B without an agent: it redirects what comes with a token for B on to C. */
function siteBThatRedirects() {
  return siteB({ map: { ...FIXTURE_MAP, placements: [placement('m', 'chat', 'site-de-1')] }, agents: [] });
}

async function locationAt(target: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await siteA().ask(target, CHAT_BODY, { ...bearer('key-1'), ...headers });
  assert.equal(response.status, 307, target);
  return present(response.headers.get('location')).replace(/rt=v2\.[A-Za-z0-9_.-]+/, 'rt=NEW');
}

describe('Location', () => {
  const BASE = 'https://site-fr-2.example.com';

  const queries: readonly (readonly [string, string])[] = [
    ['', '?rt=NEW'],
    ['?', '?rt=NEW'],
    ['?beta=true', '?beta=true&rt=NEW'],
    ['?beta=true&x=%0d%0a', '?beta=true&x=%0d%0a&rt=NEW'],
    ['?b=2&a=1&b=3', '?b=2&a=1&b=3&rt=NEW'],
    ['?a=%2F%26%3D+b&c', '?a=%2F%26%3D+b&c&rt=NEW'],
    ['?url=https://x/?y=1', '?url=https://x/?y=1&rt=NEW'],
    ['?RT=1&art=2', '?RT=1&art=2&rt=NEW'],
    ['?%zz=%', '?%zz=%&rt=NEW'],
  ];
  for (const [query, expected] of queries) {
    it(`keeps the query ${JSON.stringify(query)} verbatim, the token last (R-076, D-47)`, async () => {
      assert.equal(await locationAt(`/v1/messages${query}`), `${BASE}/v1/messages${expected}`);
    });
  }

  for (const name of ['rt', '%72t', 'r%74', '%72%74']) {
    it(`drops the token that came as ${name} (R-076)`, async () => {
      const body = CHAT_BODY;
      const token = tokenForB({ endpoint: '/v1/messages', scope: { kind: 'eu' } });
      const response = await siteBThatRedirects().ask(`/v1/messages?beta=true&${name}=${token}&x=%0d%0a`, body);
      const location = present(response.headers.get('location'));
      assert.match(location, /^https:\/\/site-de-1\.example\.com\/v1\/messages\?beta=true&x=%0d%0a&rt=v2\.[^&]+$/);
      assert.ok(!location.includes(token));
      assert.deepEqual(locationOf(response).searchParams.getAll('rt').length, 1);
    });
  }

  it('is the matched route, not the path as sent (D-46)', async () => {
    assert.equal(await locationAt('/v1/%63hat/completions'), `${BASE}${CHAT}?rt=NEW`);
    assert.equal(await locationAt('/x/../v1/chat/./completions'), `${BASE}${CHAT}?rt=NEW`);
  });

  const forged: readonly Record<string, string>[] = [
    { host: 'evil.com' },
    { 'x-forwarded-host': 'evil.com', 'x-forwarded-proto': 'http', 'x-forwarded-prefix': '/evil' },
    { forwarded: 'host=evil.com;proto=http' },
    {
      'x-original-url': 'https://evil.com/',
      'x-rewrite-url': '/evil',
      origin: 'https://evil.com',
      referer: 'https://evil.com/',
    },
  ];
  for (const headers of forged) {
    it(`does not derive from ${Object.keys(headers).join(', ')} (R-077, T-26)`, async () => {
      assert.equal(await locationAt(CHAT, headers), `${BASE}${CHAT}?rt=NEW`);
    });
  }

  it('does not derive from an absolute-form target (R-077)', async () => {
    assert.equal(await locationAt(`http://evil.com${CHAT}?a=1`, { host: 'evil.com' }), `${BASE}${CHAT}?a=1&rt=NEW`);
  });

  it('is the URL of the map, port and all, without its trailing slash (R-186)', async () => {
    const sites = FIXTURE_MAP.sites.map((site) => ({ ...site, url: `HTTPS://${site.id}.Example.com:8443/` }));
    const response = await siteA({ map: { ...FIXTURE_MAP, sites } }).ask(CHAT, CHAT_BODY, bearer('key-1'));
    assert.match(
      present(response.headers.get('location')),
      /^https:\/\/site-fr-2\.example\.com:8443\/v1\/chat\/completions\?rt=/,
    );
  });

  it('is at most 4,096 characters; for one more the request is handled here (R-222)', async () => {
    const site = siteA();
    const ask = (padding: number) => site.ask(`${CHAT}?x=${'a'.repeat(padding)}`, CHAT_BODY, bearer('key-1'));
    const shortest = present((await ask(0)).headers.get('location')).length;
    assert.equal(present((await ask(4_096 - shortest)).headers.get('location')).length, 4_096);
    assert.equal(await outcomeOf(ask(4_097 - shortest)), '404 model_not_found');
    const warnings = site.written.filter((line) => line.includes('Cannot redirect'));
    assert.equal(warnings.length, 1);
  });

  it('has no fragment, which a client would not send: the token would be lost (P-16)', async () => {
    for (const target of [`${CHAT}?a=1#frag`, `${CHAT}#frag`, `${CHAT}?a=#&b=1`]) {
      const response = await siteA().ask(target, CHAT_BODY, bearer('key-1'));
      if (response.status !== 307) continue;
      const location = locationOf(response);
      assert.equal(location.hash, '', location.href);
      assert.equal(location.searchParams.getAll('rt').length, 1, location.href);
    }
  });

  it('is not written from a query that a runtime hands over with a blank, a line break or beyond ASCII (R-222)', async () => {
    for (const [sent, outcome] of [
      ['a', '307 model_redirected'],
      [' ', '404 model_not_found'],
      ['\r\nx-evil: 1', '404 model_not_found'],
      ['é', '404 model_not_found'],
    ]) {
      const site = siteA();
      const request = new Request(`https://site-fr-1.example.com${CHAT}`, {
        method: 'POST',
        headers: { ...bearer('key-1'), host: 'site-fr-1.example.com' },
        body: CHAT_BODY,
      });
      Object.defineProperty(request, 'url', { value: `https://site-fr-1.example.com${CHAT}?a=${sent}` });
      assert.equal(await outcomeOf(site.fetch(request, NO_CONNECTION)), outcome, JSON.stringify(sent));
    }
  });

  it('is printable ASCII, parses, has one rt and the other parameters of the request, whatever is asked (R-222, P-16)', async () => {
    const site = siteA();
    const pieces = [
      'a',
      'rt',
      '=',
      '&',
      '%',
      '%0d%0a',
      '%72',
      ' ',
      '"',
      '<',
      'é',
      '模',
      '\\',
      '^',
      '`',
      '|',
      "'",
      '?',
      '/',
      ';',
      '\t',
      '+',
    ];
    const query = fc.array(fc.constantFrom(...pieces), { maxLength: 10 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const request = new URL(`${CHAT}?${text}`, 'https://site-fr-1.example.com');
        if (request.searchParams.has('rt')) return;
        const response = await site.ask(request.href, CHAT_BODY, bearer('key-1'));
        assert.match(present(response.headers.get('location')), /^[\x21-\x7e]{1,4096}$/);
        const { searchParams } = locationOf(response);
        assert.equal(searchParams.getAll('rt').length, 1);
        searchParams.delete('rt');
        assert.deepEqual([...searchParams], [...request.searchParams]);
      }),
      { numRuns: 200 },
    );
  });
});
