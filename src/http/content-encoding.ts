// Undoes the Content-Encoding of a request body (E5): which codings there are, and the decoding of whole bodies, piece by
// piece on the runtime's own threads, so that a bomb ends at the first piece too many.

import type * as Zlib from 'node:zlib';
import { RouterError } from '../errors.ts';
import { areWholeZstdFrames } from '../lib/zstd-frames.ts';

/** The codings of request bodies, by their registered names (RFC 9110 §8.4.1). */
const ENCODINGS = ['gzip', 'deflate', 'br', 'zstd'] as const;

export type ContentEncoding = (typeof ENCODINGS)[number];

/** The value of `Accept-Encoding` in an answer that refuses a coding (RFC 9110 §15.5.16). */
export const ACCEPTED_ENCODINGS = ENCODINGS.join(', ');

/** Bytes decoded at a time: larger pieces cost fewer hops between threads. */
const PIECE_BYTES = 65_536;

/** log2 of the largest window of zstd in HTTP, 8 MiB: a few bytes must not ask for more memory (RFC 9659). */
const ZSTD_WINDOW_LOG_MAX = 23;

/** The one coding of a body; undefined for none. Throws `encoding_unsupported` for an unknown one or several. */
export function readContentEncoding(header: string | null): ContentEncoding | undefined {
  const name = header?.toLowerCase() ?? '';
  if (name === '' || name === 'identity') return undefined;
  // The old name of gzip, which RFC 9110 §8.4.1.3 has not let go.
  const encoding = name === 'x-gzip' ? 'gzip' : ENCODINGS.find((known) => known === name);
  if (encoding !== undefined) return encoding;
  throw new RouterError(
    'encoding_unsupported',
    `The Content-Encoding of the request body is not supported: use none or one of ${ACCEPTED_ENCODINGS}.`,
  );
}

/**
 * Hands the decoded bytes to `take`, in order. Whatever `take` throws ends the decoding. Throws `request_invalid` for
 * bytes that are no body of this coding, are cut short or go on after its end.
 */
export async function decode(
  bytes: Uint8Array<ArrayBuffer>,
  encoding: ContentEncoding,
  take: (piece: Uint8Array) => void,
): Promise<void> {
  // Neither runtime's decoder says that a frame is cut short.
  if (encoding === 'zstd' && !areWholeZstdFrames(bytes)) throw broken(encoding);
  // Loaded with the first such body: few routers meet one, and no start has to wait for it.
  const decoder = decoderOf(await import('node:zlib'), encoding, bytes);
  try {
    decoder.end(bytes);
    for await (const piece of decoder) take(piece as Uint8Array);
  } catch (error) {
    throw error instanceof RouterError ? error : broken(encoding, error);
  }
  if (decoder.bytesWritten !== bytes.byteLength) throw broken(encoding);
}

function decoderOf(zlib: typeof Zlib, encoding: ContentEncoding, bytes: Uint8Array) {
  const options = { chunkSize: PIECE_BYTES };
  switch (encoding) {
    case 'gzip':
      return zlib.createGunzip(options);
    case 'deflate':
      return hasZlibHeader(bytes) ? zlib.createInflate(options) : zlib.createInflateRaw(options);
    case 'br':
      return zlib.createBrotliDecompress(options);
    case 'zstd':
      return zlib.createZstdDecompress({
        ...options,
        params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
      });
  }
}

/**
 * Whether a `deflate` body is what RFC 9110 §8.4.1.2 says, the zlib format. Some clients send the bare deflate stream of
 * RFC 1951, which cannot begin like this unless it pads a stored block with ones.
 */
function hasZlibHeader([method = 0, flags = 0]: Uint8Array): boolean {
  return (method & 0x8f) === 0x08 && ((method << 8) | flags) % 31 === 0;
}

function broken(encoding: ContentEncoding, cause?: unknown): RouterError {
  const bound = encoding === 'zstd' ? ', or its window is larger than 8 MiB' : '';
  return new RouterError(
    'request_invalid',
    `The request body is not one whole ${encoding} body, as its Content-Encoding says${bound}.`,
    { cause },
  );
}
