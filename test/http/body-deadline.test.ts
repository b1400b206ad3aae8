// A body that is not complete in time: refused by name, with nothing used up and nothing kept (E15, T-41).

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeTimers } from '../agents/fake-timers.ts';
import { ADMIN_KEY, bearer } from '../support/test-router.ts';
import { codeOf, reader } from './body-reading.ts';
import {
  CHAT,
  CHAT_BODY,
  counted,
  errorOf,
  follow,
  rejections,
  sendStream,
  siteA,
  siteB,
  slowBody,
  tokenForB,
} from './redirect-fixture.ts';

/** What the test router allows. */
const TIMEOUT_MS = 60_000;

/** Lets everything happen that needs no time. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('--body-timeout', () => {
  for (const [way, headers] of [
    ['chunked', {}],
    ['with a declared length', { 'content-length': String(CHAT_BODY.length) }],
  ] as const) {
    it(`ends a body ${way} that is late, and not a moment before`, async () => {
      const timers = new FakeTimers();
      const body = slowBody();
      const { read, budget, share } = reader(body.stream, { headers, timers });
      const outcome = codeOf(read());
      let isOver = false;
      void outcome.then(() => {
        isOver = true;
      });
      timers.advance(TIMEOUT_MS - 1);
      await settle();
      assert.equal(isOver, false);
      timers.advance(1);
      assert.equal(await outcome, 'body_timeout');
      budget.giveBack(share);
      assert.equal(budget.bytes, 0);
    });

    it(`lets a body ${way} pass that is complete in time, and leaves no timer behind`, async () => {
      const timers = new FakeTimers();
      const body = slowBody();
      const { read } = reader(body.stream, { headers, timers });
      const reading = read();
      timers.advance(TIMEOUT_MS - 1);
      body.finish();
      assert.equal((await reading).bytes.byteLength, CHAT_BODY.length);
      assert.equal(timers.pending, 0);
    });
  }

  for (const headers of [{}, { 'content-length': '9' }]) {
    it(`leaves no timer behind when the body breaks off (${JSON.stringify(headers)})`, async () => {
      const timers = new FakeTimers();
      const broken = new ReadableStream({ start: (controller) => controller.error(new Error('gone')) });
      assert.equal(await codeOf(reader(broken, { headers, timers }).read()), 'request_invalid');
      assert.equal(timers.pending, 0);
    });
  }

  it('runs over the whole body: bytes that trickle in time do not move it (T-41)', async () => {
    const timers = new FakeTimers();
    let push = (): void => undefined;
    let isCancelled = false;
    const trickle = new ReadableStream<Uint8Array>({
      start: (controller) => {
        push = () => controller.enqueue(Uint8Array.of(0x20));
      },
      cancel: () => {
        isCancelled = true;
      },
    });
    const outcome = codeOf(reader(trickle, { timers }).read());
    for (let second = 1; second < 60; second += 1) {
      push();
      await settle();
      timers.advance(1_000);
    }
    assert.equal(isCancelled, false);
    timers.advance(1_000);
    assert.equal(await outcome, 'body_timeout');
    assert.ok(isCancelled, 'nobody reads on');
  });

  it('takes nothing that comes in the very moment of the deadline', async () => {
    const timers = new FakeTimers();
    const body = slowBody();
    const { read, share } = reader(body.stream, { timers });
    const outcome = codeOf(read());
    const before = share.bodyBytes;
    body.finish();
    timers.advance(TIMEOUT_MS);
    assert.equal(await outcome, 'body_timeout');
    assert.equal(share.bodyBytes, before);
  });

  it('is a 400 that names the limit and closes the connection (E15)', async () => {
    const bodyTimers = new FakeTimers();
    const site = siteA({ bodyTimers });
    const sending = sendStream(site, CHAT, slowBody().stream, bearer('key-1'));
    await settle();
    bodyTimers.advance(TIMEOUT_MS);
    const response = await sending;
    assert.equal(response.status, 400);
    assert.equal(response.headers.get('connection'), 'close');
    const error = await errorOf(response);
    assert.equal(error['code'], 'request_invalid');
    assert.match(String(error['message']), /60000 ms \(--body-timeout\)/);
    assert.equal(site.accessLines[0]?.['error_code'], 'request_invalid');
    assert.equal(site.ports.bodies.budget.bytes, 0);
    assert.equal(await site.metric('http_server_active_requests'), 0);
  });

  it('leaves a token unused (R-114)', async () => {
    const bodyTimers = new FakeTimers();
    const site = siteB({ bodyTimers });
    const token = tokenForB();
    const sending = sendStream(site, `${CHAT}?rt=${token}`, slowBody().stream);
    await settle();
    bodyTimers.advance(TIMEOUT_MS);
    assert.equal((await sending).status, 400);
    assert.deepEqual(await rejections(site), counted());
    assert.equal((await follow(site, token)).status, 200);
  });

  it('holds for admin documents too, in their form', async () => {
    const bodyTimers = new FakeTimers();
    const site = siteA({ bodyTimers });
    for (const path of ['/admin/sibling-map', '/admin/api-keys/replace']) {
      const sending = sendStream(site, path, slowBody().stream, { authorization: `Bearer ${ADMIN_KEY}` });
      await settle();
      bodyTimers.advance(TIMEOUT_MS);
      const response = await sending;
      assert.equal(response.status, 400);
      assert.equal(response.headers.get('connection'), 'close');
      assert.match(((await response.json()) as { error: string }).error, /--body-timeout/);
    }
  });
});
