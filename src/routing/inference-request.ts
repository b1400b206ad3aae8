// The few fields of a request body that routing reads. The rest is the engine's to judge, and the bytes themselves go
// on unchanged.

import { Buffer } from 'node:buffer';
import { type ByteSpan, DEPTH_MAX, type JsonFlaw, scanMembers } from '../lib/json-members.ts';
import { fault, ok, type Result } from '../lib/result.ts';
import type { Steps } from '../lib/steps.ts';
import { decodeUtf8, encodeUtf8 } from '../lib/utf8.ts';

/** Longest model name, in UTF-8 bytes (R-034, D-71). */
export const MODEL_MAX_BYTES = 256;

/** Longest model name as written: in quotes, every byte as an escape of six. */
const MODEL_WRITTEN_MAX_BYTES = 2 + 6 * MODEL_MAX_BYTES;

export interface InferenceRequest {
  /** The model as sent: 1 to {@link MODEL_MAX_BYTES} bytes of UTF-8. */
  readonly model: string;
  /** Where it stands in the body, quotes included. */
  readonly modelAt: ByteSpan;
}

const FLAWS: Readonly<Record<JsonFlaw, string>> = {
  not_utf8: 'The request body is not valid UTF-8.',
  // No more than that: the place of the fault would quote the body, which belongs in no answer and no log.
  not_json: 'The request body is not valid JSON.',
  too_deep: `The request body is nested more than ${DEPTH_MAX} levels deep.`,
};
const QUOTE = 0x22;
const NO_MODEL = '"model" is required and must be a non-empty string.';
const MODEL_TOO_LONG = `"model" is longer than ${MODEL_MAX_BYTES} bytes.`;

/**
 * Reads one JSON object. Refused: anything but UTF-8, a BOM, trailing data, a second top-level `model` (A11: router
 * and engine could read different ones), nesting without end, and a `model` that is missing, empty, too long or not a
 * string. The fault is one sentence for the client. It pauses, since a body can be long (see `scanMembers`).
 */
export function* readInferenceRequest(body: Uint8Array): Steps<Result<InferenceRequest, string>> {
  const scanned = yield* scanMembers(body, 'model');
  if (!scanned.ok) return fault(FLAWS[scanned.fault]);
  const { isObject, spans } = scanned.value;
  if (!isObject) return fault('The request body must be a JSON object.');
  const [modelAt, second] = spans;
  if (second !== undefined) return fault('The request body names "model" more than once.');
  if (modelAt === undefined) return fault(NO_MODEL);
  const model = readModel(body.subarray(modelAt.start, modelAt.end));
  return model.ok ? ok({ model: model.value, modelAt }) : model;
}

/** A request body, and where its model stands in it, as {@link readInferenceRequest} found it. */
export interface ModelBody {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly modelAt: ByteSpan;
}

/** The same body with another model name in place: every other byte stays, numbers included (E6). */
export function replaceModel({ body, modelAt: { start, end } }: ModelBody, model: string): ModelBody {
  const name = encodeUtf8(JSON.stringify(model));
  return {
    body: Buffer.concat([body.subarray(0, start), name, body.subarray(end)]),
    modelAt: { start, end: start + name.byteLength },
  };
}

/** `written` is one valid JSON value. */
function readModel(written: Uint8Array): Result<string, string> {
  if (written[0] !== QUOTE) return fault(NO_MODEL);
  if (written.byteLength > MODEL_WRITTEN_MAX_BYTES) return fault(MODEL_TOO_LONG);
  const model = String(JSON.parse(decodeUtf8(written) ?? ''));
  if (model === '') return fault(NO_MODEL);
  if (!model.isWellFormed()) return fault('"model" holds a lone surrogate.');
  return encodeUtf8(model).byteLength > MODEL_MAX_BYTES ? fault(MODEL_TOO_LONG) : ok(model);
}
