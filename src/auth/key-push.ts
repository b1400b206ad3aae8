// A replacement of keys as it comes in: bytes that are read entry by entry, because 16 MiB in one go would hold up every
// request for a tenth of a second. What the document may say is key-document.ts's.

import { Buffer } from 'node:buffer';
import { findItems, isList } from '../lib/json-items.ts';
import { type ByteSpan, scanMembers } from '../lib/json-members.ts';
import { fault, type Result } from '../lib/result.ts';
import type { Steps } from '../lib/steps.ts';
import { type KeyReplacement, parseKeyReplacement } from './key-document.ts';
import { KEYS_MAX } from './key-registry.ts';

/** Of a replacement as JSON text (api.md §2, D-60). */
export const KEYS_MAX_BYTES = 16 * 1024 * 1024;

/** What is said of bytes that are no JSON. */
export const NOT_JSON = 'The request body is not valid JSON.';

/** Bytes of a version as it may be written: 256 characters of six bytes, `\u0061`, and more; `null` is shorter. */
const SCALAR_MAX_BYTES = 2_048;

/**
 * Reads the body of `POST /admin/api-keys/replace`, at most {@link KEYS_MAX_BYTES}, to what `parseKeyReplacement` makes of
 * its `JSON.parse`: of members with one name the last counts. Unlike `JSON.parse` it takes no document that is more than
 * 1,000 deep or has a number of more than 1,024 digits.
 */
export function* readKeyPush(bytes: Uint8Array): Steps<Result<KeyReplacement, string>> {
  const lists = yield* scanMembers(bytes, 'keys');
  const versions = yield* scanMembers(bytes, 'version');
  if (!lists.ok || !versions.ok) return fault(NOT_JSON);
  if (!lists.value.isObject) return yield* parseKeyReplacement(undefined);
  const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = versions.value.spans.at(-1);
  const head = version === undefined ? {} : { version: parseShort(json, version) };
  const list = lists.value.spans.at(-1);
  if (list === undefined) return yield* parseKeyReplacement(head);
  if (!isList(json, list)) return yield* parseKeyReplacement({ ...head, keys: parseShort(json, list) });
  const items = yield* findItems(json, list, KEYS_MAX + 1);
  return yield* parseKeyReplacement({ ...head, keys: items }, (_, position) => parseSpan(json, items[position]));
}

/** What is too long to be a version is `false`, which is neither a version nor a list. */
function parseShort(json: Buffer, span: ByteSpan): unknown {
  return span.end - span.start > SCALAR_MAX_BYTES ? false : parseSpan(json, span);
}

function parseSpan(json: Buffer, span: ByteSpan | undefined): unknown {
  return span && (JSON.parse(json.toString('utf8', span.start, span.end)) as unknown);
}
