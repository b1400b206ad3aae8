// The few fields of a request body that routing reads. The rest is the engine's to judge, and the bytes themselves go
// on unchanged.

import { Buffer } from 'node:buffer';
import { findMembers } from '../lib/json-members.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import { decodeUtf8, encodeUtf8 } from '../lib/utf8.ts';

/** Longest model name, in UTF-8 bytes (R-034, D-71). */
export const MODEL_MAX_BYTES = 256;

export interface InferenceRequest {
  /** The model as sent: 1 to {@link MODEL_MAX_BYTES} bytes of UTF-8. */
  readonly model: string;
}

/**
 * Reads one JSON object. Refused: anything but UTF-8, a BOM, trailing data, a second top-level `model` (A11: router
 * and engine could read different ones), and a `model` that is missing, empty, too long or not a string.
 * The fault is one sentence for the client.
 */
export function readInferenceRequest(body: Uint8Array): Result<InferenceRequest, string> {
  const text = decodeUtf8(body);
  if (text === undefined) return fault('The request body is not valid UTF-8.');
  const document = parseJson(text);
  if (!document.ok) return document;
  if (!isObject(document.value)) return fault('The request body must be a JSON object.');
  const [member, second] = findMembers(body, 'model');
  if (second !== undefined) return fault('The request body names "model" more than once.');
  // From where replaceModel() would write it: V8 15.0 can read an escaped member name as another one (A11).
  const model: unknown =
    member === undefined ? undefined : JSON.parse(decodeUtf8(body.subarray(member.start, member.end)) ?? '');
  if (typeof model !== 'string' || model === '') return fault('"model" is required and must be a non-empty string.');
  if (!model.isWellFormed()) return fault('"model" holds a lone surrogate.');
  if (encodeUtf8(model).byteLength > MODEL_MAX_BYTES) {
    return fault(`"model" is longer than ${MODEL_MAX_BYTES} bytes.`);
  }
  return ok({ model });
}

/**
 * The same body with another model name in place: every other byte stays, numbers included (E6). `body` must have
 * passed {@link readInferenceRequest}.
 */
export function replaceModel(body: Uint8Array, model: string): Uint8Array<ArrayBuffer> {
  const [member] = findMembers(body, 'model');
  if (member === undefined) throw new Error('replaceModel() needs a body that names a model');
  return Buffer.concat([body.subarray(0, member.start), encodeUtf8(JSON.stringify(model)), body.subarray(member.end)]);
}

function parseJson(text: string): Result<unknown, string> {
  try {
    return ok(JSON.parse(text) as unknown);
  } catch {
    // The parser's own message may quote the body, which belongs in no answer and no log.
    return fault('The request body is not valid JSON.');
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
