// A body that is announced and never comes: it must keep nobody out.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BodyBudget, type BodyShare, PROMISED_FACTOR } from '../../src/http/body-budget.ts';
import { eventually } from '../support/eventually.ts';
import { chunks, codeOf, inPieces, reader, untouched } from './body-reading.ts';

/** Up to here a declared body is read in one go. */
const WHOLE = 1_048_576;

/** What it takes from the budget while only 500 bytes of `size` have come. */
async function takenOf(size: number, isHashed: boolean): Promise<number> {
  let end = (): void => undefined;
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(new Uint8Array(500));
      end = () => controller.close();
    },
  });
  const headers = { 'content-length': String(size) };
  const { read, share } = reader(stream, { headers, isHashed, budgetBytes: size, maxBytes: size });
  const reading = read();
  const taken = await eventually('the first bytes', () => (share.bodyBytes > 0 ? share.bodyBytes : undefined));
  end();
  await reading;
  return taken;
}

describe('a declared body', () => {
  it('takes its length while it is short, and above 1 MiB the bytes that have come', async () => {
    assert.deepEqual([await takenOf(WHOLE, false), await takenOf(WHOLE + 1, false)], [WHOLE, 500]);
  });

  it('takes the bytes that have come from 64 KiB on when it is hashed', async () => {
    assert.deepEqual([await takenOf(65_536, true), await takenOf(65_537, true)], [65_536, 500]);
  });

  it('is refused before a byte of it is read when the budget has no room for it', async () => {
    const size = 2_000_000;
    const headers = { 'content-length': String(size) };
    const refused = reader(untouched(), { headers, maxBytes: size, budgetBytes: size - 1 });
    assert.equal(await codeOf(refused.read()), 'queue_full');
    assert.equal(refused.share.bodyBytes, 0);
  });

  it('is refused at the byte for which there is no room any more', async () => {
    const size = 2_000_000;
    const ask = { headers: { 'content-length': String(size) }, maxBytes: size, budgetBytes: size };
    const stream = () => inPieces(new Uint8Array(size), 100_000);
    assert.equal(await codeOf(reader(stream(), ask).read()), 'read');
    const late = reader(stream(), ask);
    const reading = late.read();
    late.budget.take({ bodyBytes: 0 }, 1);
    assert.equal(await codeOf(reading), 'queue_full');
    assert.equal(late.share.bodyBytes, 1_900_000);
  });

  it('is never longer than it was declared, whatever comes', async () => {
    for (const [size, code] of [
      [70_000, 'read'],
      [70_001, 'request_invalid'],
    ] as const) {
      const headers = { 'content-length': '70000' };
      const body = reader(chunks(new Uint8Array(size - 1), new Uint8Array(1)), { headers, isHashed: true });
      assert.equal(await codeOf(body.read()), code);
      assert.equal(body.share.bodyBytes, 70_000);
    }
  });
});

describe('BodyBudget.promise()', () => {
  it('lets a multiple of its bytes be promised, each while there is room for it, and forgets a promise that is over', () => {
    const budget = new BodyBudget(100);
    const shares = Array.from({ length: PROMISED_FACTOR }, (): BodyShare => ({ bodyBytes: 0 }));
    for (const share of shares) budget.promise(share, 100);
    const beyond: BodyShare = { bodyBytes: 0 };
    assert.throws(() => budget.promise(beyond, 1), { code: 'queue_full' });
    assert.equal(budget.bytes, 0);
    for (const share of [beyond, ...shares, ...shares]) budget.giveBack(share);
    budget.promise(beyond, 100);
    budget.take(beyond, 60);
    assert.throws(() => budget.promise({ bodyBytes: 0 }, 41), { code: 'queue_full' });
    budget.promise({ bodyBytes: 0 }, 40);
  });
});
