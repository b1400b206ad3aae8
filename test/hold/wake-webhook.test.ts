import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import type { EngineFetch } from '../../src/agents/engine-fetch.ts';
import { CALL_TIMEOUT_MS, WakeWebhook, type WebhookTarget } from '../../src/hold/wake-webhook.ts';
import { FakeTimers } from '../agents/fake-timers.ts';
import { settled } from '../dispatch/streaming.ts';

const SECRET = '0123456789abcdef0123456789abcdef';
const URL_TEXT = 'https://scaler.example.com/wake?pool=a';
const WANTED = { model: 'llama-3-70b', kind: 'chat', held: 3, sinceMs: Date.UTC(2026, 10, 3, 12) } as const;
const BODY = '{"site":"site-fr-1","model":"llama-3-70b","kind":"chat","held":3,"since":"2026-11-03T12:00:00.000Z"}';

function webhook(answer: EngineFetch, target: Partial<WebhookTarget> = {}) {
  const timers = new FakeTimers();
  const calls: { readonly url: string; readonly init: RequestInit }[] = [];
  const failures: string[] = [];
  const hook = new WakeWebhook(
    'site-fr-1',
    { url: URL_TEXT, authorization: undefined, secret: SECRET, ...target },
    {
      timers,
      fetch: (url, init) => {
        calls.push({ url, init });
        return answer(url, init);
      },
      onFailed: (model, reason) => void failures.push(`${model}: ${reason}`),
    },
  );
  return { hook, timers, calls, failures };
}

const answering = (status: number) => async () => new Response('whatever', { status });

/** Never answers; ends when it is told to. */
const hanging: EngineFetch = (_url, init) =>
  new Promise((_resolve, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason)));

describe('WakeWebhook.call()', () => {
  it('posts what is wanted, signed over the bytes of the body', async () => {
    const { hook, calls, failures, timers } = webhook(answering(202));
    assert.equal(hook.call(WANTED), true);
    await settled();
    const [{ url, init } = assert.fail()] = calls;
    assert.deepEqual([url, init.method, init.body], [URL_TEXT, 'POST', BODY]);
    assert.equal(init.keepalive, false, 'on a connection of its own');
    assert.deepEqual(init.headers, {
      'content-type': 'application/json',
      'x-hivenet-signature': `sha256=${createHmac('sha256', SECRET).update(BODY).digest('hex')}`,
    });
    assert.deepEqual([failures, timers.pending], [[], 0]);
  });

  it('does not sign without a secret, and shows the credentials that its URL had', async () => {
    const { hook, calls } = webhook(answering(200), { secret: undefined, authorization: 'Basic dTpw' });
    hook.call(WANTED);
    assert.deepEqual(calls[0]?.init.headers, { 'content-type': 'application/json', authorization: 'Basic dTpw' });
  });

  it('has one call of a model under way, and one of another beside it', async () => {
    const { hook, calls } = webhook(hanging);
    assert.deepEqual(
      [WANTED, WANTED, { ...WANTED, model: 'other' }].map((wanted) => hook.call(wanted)),
      [true, false, true],
    );
    await settled();
    assert.equal(calls.length, 2);
  });

  const failing: readonly (readonly [string, EngineFetch, string])[] = [
    ['a 500', answering(500), 'status 500'],
    ['a redirect, which is not followed', answering(302), 'status 302'],
    [
      'a refused connection',
      () => Promise.reject(Object.assign(new Error(`Cannot reach ${URL_TEXT}`), { code: 'ECONNREFUSED' })),
      'ECONNREFUSED',
    ],
    ['anything else', () => Promise.reject(new TypeError(URL_TEXT)), 'no connection'],
  ];
  for (const [what, answer, reason] of failing) {
    it(`counts ${what} as failed, in words without the URL, and calls again`, async () => {
      const { hook, failures, timers } = webhook(answer);
      hook.call(WANTED);
      await settled();
      assert.deepEqual([failures, timers.pending], [[`llama-3-70b: ${reason}`], 0]);
      assert.equal(hook.call(WANTED), true);
    });
  }

  it('gives up an endpoint that hangs after ten seconds, and calls again', async () => {
    const { hook, timers, failures } = webhook(hanging);
    hook.call(WANTED);
    timers.advance(CALL_TIMEOUT_MS - 1);
    await settled();
    assert.deepEqual([failures, hook.call(WANTED)], [[], false]);
    timers.advance(1);
    await settled();
    assert.deepEqual(failures, ['llama-3-70b: no answer within 10000 ms']);
    assert.equal(hook.call(WANTED), true);
  });

  it('gives up an answer whose head came and whose rest does not', async () => {
    const cancelled: string[] = [];
    const body = new ReadableStream({ cancel: () => void cancelled.push('cancelled') });
    const { hook, failures } = webhook(async () => new Response(body));
    hook.call(WANTED);
    await settled();
    assert.deepEqual([cancelled, failures, hook.call(WANTED)], [['cancelled'], [], true]);
  });
});

describe('WakeWebhook.stop()', () => {
  it('ends what is under way, which is nobody’s failure', async () => {
    const { hook, failures, timers } = webhook(hanging);
    hook.call(WANTED);
    hook.stop();
    await settled();
    assert.deepEqual([failures, timers.pending], [[], 0]);
  });
});
