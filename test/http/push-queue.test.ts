import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PUSHED_BYTES_MAX, PUSHES_MAX, PushQueue } from '../../src/http/admin/push-queue.ts';

/** A push that ends when the test says so. */
function openPush(queue: PushQueue, bytes: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { end: resolve, outcome: queue.run(bytes, () => promise.then(() => 'read')) };
}

describe('PushQueue', () => {
  it('reads one push at a time, in the order of their coming (R-163)', async () => {
    const queue = new PushQueue();
    const seen: string[] = [];
    const push = (name: string) =>
      queue.run(1, async () => {
        seen.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, 0));
        seen.push(`${name} ends`);
        return name;
      });
    assert.deepEqual(await Promise.all(['a', 'b', 'c'].map(push)), ['a', 'b', 'c']);
    assert.deepEqual(seen, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it(`takes ${PUSHES_MAX} pushes and refuses one more until one is done`, async () => {
    const queue = new PushQueue();
    const [first, ...others] = Array.from({ length: PUSHES_MAX }, () => openPush(queue, 0));
    assert.equal(await queue.run(0, async () => 'read'), undefined);
    first?.end();
    assert.equal(await first?.outcome, 'read');
    for (const { end } of others) end();
    assert.equal(await queue.run(0, async () => 'read'), 'read');
  });

  it('takes 64 MiB of bodies and refuses one byte more', async () => {
    const queue = new PushQueue();
    assert.equal(PUSHED_BYTES_MAX, 67_108_864);
    const large = openPush(queue, PUSHED_BYTES_MAX);
    assert.equal(await queue.run(1, async () => 'read'), undefined);
    const empty = queue.run(0, async () => 'read');
    large.end();
    assert.equal(await empty, 'read');
    assert.equal(await queue.run(PUSHED_BYTES_MAX, async () => 'read'), 'read');
  });

  it('goes on after a push that threw', async () => {
    const queue = new PushQueue();
    const failing = queue.run(PUSHED_BYTES_MAX, async () => {
      throw new Error('a bug');
    });
    await assert.rejects(failing, /a bug/);
    assert.equal(await queue.run(PUSHED_BYTES_MAX, async () => 'read'), 'read');
  });
});
