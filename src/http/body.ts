// Reads a request body once, into one buffer, under one limit counted in real bytes. The same bytes are hashed, parsed
// and forwarded.

import { RouterError } from '../errors.ts';

/**
 * The whole body, at most `maxBytes`. One byte more is `body_too_large`, whether the length was declared or not; a
 * body that breaks off is `request_invalid`; an encoded one is `encoding_unsupported`.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  refuseEncoded(request.headers.get('content-encoding'));
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > maxBytes) throw tooLarge(maxBytes);
  if (request.body === null) return new Uint8Array(0);
  try {
    // With a declared length the runtime delivers no more than that; only a chunked body has to be counted.
    const body =
      declared === null ? await readCounted(request.body, maxBytes) : new Uint8Array(await request.arrayBuffer());
    if (body.byteLength > maxBytes) throw tooLarge(maxBytes);
    return body;
  } catch (error) {
    if (error instanceof RouterError) throw error;
    if (request.signal.aborted) throw new RouterError('client_gone', 'The client left before its body was complete.');
    throw new RouterError('request_invalid', 'The request body could not be read to its end.', error);
  }
}

async function readCounted(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  let buffer = new Uint8Array(Math.min(maxBytes, 16_384));
  let length = 0;
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const needed = length + chunk.value.byteLength;
    if (needed > maxBytes) {
      await reader.cancel();
      throw tooLarge(maxBytes);
    }
    if (needed > buffer.byteLength) buffer = grown(buffer, Math.min(maxBytes, Math.max(needed, buffer.byteLength * 2)));
    buffer.set(chunk.value, length);
    length = needed;
  }
  return buffer.subarray(0, length);
}

function grown(buffer: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(buffer);
  return larger;
}

function refuseEncoded(encoding: string | null): void {
  if (encoding === null || encoding === '' || encoding.toLowerCase() === 'identity') return;
  throw new RouterError(
    'encoding_unsupported',
    'Content-Encoding of request bodies is not supported: send plain JSON.',
  );
}

function tooLarge(maxBytes: number): RouterError {
  return new RouterError('body_too_large', `The request body is larger than ${maxBytes} bytes.`);
}
