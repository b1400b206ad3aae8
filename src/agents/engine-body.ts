// Reading an engine's body into memory: never more of it than the caller allows, whatever the engine sends.

import { decodeUtf8 } from '../lib/utf8.ts';

/** The first bytes of a body, and whether that was all of it. */
export interface BoundedBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isWhole: boolean;
}

/**
 * Reads at most `maxBytes` and cancels what is left, so that no engine can fill the router's memory. A short body is
 * read to its end, which keeps the connection for the next request. Rejects when the body breaks off.
 */
export async function readBounded(response: Response, maxBytes: number): Promise<BoundedBody> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    chunks.push(part.value);
    size += part.value.byteLength;
    if (size > maxBytes) {
      await reader?.cancel();
      return { bytes: joined(chunks, maxBytes), isWhole: false };
    }
  }
  return { bytes: joined(chunks, size), isWhole: true };
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    const part = chunk.subarray(0, size - offset);
    bytes.set(part, offset);
    offset += part.byteLength;
  }
  return bytes;
}

/** The document, or undefined for what is not JSON in UTF-8. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decodeUtf8(bytes) ?? '');
  } catch {
    return undefined; // the only error of JSON.parse is a text that is not JSON
  }
}
