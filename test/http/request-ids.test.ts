// The two IDs of a request: the router's own, and the client's beside it (A4, D-40).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, createTestRouter } from '../support/test-router.ts';
import { CHAT, CHAT_BODY, claimsOf, siteA } from './redirect-fixture.ts';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const ONE = '018F6B1E-7C1A-7000-8000-0123456789AB';
const TWO = '11111111-1111-1111-1111-111111111111';

/** What is no UUID here, whatever the Go router made of it (D-27, api.md 16.1). */
const NO_UUIDS = [
  '',
  'my-request',
  ONE.replaceAll('-', ''),
  `urn:uuid:${ONE}`,
  `{${ONE}}`,
  `"${ONE}"`,
  `${ONE}x`,
  ONE.slice(1),
  ONE.replace('A', 'G'),
  `${ONE}, ${TWO}`,
  `${ONE.slice(0, -1)}\u00e9`,
];

type Ids = Record<string, string>;

async function ids(headers: Ids, site = siteA()): Promise<readonly (string | null)[]> {
  const response = await site.ask(CHAT, CHAT_BODY, { ...bearer('key-1'), ...headers });
  return [response.headers.get('x-request-id'), response.headers.get('x-client-request-id')];
}

describe('request IDs with the feature on', () => {
  it('are fresh for every request, whatever the client sends (A4)', async () => {
    const seen = new Set<string | null>();
    for (const headers of [
      {},
      { 'x-request-id': ONE },
      { 'x-request-id': ONE },
      { 'x-client-request-id': ONE },
    ] as Ids[]) {
      const [requestId] = await ids(headers);
      assert.match(String(requestId), UUID_V4);
      seen.add(requestId ?? null);
    }
    assert.equal(seen.size, 4);
  });

  const cases: readonly (readonly [string, Ids, string | null])[] = [
    ['none', {}, null],
    ['X-Request-ID', { 'x-request-id': ONE }, ONE],
    ['X-Client-Request-ID', { 'x-client-request-id': TWO }, TWO],
    ['X-Client-Request-ID before X-Request-ID', { 'x-client-request-id': TWO, 'x-request-id': ONE }, TWO],
    ['X-Request-ID when the other is no UUID', { 'x-client-request-id': 'x', 'x-request-id': ONE }, ONE],
    ['X-Client-Request-ID when the other is no UUID', { 'x-client-request-id': TWO, 'x-request-id': 'x' }, TWO],
  ];
  for (const [what, headers, expected] of cases) {
    it(`give the client its own ID back, verbatim: ${what} (D-40)`, async () => {
      assert.equal((await ids(headers))[1], expected);
      const response = await siteA().ask(CHAT, CHAT_BODY, { ...bearer('key-1'), ...headers });
      assert.equal(claimsOf(response).clientRequestId, expected ?? undefined);
    });
  }

  for (const value of NO_UUIDS) {
    it(`take ${JSON.stringify(value)} for no ID (D-27, T-36)`, async () => {
      assert.equal((await ids({ 'x-request-id': value }))[1], null);
      assert.equal((await ids({ 'x-client-request-id': value }))[1], null);
    });
  }

  it('stand on every answer, errors and other routes too (A4, D-40)', async () => {
    const site = siteA();
    const headers = { 'x-request-id': ONE };
    const answers = [
      await site.ask(CHAT, CHAT_BODY, headers),
      await site.send('/health', { headers }),
      await site.send('/nowhere', { headers }),
      await site.send(CHAT, { method: 'OPTIONS', headers }),
      await site.send('/admin/sibling-map', { headers }),
      await site.send('/v1/models', { method: 'DELETE', headers }),
    ];
    for (const [index, response] of answers.entries()) {
      assert.match(String(response.headers.get('x-request-id')), UUID_V4);
      assert.equal(response.headers.get('x-client-request-id'), ONE);
      assert.equal(site.accessLines[index]?.['request_id'], response.headers.get('x-request-id'));
      assert.equal(site.accessLines[index]?.['client_request_id'], ONE);
    }
  });
});

describe('request IDs with the feature off', () => {
  it('are the client’s own when that is a UUID, verbatim (A4, api.md 16.1)', async () => {
    assert.deepEqual(await ids({ 'x-request-id': ONE }, createTestRouter()), [ONE, null]);
    assert.deepEqual((await ids({ 'x-client-request-id': ONE }, createTestRouter()))[1], null);
  });

  for (const value of NO_UUIDS) {
    it(`are fresh instead of ${JSON.stringify(value)} (D-27, T-36)`, async () => {
      const [requestId] = await ids({ 'x-request-id': value }, createTestRouter());
      assert.match(String(requestId), UUID_V4);
    });
  }
});

describe('an ID of an engine', () => {
  it('never replaces the router’s (E6, R-128)', async () => {
    const engine = async () => Response.json({}, { headers: { 'x-request-id': TWO, 'x-client-request-id': TWO } });
    const [requestId, clientId] = await ids({}, siteA({ agents: [{ models: ['m'] }], engine }));
    assert.match(String(requestId), UUID_V4);
    assert.equal(clientId, null);
  });
});
