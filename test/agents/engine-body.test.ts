import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseJson, readBounded } from '../../src/agents/engine-body.ts';

describe('readBounded()', () => {
  const cases: readonly (readonly [body: string, max: number, text: string, isWhole: boolean])[] = [
    ['', 0, '', true],
    ['abc', 4, 'abc', true],
    ['abcd', 4, 'abcd', true],
    ['abcde', 4, 'abcd', false],
  ];
  for (const [body, max, text, isWhole] of cases) {
    it(`reads ${body.length} bytes with a bound of ${max}`, async () => {
      const read = await readBounded(new Response(body), max);
      assert.deepEqual([new TextDecoder().decode(read.bytes), read.isWhole], [text, isWhole]);
    });
  }

  it('joins chunks in order and cuts in the middle of one', async () => {
    const chunks = ['ab', 'cd', 'ef'].map((text) => new TextEncoder().encode(text));
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const chunk = chunks.shift();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const { bytes } = await readBounded(new Response(body), 5);
    assert.equal(new TextDecoder().decode(bytes), 'abcde');
  });

  it('ends early with what has come, and cancels the rest', async () => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('abc')),
      cancel: () => {
        isCancelled = true;
      },
    });
    const stop = new AbortController();
    const reading = readBounded(new Response(body), 5, stop.signal);
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    const { bytes, isWhole } = await reading;
    assert.deepEqual([new TextDecoder().decode(bytes), isWhole, isCancelled], ['abc', false, true]);
  });

  it('reads an answer without body as empty', async () => {
    const read = await readBounded(new Response(null, { status: 204 }), 1);
    assert.deepEqual([read.bytes.byteLength, read.isWhole], [0, true]);
  });
});

describe('parseJson()', () => {
  it('takes JSON in valid UTF-8 only', () => {
    assert.deepEqual(parseJson(new TextEncoder().encode('{"a":"é"}')), { a: 'é' });
    assert.equal(parseJson(new TextEncoder().encode('null')), null);
    assert.equal(parseJson(new TextEncoder().encode('{"a":1} x')), undefined);
    assert.equal(parseJson(new TextEncoder().encode('')), undefined);
    assert.equal(parseJson(Uint8Array.of(0x22, 0xff, 0x22)), undefined);
  });
});
