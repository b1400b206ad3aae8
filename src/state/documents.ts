// Keys and map in the form in which the state holds them: a part for each key, so that one can be changed, and the map's
// JSON in pieces. What is read back goes through the same door as a push.

import { Buffer } from 'node:buffer';
import type { ApiKey } from '../auth/api-key.ts';
import { formatKey, type KeyReplacement, parseKeyReplacement } from '../auth/key-document.ts';
import { fault, type Result } from '../lib/result.ts';
import { complete } from '../lib/steps.ts';
import { decodeUtf8, encodeUtf8 } from '../lib/utf8.ts';
import { formatSiblingMap } from '../site/format-sibling-map.ts';
import type { SiblingMap } from '../site/sibling-map.ts';
import type { DocumentPart, StoredDocument } from './state.ts';

/** All keys of the registry. Formatted one by one, as they are written. */
export function keysDocument(version: string, keys: Iterable<ApiKey>): StoredDocument {
  return { version, parts: keyParts(keys) };
}

/** The part of one key; its name is the key's ID. It has the key's hash, and never the key. */
export function keyPart(key: ApiKey): DocumentPart {
  return { name: key.id, body: encodeUtf8(JSON.stringify({ ...formatKey(key), key_hash: key.keyHash })) };
}

/** What was saved, checked like a push; the fault is its first broken rule. */
export function readKeys({ version, parts }: StoredDocument): Result<KeyReplacement, string> {
  const keys: unknown[] = [];
  for (const { body } of parts) {
    const text = decodeUtf8(body);
    const key = text === undefined ? undefined : parseJson(text);
    if (key === undefined) return fault(`keys[${keys.length}]: is not valid JSON`);
    keys.push(key);
  }
  return complete(parseKeyReplacement({ version, keys }));
}

/** The map as JSON that can be pushed again. Formatted piece by piece, as it is written. */
export function mapDocument(map: SiblingMap): StoredDocument {
  return { version: String(map.version), parts: mapParts(map) };
}

/** The JSON that was saved, to be parsed like a push. */
export function readMapJson({ parts }: StoredDocument): Uint8Array {
  return Buffer.concat(Array.from(parts, ({ body }) => body));
}

function* keyParts(keys: Iterable<ApiKey>): Generator<DocumentPart, void, undefined> {
  for (const key of keys) yield keyPart(key);
}

function* mapParts(map: SiblingMap): Generator<DocumentPart, void, undefined> {
  let number = 0;
  for (const piece of formatSiblingMap(map)) {
    yield { name: String(number), body: encodeUtf8(piece) };
    number += 1;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
