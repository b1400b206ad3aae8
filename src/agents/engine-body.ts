// Reading an engine's body into memory: never more of it than the caller allows, whatever the engine sends.

import { decodeUtf8 } from '../lib/utf8.ts';

/** The beginning of a body, and the reader of the rest; undefined when there is none. */
export interface OpenedBody {
  readonly chunks: readonly Uint8Array[];
  readonly rest: ReadableStreamDefaultReader<Uint8Array> | undefined;
}

/** Reads until the body ends or `isEnough` of the bytes so far. Rejects when the body breaks off before. */
export async function openBody(response: Response, isEnough: (bytes: number) => boolean): Promise<OpenedBody> {
  return readOn(response.body?.getReader(), isEnough);
}

async function readOn(reader: OpenedBody['rest'], isEnough: (bytes: number) => boolean): Promise<OpenedBody> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    chunks.push(part.value);
    size += part.value.byteLength;
    if (isEnough(size)) return { chunks, rest: reader };
  }
  return { chunks, rest: undefined };
}

/** The first bytes of a body, and whether that was all of it. */
export interface BoundedBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isWhole: boolean;
}

/**
 * Reads at most `maxBytes` and cancels what is left, so that no engine can fill the router's memory. A short body is
 * read to its end, which keeps the connection for the next request. Rejects when the body breaks off. `stop` ends the
 * reading early, with what has come.
 */
export async function readBounded(response: Response, maxBytes: number, stop?: AbortSignal): Promise<BoundedBody> {
  const reader = response.body?.getReader();
  const cancel = (): void => void reader?.cancel().catch(() => undefined);
  stop?.addEventListener('abort', cancel);
  const { chunks, rest } = await readOn(reader, (size) => size > maxBytes);
  stop?.removeEventListener('abort', cancel);
  if (rest === undefined) return { bytes: joined(chunks), isWhole: stop?.aborted !== true };
  await rest.cancel();
  return { bytes: joined(chunks).subarray(0, maxBytes), isWhole: false };
}

/** The chunks as one. */
export function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

/** A member of any JSON value; undefined where there is none. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** The document, or undefined for what is not JSON in UTF-8. */
export function parseJson(bytes: Uint8Array): unknown {
  return parseText(decodeUtf8(bytes) ?? '');
}

/** The same of what is text already. */
export function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the only error of JSON.parse is a text that is not JSON
  }
}
