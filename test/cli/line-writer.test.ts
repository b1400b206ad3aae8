import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GATHER_MS, LineWriter, PENDING_MAX } from '../../src/cli/line-writer.ts';

/** A writer to a stream whose writes the test completes, at times that the test brings on. */
function heldWriter() {
  const texts: string[] = [];
  const writes: ((error?: Error | null) => void)[] = [];
  const timers: (() => void)[] = [];
  const stream = {
    write: (text: string, done: (error?: Error | null) => void) => {
      texts.push(text);
      writes.push(done);
    },
    on: () => undefined,
  };
  const writer = new LineWriter(stream, (ms, run) => {
    assert.equal(ms, GATHER_MS);
    timers.push(run);
  });
  const take = (error?: Error) => {
    for (const done of writes.splice(0)) done(error);
  };
  const pass = () => {
    for (const run of timers.splice(0)) run();
  };
  return { writer, texts, take, pass };
}

describe('LineWriter', () => {
  it('hands lines on in order, the first at once and what follows closely in one piece', () => {
    const { writer, texts, take, pass } = heldWriter();
    for (const line of ['a\n', 'b\n', 'c\n']) writer.write(line);
    assert.deepEqual(texts, ['a\n']);
    take();
    assert.deepEqual(texts, ['a\n'], 'the moment has not passed');
    pass();
    assert.deepEqual(texts, ['a\n', 'b\nc\n']);
    assert.equal(writer.dropped, 0);
  });

  it('writes at once after a pause', () => {
    const { writer, texts, take, pass } = heldWriter();
    for (const line of ['a\n', 'b\n']) {
      writer.write(line);
      take();
      pass();
    }
    assert.deepEqual(texts, ['a\n', 'b\n']);
  });

  it('waits for a slow reader, however long that is', () => {
    const { writer, texts, take, pass } = heldWriter();
    for (const line of ['a\n', 'b\n']) writer.write(line);
    pass();
    assert.deepEqual(texts, ['a\n']);
    take();
    assert.deepEqual(texts, ['a\n', 'b\n']);
  });

  it('holds 8 MiB for a reader that lags, drops one character more, and goes on when the reader has caught up', () => {
    const { writer, texts, take, pass } = heldWriter();
    writer.write('x'.repeat(PENDING_MAX));
    writer.write('y');
    assert.deepEqual([texts.length, writer.dropped], [1, 1]);
    take();
    pass();
    writer.write('y');
    assert.deepEqual([texts.length, writer.dropped], [2, 1]);
  });

  it('counts lines that the system did not take', () => {
    const { writer, take, pass } = heldWriter();
    for (const line of ['a\n', 'b\n', 'c\n']) writer.write(line);
    take(new Error('ENOSPC'));
    assert.equal(writer.dropped, 1);
    pass();
    take(new Error('ENOSPC'));
    assert.equal(writer.dropped, 3);
  });

  it('tells when nothing is pending', async () => {
    const { writer, take, pass } = heldWriter();
    await writer.flushed();
    for (const line of ['a\n', 'b\n']) writer.write(line);
    let isFlushed = false;
    const flushing = writer.flushed().then(() => {
      isFlushed = true;
    });
    take();
    await Promise.resolve();
    assert.equal(isFlushed, false);
    pass();
    take();
    await flushing;
  });
});
