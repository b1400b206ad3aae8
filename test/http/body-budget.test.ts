// The bytes of all bodies together: taken before they are there, given back when their request is over, whatever its end.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { BodyBudget, type BodyShare } from '../../src/http/body-budget.ts';
import { ADMIN_KEY, bearer, type TestRouter, type TestRouterSettings } from '../support/test-router.ts';
import { bodyOf, chunks, codeOf, inPieces, reader } from './body-reading.ts';
import {
  CHAT,
  CHAT_BODY,
  errorOf,
  follow,
  outcomeOf,
  sendStream,
  siteA,
  siteB,
  slowBody,
  tokenForB,
} from './redirect-fixture.ts';

const KEY = bearer('key-1');

describe('BodyBudget', () => {
  it('gives out every byte and not one more', () => {
    const budget = new BodyBudget(100);
    const [one, two]: BodyShare[] = [{ bodyBytes: 0 }, { bodyBytes: 0 }];
    assert.ok(one !== undefined && two !== undefined);
    budget.take(one, 60);
    budget.take(two, 40);
    assert.throws(() => budget.take(two, 1), { code: 'queue_full' });
    assert.deepEqual([budget.bytes, one.bodyBytes, two.bodyBytes], [100, 60, 40]);
    budget.giveBack(one);
    budget.giveBack(one);
    assert.deepEqual([budget.bytes, one.bodyBytes], [40, 0]);
    budget.take(one, 60);
    assert.equal(budget.bytes, 100);
  });

  it('takes nothing but a number of bytes: one NaN would let every later body pass', () => {
    const budget = new BodyBudget(100);
    const share: BodyShare = { bodyBytes: 0 };
    for (const bytes of [Number.NaN, Number.POSITIVE_INFINITY, -1, 0.5, 2 ** 53]) {
      assert.throws(() => budget.take(share, bytes), /Cannot take/);
    }
    budget.take(share, 0);
    assert.deepEqual([budget.bytes, share.bodyBytes], [0, 0]);
  });
});

describe('what a body takes', () => {
  it('is its declared length, before a byte of it is there', async () => {
    const body = slowBody('x'.repeat(500));
    const { read, share } = reader(body.stream, { headers: { 'content-length': '500' } });
    const reading = read();
    assert.equal(share.bodyBytes, 500);
    body.finish();
    await reading;
    assert.equal(share.bodyBytes, 500);
  });

  it('is no more than the budget has: at the last byte, and one beyond', async () => {
    for (const isHashed of [true, false]) {
      const ask = { budgetBytes: 70_000, isHashed };
      const fits = reader('x'.repeat(70_000), { ...ask, headers: { 'content-length': '70000' } });
      assert.equal(await codeOf(fits.read()), 'read');
      const beyond = reader('x'.repeat(70_001), { ...ask, headers: { 'content-length': '70001' } });
      assert.equal(await codeOf(beyond.read()), 'queue_full');
      assert.equal(beyond.share.bodyBytes, 0);
    }
  });

  it('is the size of its buffer when no length is declared, which grows with the bytes', async () => {
    for (const [size, taken] of [
      [1, 16_384],
      [16_384, 16_384],
      [16_385, 32_768],
      [99_000, 100_000],
    ] as const) {
      const { read, share } = reader(inPieces(new Uint8Array(size), 1_000));
      await read();
      assert.equal(share.bodyBytes, taken, `${size} bytes`);
    }
  });

  it('ends a chunked body where the budget does', async () => {
    const body = reader(inPieces(new Uint8Array(50_000), 1_000), { budgetBytes: 40_000 });
    assert.equal(await codeOf(body.read()), 'queue_full');
    assert.ok(body.budget.bytes <= 40_000);
  });

  it('is what it decodes to as well', async () => {
    const content = Buffer.from('x'.repeat(50_000));
    const encoded = gzipSync(content);
    const headers = { 'content-encoding': 'gzip', 'content-length': String(encoded.byteLength) };
    const fits = reader(encoded, { headers });
    await fits.readContent();
    assert.ok(fits.share.bodyBytes >= encoded.byteLength + content.byteLength);
    const beyond = reader(encoded, { headers, budgetBytes: 40_000 });
    assert.equal(await codeOf(beyond.readContent()), 'queue_full');
  });
});

describe('beyond --body-memory', () => {
  it('is a 503 queue_full with Retry-After, the token unused, and the next body is read again (E15)', async () => {
    const site = siteB({ bodyMemoryBytes: 16_384 });
    const token = tokenForB();
    const first = slowBody();
    const waiting = sendStream(site, CHAT, first.stream, KEY);
    assert.equal(site.ports.bodies.budget.bytes, 16_384);
    assert.equal(await site.metric('hivenet_router_body_bytes'), 16_384);
    const refused = await sendStream(site, `${CHAT}?rt=${token}`, slowBody().stream);
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.equal((await errorOf(refused))['code'], 'queue_full');
    first.finish();
    await (await waiting).arrayBuffer();
    assert.equal((await follow(site, token)).status, 200);
    assert.equal(await site.metric('hivenet_router_body_bytes'), 0);
  });

  it('is a 503 for admin documents too, in their form', async () => {
    const site = siteA({ adminMemoryBytes: 10 });
    const response = await site.admin('POST', '/admin/sibling-map', { schema: 3 });
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('retry-after'), '1');
  });
});

describe('admin documents', () => {
  it('are read while inference has no byte left, and the other way round', async () => {
    const push = (site: TestRouter) => site.admin('POST', '/admin/api-keys/replace', { version: '2', keys: [] });
    const noInference = siteA({ bodyMemoryBytes: 1 });
    assert.equal((await push(noInference)).status, 200);
    assert.equal(noInference.ports.adminBodies.budget.bytes, 0);
    const noAdmin = siteA({ adminMemoryBytes: 1 });
    assert.equal((await push(noAdmin)).status, 503);
    assert.equal((await noAdmin.ask(CHAT, CHAT_BODY, KEY)).status, 307);
  });

  it('show in the metric beside the others', async () => {
    const site = siteA();
    const body = slowBody();
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const pushing = sendStream(site, '/admin/api-keys/replace', body.stream, headers);
    assert.equal(await site.metric('hivenet_router_body_bytes'), 16_384);
    body.finish();
    await pushing;
    assert.equal(await site.metric('hivenet_router_body_bytes'), 0);
  });
});

describe('every end gives back what the body took', () => {
  const big = bodyOf(200_000);
  const bytes = new TextEncoder().encode(big);
  const stream = () => inPieces(bytes, 10_000);
  const declared = { ...KEY, 'content-length': String(bytes.length) };
  const gzip = { ...KEY, 'content-encoding': 'gzip' };
  const served: TestRouterSettings = { agents: [{ models: ['m'] }] };
  const ends: readonly [
    name: string,
    settings: TestRouterSettings,
    send: (site: TestRouter) => Promise<Response>,
    outcome: string,
  ][] = [
    ['a redirect', {}, (site) => sendStream(site, CHAT, stream(), KEY), '307 model_redirected'],
    ['an answer', served, (site) => sendStream(site, CHAT, stream(), KEY), '200'],
    ['an answer to a declared body', served, (site) => sendStream(site, CHAT, stream(), declared), '200'],
    [
      'an engine that fails',
      { ...served, engine: async () => new Response('', { status: 500 }) },
      (site) => sendStream(site, CHAT, stream(), declared),
      '502 backend_error',
    ],
    [
      'an engine’s finding',
      { ...served, engine: async () => new Response('no', { status: 400 }) },
      (site) => sendStream(site, CHAT, stream(), declared),
      '400 request_invalid',
    ],
    ['a 413', { maxRequestBytes: 100_000 }, (site) => sendStream(site, CHAT, stream(), KEY), '413 request_invalid'],
    [
      'a declared 413',
      { maxRequestBytes: 100_000 },
      (site) => sendStream(site, CHAT, stream(), declared),
      '413 request_invalid',
    ],
    [
      'a decoded 413',
      { maxRequestBytes: 100_000 },
      (site) => site.ask(CHAT, gzipSync(bytes), gzip),
      '413 request_invalid',
    ],
    ['a broken encoding', {}, (site) => sendStream(site, CHAT, stream(), gzip), '400 request_invalid'],
    ['a redirected encoding', {}, (site) => site.ask(CHAT, gzipSync(bytes), gzip), '307 model_redirected'],
    [
      'a 415',
      {},
      (site) => sendStream(site, CHAT, stream(), { ...KEY, 'content-encoding': 'rot13' }),
      '415 request_invalid',
    ],
    [
      'a body that is no JSON',
      {},
      (site) => sendStream(site, CHAT, chunks(bytes.subarray(1)), KEY),
      '400 request_invalid',
    ],
    ['a model nobody serves', {}, (site) => site.ask(CHAT, big.replace('"m"', '"z"'), declared), '404 model_not_found'],
    [
      'a model of others',
      {},
      (site) => site.ask(CHAT, big, { ...declared, ...bearer('key-2') }),
      '403 model_forbidden',
    ],
    ['no key', {}, (site) => sendStream(site, CHAT, stream()), '401 unauthorized'],
    [
      'a token for another body',
      { siteId: 'site-fr-2' },
      (site) => sendStream(site, `${CHAT}?rt=${tokenForB()}`, stream()),
      '401 unauthorized',
    ],
    [
      'a budget that ends',
      { bodyMemoryBytes: 100_000 },
      (site) => sendStream(site, CHAT, stream(), KEY),
      '503 queue_full',
    ],
    [
      'an admin document',
      {},
      (site) => site.admin('POST', '/admin/api-keys/replace', { version: '2', keys: [] }),
      '200',
    ],
  ];
  for (const [name, settings, send, outcome] of ends) {
    it(name, async () => {
      const site = siteA(settings);
      assert.equal(
        await outcomeOf(send(site).then(async (response) => new Response(await response.arrayBuffer(), response))),
        outcome,
      );
      assert.equal(site.ports.bodies.budget.bytes, 0);
    });
  }

  it('a body that breaks off', async () => {
    const site = siteA();
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(bytes.subarray(0, 50_000));
        controller.error(new Error('gone'));
      },
    });
    assert.equal((await sendStream(site, CHAT, broken, KEY)).status, 400);
    assert.equal(site.ports.bodies.budget.bytes, 0);
  });

  it('a stream, and not before its last byte: until then the body may have to be sent again', async () => {
    let finish = (): void => undefined;
    const engine = async () =>
      new Response(
        new ReadableStream({
          start: (controller) => {
            controller.enqueue(new TextEncoder().encode('data: 1\n\n'));
            finish = () => controller.close();
          },
        }),
        { headers: { 'content-type': 'text/event-stream' } },
      );
    const site = siteA({ ...served, engine });
    const response = await site.ask(CHAT, CHAT_BODY, { ...KEY, 'content-length': String(CHAT_BODY.length) });
    assert.equal(site.ports.bodies.budget.bytes, CHAT_BODY.length);
    finish();
    await response.text();
    assert.equal(site.ports.bodies.budget.bytes, 0);
  });

  it('a client that leaves in the middle of a stream', async () => {
    const engine = async () =>
      new Response(
        new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')) }),
        {
          headers: { 'content-type': 'text/event-stream' },
        },
      );
    const site = siteA({ ...served, engine });
    const response = await site.ask(CHAT, CHAT_BODY, { ...KEY, 'content-length': String(CHAT_BODY.length) });
    await response.body?.cancel();
    assert.equal(site.ports.bodies.budget.bytes, 0);
  });
});
