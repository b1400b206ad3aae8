// Where zstd frames end (RFC 8878 §3.1). Decoders of both runtimes take a frame that is cut short for a short one, so its
// blocks are counted here; what is in them is the decoder's to judge.

const FRAME_MAGIC = 0xfd2fb528;
/** The last four bits are free. */
const SKIPPABLE_MAGIC = 0x184d2a50;
const CHECKSUM_BYTES = 4;
/** Bytes of the dictionary ID by its flag. */
const DICTIONARY_ID_BYTES = [0, 1, 2, 4];
const RLE_BLOCK = 1;
/** Empty blocks and frames are legal and nearly free to send; a compressor that flushes every 160 bytes stays below. */
const PARTS_MAX = 65_536;

interface Walk {
  readonly view: DataView;
  /** Frames and blocks that may still come. */
  partsLeft: number;
}

/**
 * Whether the bytes are one or more zstd frames, the last one whole, and nothing after it. False also for more than
 * 65,536 frames and blocks together.
 */
export function areWholeZstdFrames(bytes: Uint8Array): boolean {
  const walk: Walk = {
    view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    partsLeft: PARTS_MAX,
  };
  let at: number | undefined = 0;
  do {
    at = endOfFrame(walk, at);
  } while (at !== undefined && at < bytes.byteLength);
  return at === bytes.byteLength;
}

/** Undefined: no frame begins here, or it does not end within the bytes. */
function endOfFrame(walk: Walk, start: number): number | undefined {
  const { view } = walk;
  walk.partsLeft -= 1;
  if (walk.partsLeft < 0 || start + 8 > view.byteLength) return undefined;
  const magic = view.getUint32(start, true);
  if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) return start + 8 + view.getUint32(start + 4, true);
  if (magic !== FRAME_MAGIC) return undefined;
  const descriptor = view.getUint8(start + 4);
  const end = endOfBlocks(walk, start + 5 + headerBytes(descriptor));
  const hasChecksum = (descriptor & 0x04) !== 0;
  return end === undefined || !hasChecksum ? end : end + CHECKSUM_BYTES;
}

/** Length of a frame header behind its descriptor: window, dictionary ID, content size. */
function headerBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const contentSizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 1 << sizeFlag;
  return Number(!isSingleSegment) + (DICTIONARY_ID_BYTES[descriptor & 0x03] ?? 0) + contentSizeBytes;
}

function endOfBlocks(walk: Walk, start: number): number | undefined {
  const { view } = walk;
  for (let at = start; at + 3 <= view.byteLength && walk.partsLeft > 0; walk.partsLeft -= 1) {
    const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
    const isLast = (header & 1) !== 0;
    const isRepeated = ((header >> 1) & 3) === RLE_BLOCK;
    at += 3 + (isRepeated ? 1 : header >> 3);
    if (isLast) return at;
  }
  return undefined;
}
