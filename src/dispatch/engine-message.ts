// What an engine says about its own failure, as one short text for the client.

import { parseJson } from '../agents/engine-body.ts';
import { encodeUtf8 } from '../lib/utf8.ts';

/** UTF-8 bytes of an engine's message that a client is shown (E8). */
export const ENGINE_MESSAGE_MAX_BYTES = 512;

/**
 * The message of an error body: the usual JSON fields (OpenAI, Anthropic, FastAPI), else the text itself, cut to
 * {@link ENGINE_MESSAGE_MAX_BYTES} between two characters. Undefined for an empty body.
 */
export function engineMessage(body: Uint8Array): string | undefined {
  const text = new TextDecoder().decode(body);
  const message = (messageField(parseJson(body)) ?? text).trim();
  return message === '' ? undefined : cut(message);
}

function messageField(document: unknown): string | undefined {
  const said = memberOf(document, 'error') ?? document;
  return [said, memberOf(said, 'message'), memberOf(said, 'detail')].find((value) => typeof value === 'string');
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function cut(text: string): string {
  const bytes = encodeUtf8(text);
  if (bytes.byteLength <= ENGINE_MESSAGE_MAX_BYTES) return text;
  let end = ENGINE_MESSAGE_MAX_BYTES;
  while (isContinuation(bytes[end])) end -= 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

/** True inside a character: bytes 10xxxxxx (RFC 3629 §3). */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
