import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import { constants, zstdCompressSync } from 'node:zlib';
import { areWholeZstdFrames } from '../../src/lib/zstd-frames.ts';

/** No two of these have the same header, or the same kinds of blocks. */
const CONTENTS = {
  empty: Buffer.alloc(0),
  'a few bytes': Buffer.from('{"model":"m"}'),
  'one byte, repeated': Buffer.alloc(300_000, 0x20),
  'several blocks': Buffer.from(Array.from({ length: 400_000 }, (_, index) => (index * index) % 251)),
} as const;

const FRAMES = Object.entries(CONTENTS).flatMap(([name, content]) =>
  [0, 1].map((checksum) => ({
    name: `${name}, ${checksum === 0 ? 'without' : 'with'} checksum`,
    frame: zstdCompressSync(content, { params: { [constants.ZSTD_c_checksumFlag]: checksum } }),
  })),
);

/** RFC 8878 §3.1.2. */
function skippable(magic: number, size: number): Buffer {
  const frame = Buffer.alloc(8 + size, 0xff);
  frame.writeUInt32LE(magic, 0);
  frame.writeUInt32LE(size, 4);
  return frame;
}

describe('areWholeZstdFrames()', () => {
  for (const { name, frame } of FRAMES) {
    it(`takes a frame of ${name}, and none that is a byte shorter or longer`, () => {
      assert.ok(areWholeZstdFrames(frame));
      for (const cut of [1, 2, 3, 4, 5, frame.length - 8, frame.length - 4, frame.length - 1, frame.length]) {
        assert.ok(!areWholeZstdFrames(frame.subarray(0, frame.length - cut)), `${cut} bytes cut`);
      }
      assert.ok(!areWholeZstdFrames(Buffer.concat([frame, Buffer.from([0])])));
      assert.ok(!areWholeZstdFrames(Buffer.concat([frame, frame.subarray(0, -1)])));
    });

    it(`takes it between others`, () => {
      const between = [frame, skippable(0x184d2a50, 3), frame, skippable(0x184d2a5f, 0)];
      assert.ok(areWholeZstdFrames(Buffer.concat(between)));
    });
  }

  it('reads every form of header by its length (RFC 8878 §3.1.1.1)', () => {
    for (let descriptor = 0; descriptor < 256; descriptor += 1) {
      const isSingle = (descriptor & 0x20) !== 0;
      const contentSize = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
      const dictionaryId = [0, 1, 2, 4][descriptor & 3] ?? 0;
      const header = Buffer.alloc((isSingle ? 0 : 1) + contentSize + dictionaryId);
      const lastBlock = Buffer.from([1 | (2 << 3), 0, 0, 0xaa, 0xbb]);
      const checksum = Buffer.alloc((descriptor & 4) === 0 ? 0 : 4);
      const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, descriptor]);
      const frame = Buffer.concat([magic, header, lastBlock, checksum]);
      assert.ok(areWholeZstdFrames(frame), `descriptor ${descriptor}`);
      assert.ok(!areWholeZstdFrames(frame.subarray(0, -1)), `descriptor ${descriptor}, cut`);
    }
  });

  it('takes nothing else for a frame', () => {
    const others = [
      Buffer.from('{"model":"m"}'),
      Buffer.alloc(100),
      skippable(0x184d2a60, 0),
      skippable(0x184d2a4f, 0),
    ];
    for (const bytes of others) assert.ok(!areWholeZstdFrames(bytes));
    const tooLong = skippable(0x184d2a50, 0);
    tooLong.writeUInt32LE(0xffff_ffff, 4);
    assert.ok(!areWholeZstdFrames(tooLong));
  });

  it('takes 65,536 frames and blocks and not one more: empty ones cost their sender next to nothing', () => {
    const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0]);
    const frameOf = (blocks: number) => Buffer.concat([header, Buffer.alloc((blocks - 1) * 3), Buffer.from([1, 0, 0])]);
    assert.ok(areWholeZstdFrames(frameOf(65_535)));
    assert.ok(!areWholeZstdFrames(frameOf(65_536)));
    const frames = (count: number) => Buffer.concat(Array.from({ length: count }, () => skippable(0x184d2a50, 0)));
    assert.ok(areWholeZstdFrames(frames(65_536)));
    assert.ok(!areWholeZstdFrames(frames(65_537)));
  });

  it('reads bytes that begin within a larger buffer', () => {
    const frame = zstdCompressSync('{}');
    const larger = Buffer.concat([Buffer.alloc(5), frame]);
    assert.ok(areWholeZstdFrames(larger.subarray(5)));
  });
});
