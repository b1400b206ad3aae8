import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LineWriter, PENDING_MAX } from '../../src/cli/line-writer.ts';

/** A stream whose writes the test completes. */
function heldStream() {
  const texts: string[] = [];
  const waiting: ((error?: Error | null) => void)[] = [];
  const stream = {
    write: (text: string, done: (error?: Error | null) => void) => {
      texts.push(text);
      waiting.push(done);
    },
    on: () => undefined,
  };
  const take = (error?: Error) => {
    for (const done of waiting.splice(0)) done(error);
  };
  return { stream, texts, take };
}

describe('LineWriter', () => {
  it('hands lines on in order, the first at once and what comes meanwhile in one piece after it', () => {
    const { stream, texts, take } = heldStream();
    const writer = new LineWriter(stream);
    for (const line of ['a\n', 'b\n', 'c\n']) writer.write(line);
    assert.deepEqual(texts, ['a\n']);
    take();
    assert.deepEqual(texts, ['a\n', 'b\nc\n']);
    take();
    writer.write('d\n');
    assert.deepEqual(texts, ['a\n', 'b\nc\n', 'd\n']);
    assert.equal(writer.dropped, 0);
  });

  it('holds 8 MiB for a reader that lags, drops one character more, and goes on when the reader has caught up', () => {
    const { stream, texts, take } = heldStream();
    const writer = new LineWriter(stream);
    writer.write('x'.repeat(PENDING_MAX));
    writer.write('y');
    assert.deepEqual([texts.length, writer.dropped], [1, 1]);
    take();
    writer.write('y');
    assert.deepEqual([texts.length, writer.dropped], [2, 1]);
  });

  it('counts lines that the system did not take', () => {
    const { stream, take } = heldStream();
    const writer = new LineWriter(stream);
    for (const line of ['a\n', 'b\n', 'c\n']) writer.write(line);
    take(new Error('ENOSPC'));
    assert.equal(writer.dropped, 1);
    take(new Error('ENOSPC'));
    assert.equal(writer.dropped, 3);
  });

  it('tells when nothing is pending', async () => {
    const { stream, take } = heldStream();
    const writer = new LineWriter(stream);
    await writer.flushed();
    writer.write('a\n');
    writer.write('b\n');
    let isFlushed = false;
    const flushing = writer.flushed().then(() => {
      isFlushed = true;
    });
    take();
    await Promise.resolve();
    assert.equal(isFlushed, false);
    take();
    await flushing;
  });
});
