// Text to bytes and back, without the two liberties of the platform's defaults: no replacement characters for bytes
// that are not UTF-8, and no silently dropped byte order mark.

const ENCODER = new TextEncoder();
const STRICT_DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const LOSSY_DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** U+FFFD as UTF-8: what the lossy decoder writes in place of bytes that are none. */
const REPLACEMENT = [0xef, 0xbf, 0xbd];

/** The UTF-8 bytes of `text`. A lone surrogate has none and becomes U+FFFD, so two such texts can share their bytes. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return ENCODER.encode(text);
}

/** The text, or undefined when `bytes` are not UTF-8 (RFC 3629). A byte order mark is kept as U+FEFF. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return STRICT_DECODER.decode(bytes);
  } catch {
    return undefined; // the only error that a fatal decoder has
  }
}

/** Offset of the first byte that is not UTF-8, or undefined when all are. For messages: it decodes and encodes anew. */
export function findInvalidUtf8(bytes: Uint8Array): number | undefined {
  const lossy = ENCODER.encode(LOSSY_DECODER.decode(bytes));
  const differs = lossy.findIndex((byte, index) => byte !== bytes[index]);
  // The first difference lies in the first replacement, at the place in it that its byte tells.
  return differs === -1 ? undefined : differs - REPLACEMENT.indexOf(lossy[differs] ?? 0);
}
