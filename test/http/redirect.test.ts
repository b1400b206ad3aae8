// The 307 itself: its status, headers and body, and what its token says.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, FIXTURE_MAP, NOW_MS, placement } from '../support/test-router.ts';
import {
  CHAT,
  CHAT_BODY,
  claimsOf,
  errorOf,
  follow,
  keyring,
  locationOf,
  outcomeOf,
  present,
  sendStream,
  sha256Hex,
  siteA,
  siteB,
  slowBody,
  TOKEN_REQUEST_ID,
  tokenForB,
} from './redirect-fixture.ts';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const CLIENT_ID = '018F6B1E-7C1A-7000-8000-0123456789AB';

function redirected(headers: Record<string, string> = {}): Promise<Response> {
  return siteA().ask(CHAT, CHAT_BODY, { ...bearer('key-1'), ...headers });
}

describe('the 307', () => {
  it('has exactly status 307, an absolute https Location and no-store (R-074, R-075, R-078)', async () => {
    const response = await redirected();
    assert.equal(response.status, 307);
    assert.match(
      present(response.headers.get('location')),
      /^https:\/\/site-fr-2\.example\.com\/v1\/chat\/completions\?rt=v2\.k1\.[A-Za-z0-9_-]{152,1100}\.[A-Za-z0-9_-]{43}$/,
    );
    assert.equal(response.headers.get('cache-control'), 'no-store');
    // A page at the target must not hand the URL, and with it the token, on as a Referer.
    assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
  });

  it('has the JSON body of an error that tells a client how to follow (R-079, E4)', async () => {
    const response = await redirected();
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
    const { message, ...error } = await errorOf(response);
    assert.deepEqual(error, {
      type: 'api_error',
      code: 'model_redirected',
      param: null,
      source: 'router',
      site: 'site-fr-2',
      country: 'FR',
      expires_at: '2026-11-03T12:01:00.000Z',
    });
    assert.match(String(message), /"m".*"site-fr-2".*follow/);
  });

  it('holds the token in Location and nowhere else (R-080)', async () => {
    const response = await redirected();
    const token = present(locationOf(response).searchParams.get('rt'));
    const others = [...response.headers].filter(([name]) => name !== 'location').map((header) => header.join(': '));
    const [, , claims = '', signature = ''] = token.split('.');
    for (const text of [...others, await response.text()]) {
      for (const secret of ['v2.', claims, signature]) assert.ok(!text.includes(secret), text);
    }
  });

  it('carries the request ID of the token, and the ID of the client (R-081, D-40)', async () => {
    const response = await redirected({ 'x-request-id': CLIENT_ID });
    const claims = claimsOf(response);
    assert.match(claims.requestId, UUID_V4);
    assert.equal(response.headers.get('x-request-id'), claims.requestId);
    assert.equal(claims.clientRequestId, CLIENT_ID);
    assert.equal(response.headers.get('x-client-request-id'), CLIENT_ID);
    assert.equal(claimsOf(await redirected()).clientRequestId, undefined);
  });

  it('sets no rate-limit header, no cookie, and no hint to retry (R-082, clients.md 7)', async () => {
    const names = [...(await redirected()).headers.keys()];
    assert.deepEqual(
      names.filter((name) => /ratelimit|retry|cookie|authenticate/.test(name)),
      [],
    );
  });

  it('is small enough for one write, with a model of the longest name (R-079, clients.md 7)', async () => {
    const model = 'm'.repeat(256);
    const map = { ...FIXTURE_MAP, placements: [placement(model, 'chat', 'site-fr-2')] };
    const response = await siteA({ map }).ask(CHAT, { model }, bearer('key-1'));
    assert.equal(claimsOf(response).model, model);
    assert.ok((await response.text()).length < 2_048);
  });
});

describe('the token of a 307', () => {
  it('says who, what, where and for how long (R-083, R-087, R-088)', async () => {
    const { tokenId, requestId, ...claims } = claimsOf(await redirected());
    assert.match(tokenId, /^[0-9a-f]{32}$/);
    assert.match(requestId, UUID_V4);
    assert.deepEqual(claims, {
      endpoint: CHAT,
      hop: 1,
      scope: { kind: 'country', country: 'FR' },
      issuedMs: NOW_MS,
      lifetimeMs: 60_000,
      bodyHash: sha256Hex(CHAT_BODY),
      clientRequestId: undefined,
      origin: 'site-fr-1',
      target: 'site-fr-2',
      keyId: 'key-1',
      model: 'm',
    });
  });

  it('lives as long as the setting says, to the millisecond, by the clock of this moment (R-087)', async () => {
    const site = siteA({ tokenTtlMs: 1_500 });
    site.nowMs += 7;
    const response = await site.ask(CHAT, CHAT_BODY, bearer('key-1'));
    const { issuedMs, lifetimeMs } = claimsOf(response);
    assert.deepEqual({ issuedMs, lifetimeMs }, { issuedMs: NOW_MS + 7, lifetimeMs: 1_500 });
    assert.equal((await errorOf(response))['expires_at'], '2026-11-03T12:00:01.507Z');
  });

  it('is issued once the body has come, not when its head came (R-087)', async () => {
    const site = siteA();
    const body = slowBody();
    const answer = sendStream(site, CHAT, body.stream, bearer('key-1'));
    site.nowMs += 30_000;
    body.finish();
    assert.equal(claimsOf(await answer).issuedMs, NOW_MS + 30_000);
  });

  it('is new for every answer, in its token ID and its request ID (R-085, R-213)', async () => {
    const site = siteA();
    const headers = { ...bearer('key-1'), 'x-request-id': CLIENT_ID };
    const answers = await Promise.all(Array.from({ length: 50 }, () => site.ask(CHAT, CHAT_BODY, headers)));
    const claims = answers.map((answer) => claimsOf(answer));
    assert.equal(new Set(claims.map(({ tokenId }) => tokenId)).size, 50);
    assert.equal(new Set(claims.map(({ requestId }) => requestId)).size, 50);
  });

  it('and its request ID come from the random source of the router, and from nothing else (R-085, R-224)', async () => {
    const site = siteA();
    let calls = 0;
    (site.ports as { random: (size: number) => Uint8Array }).random = (size) => {
      calls += 1;
      return new Uint8Array(size).fill(0xab);
    };
    const { tokenId, requestId } = claimsOf(await site.ask(CHAT, CHAT_BODY, bearer('key-1')));
    assert.deepEqual([tokenId, requestId], ['ab'.repeat(16), 'abababab-abab-4bab-abab-abababababab']);
    assert.equal(calls, 2);
  });

  it('is signed with the first secret (R-086)', async () => {
    const secrets = 'k2:second-secret-for-rotation-tests-0002,k1:0123456789abcdef0123456789abcdef';
    const response = await siteA({ secrets }).ask(CHAT, CHAT_BODY, bearer('key-1'));
    assert.match(present(response.headers.get('location')), /\?rt=v2\.k2\./);
    assert.equal(claimsOf(response, keyring(secrets)).keyId, 'key-1');
  });

  it('is bound to the bytes of the body, however they are framed (R-090)', async () => {
    const text = '{ "model" : "m",\r\n"seed":12345678901234567890 }';
    const bytes = new TextEncoder().encode(text);
    const chunked = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const site = siteA();
    const whole = await site.ask(CHAT, text, { ...bearer('key-1'), 'content-length': String(bytes.length) });
    const pieces = await sendStream(site, CHAT, chunked, bearer('key-1'));
    assert.equal(claimsOf(whole).bodyHash, sha256Hex(text));
    assert.equal(claimsOf(pieces).bodyHash, sha256Hex(text));
  });

  it('of a second redirect keeps IDs, model, scope, hash, key and origin, and is new otherwise (R-088, R-089)', async () => {
    const map = { ...FIXTURE_MAP, placements: [placement('m', 'chat', 'site-de-1')] };
    const b = siteB({ map, agents: [], tokenTtlMs: 30_000 });
    b.nowMs += 10_000;
    const clientRequestId = CLIENT_ID;
    const given = tokenForB({ scope: { kind: 'eu' }, clientRequestId, tokenId: '0'.repeat(32) });
    const headers = { 'x-request-id': '00000000-0000-4000-8000-000000000000' };
    const response = await follow(b, given, { headers });
    const { tokenId, ...claims } = claimsOf(response);
    assert.notEqual(tokenId, '0'.repeat(32));
    assert.deepEqual(claims, {
      endpoint: CHAT,
      hop: 2,
      scope: { kind: 'eu' },
      issuedMs: NOW_MS + 10_000,
      lifetimeMs: 30_000,
      bodyHash: sha256Hex(CHAT_BODY),
      requestId: TOKEN_REQUEST_ID,
      clientRequestId: CLIENT_ID,
      origin: 'site-fr-1',
      target: 'site-de-1',
      keyId: 'key-1',
      model: 'm',
    });
    assert.equal(response.headers.get('x-request-id'), TOKEN_REQUEST_ID);
    assert.equal(response.headers.get('x-client-request-id'), CLIENT_ID);
  });
});

describe('a redirect that cannot be written', () => {
  /** A key ID that fits into the registry, and by one byte not into a token (D-45). */
  const tooLong = { id: `${'é'.repeat(127)}aa`, secret: 'sk-too-long' };
  const longest = { id: `${'é'.repeat(127)}a`, secret: 'sk-longest' };
  const asKey = (key: { secret: string }) => ({ authorization: `Bearer ${key.secret}` });

  it('is handled here when the key ID is over 255 bytes (R-091, D-45)', async () => {
    const site = siteA({ extraKeys: [tooLong, longest] });
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, asKey(tooLong))), '404 model_not_found');
    assert.equal(claimsOf(await site.ask(CHAT, CHAT_BODY, asKey(longest))).keyId, longest.id);
    assert.deepEqual(await site.family('hivenet_redirects_total'), [
      'hivenet_redirects_total{model="m",site="site-fr-2",hop="1"} 1',
    ]);
  });

  it('is handled here as agents stand: 503 when they are down (R-091)', async () => {
    const site = siteA({ extraKeys: [tooLong], agents: [{ models: ['m'], down: true }] });
    assert.equal(await outcomeOf(site.ask(CHAT, CHAT_BODY, asKey(tooLong))), '503 no_agents_available');
  });

  it('is a warning that names the key, at most once a minute (R-091, D-45)', async () => {
    const site = siteA({ extraKeys: [tooLong] });
    const warnings = () => site.written.filter((line) => line.includes(' WARN '));
    for (const afterMs of [0, 1, 59_998]) {
      site.nowMs += afterMs;
      await site.ask(CHAT, CHAT_BODY, asKey(tooLong));
    }
    assert.equal(warnings().length, 1, warnings().join(''));
    assert.match(warnings()[0] ?? '', /Cannot redirect.*key_id="é{64}"/);
    site.nowMs += 1;
    await site.ask(CHAT, CHAT_BODY, asKey(tooLong));
    assert.equal(warnings().length, 2);
  });

  it('has a token of at most 1,112 characters with everything at its longest (R-091)', async () => {
    const [origin, target] = ['a', 'b'].map((letter) => letter.repeat(64)) as [string, string];
    const sites = [origin, target].map((id) => ({
      id,
      url: `https://${id.slice(0, 9)}.example.com`,
      country: 'FR',
      eu: true,
    }));
    const model = '模'.repeat(85);
    const map = { ...FIXTURE_MAP, sites, placements: [placement(`${model}x`, 'chat', target)] };
    const secrets = `${'k'.repeat(16)}:0123456789abcdef0123456789abcdef`;
    const site = siteA({ siteId: origin, map, secrets, extraKeys: [longest] });
    const headers = { ...asKey(longest), 'x-request-id': CLIENT_ID };
    const location = locationOf(await site.ask(CHAT, { model: `${model}x` }, headers));
    assert.equal(present(location.searchParams.get('rt')).length, 1_112);
  });
});
