// What an engine says about its own failure, as one short text for the client.

import { memberOf, parseJson } from '../agents/engine-body.ts';
import { encodeUtf8 } from '../lib/utf8.ts';

/** UTF-8 bytes of an engine's message that a client is shown (E8). */
export const ENGINE_MESSAGE_MAX_BYTES = 512;

/**
 * The message of an error body: the usual JSON fields (OpenAI, Anthropic, FastAPI), else the text itself, cut to
 * {@link ENGINE_MESSAGE_MAX_BYTES} between two characters. Undefined for an empty body. Servers repeat the key that they
 * refuse: `secret`, the engine's own, is taken out, and a message from which it cannot be is none.
 */
export function engineMessage(body: Uint8Array, secret?: string): string | undefined {
  const text = new TextDecoder().decode(body);
  const said = (messageField(parseJson(body)) ?? text).trim();
  const message = secret === undefined ? said : withoutSecret(said, secret);
  return message === undefined || message === '' ? undefined : cut(message);
}

/** A text that may be shown; undefined when the secret cannot be taken out of it. */
function withoutSecret(text: string, secret: string): string | undefined {
  const shown = text.replaceAll(secret, '[hidden]');
  return holdsSecret(shown, secret) ? undefined : shown;
}

/** Whether a text holds a secret of ASCII characters, as it is or in the escapes of JSON. */
export function holdsSecret(text: string, secret: string): boolean {
  const unescaped = text.replace(/\\(?:u00([0-9a-f]{2})|(.))/gi, (_all, code?: string, character = '') =>
    code === undefined ? character : String.fromCharCode(Number.parseInt(code, 16)),
  );
  return text.includes(secret) || unescaped.includes(secret);
}

function messageField(document: unknown): string | undefined {
  const said = memberOf(document, 'error') ?? document;
  return [said, memberOf(said, 'message'), memberOf(said, 'detail')].find((value) => typeof value === 'string');
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
