// The claims as bytes (redirect-requirements 4.2): big-endian, fixed order, every claim has one spelling. Binary, since a
// token travels in a URL, and since offsets leave no room for the duplicate names and number forms of JSON (T-16).

import { Buffer } from 'node:buffer';
import { decodeUtf8 } from '../lib/utf8.ts';
import { parseCountryCode } from '../site/country.ts';
import type { Scope } from '../site/scope.ts';
import { parseSiteId } from '../site/site.ts';
import { areWithinBounds, ENDPOINT_PATHS, type RedirectClaims } from './claims.ts';

const FLAGS_NONE = 0;
const SCOPE_ALL = 0;
const SCOPE_EU = 1;
const TEXTS_OFFSET = 63;
const TEXT_COUNT = 6;
const BEYOND_ASCII = /[\x80-\xff]/;

/** The bytes, 114 to 786 of them, or undefined when a field is out of bounds: then no token can be made (D-45). */
export function encodeClaims(claims: RedirectClaims): Buffer | undefined {
  if (!areWithinBounds(claims)) return undefined;
  const { requestId, clientRequestId = '', origin, target, keyId, model } = claims;
  const texts = [requestId, clientRequestId, origin, target, keyId, model];
  // Memory that was used before: every byte of it is written below, since `areWithinBounds` holds for every field.
  const bytes = Buffer.allocUnsafe(texts.reduce((size, text) => size + 2 + Buffer.byteLength(text), TEXTS_OFFSET));
  bytes.writeUInt8(FLAGS_NONE, 0);
  bytes.writeUInt8(ENDPOINT_PATHS.indexOf(claims.endpoint) + 1, 1);
  bytes.writeUInt8(claims.hop, 2);
  bytes.writeUInt16BE(encodeScope(claims.scope), 3);
  bytes.writeUIntBE(claims.issuedMs, 5, 6);
  bytes.writeUInt32BE(claims.lifetimeMs, 11);
  bytes.write(claims.tokenId, 15, 'hex');
  bytes.write(claims.bodyHash, 31, 'hex');
  let offset = TEXTS_OFFSET;
  for (const text of texts) {
    const size = bytes.write(text, offset + 2);
    bytes.writeUInt16BE(size, offset);
    offset += 2 + size;
  }
  return bytes;
}

/**
 * The claims, or undefined unless `bytes` are exactly what `encodeClaims` writes for them. For bytes whose MAC has
 * verified: nothing else is worth reading (D-28).
 */
export function decodeClaims(bytes: Buffer): RedirectClaims | undefined {
  if (bytes.length < TEXTS_OFFSET || bytes[0] !== FLAGS_NONE) return undefined;
  const endpoint = ENDPOINT_PATHS[bytes.readUInt8(1) - 1];
  const hop = bytes.readUInt8(2);
  const scope = decodeScope(bytes.readUInt16BE(3));
  const texts = splitTexts(bytes);
  if (endpoint === undefined || (hop !== 1 && hop !== 2) || scope === undefined || texts?.length !== TEXT_COUNT) {
    return undefined;
  }
  const [requestId = '', clientRequestId = '', originText = '', targetText = '', keyId = '', model = ''] = texts;
  const origin = parseSiteId(originText);
  const target = parseSiteId(targetText);
  if (origin === undefined || target === undefined) return undefined;
  const claims: RedirectClaims = {
    endpoint,
    hop,
    scope,
    issuedMs: bytes.readUIntBE(5, 6),
    lifetimeMs: bytes.readUInt32BE(11),
    tokenId: bytes.toString('hex', 15, 31),
    bodyHash: bytes.toString('hex', 31, TEXTS_OFFSET),
    requestId,
    clientRequestId: clientRequestId || undefined,
    origin,
    target,
    keyId,
    model,
  };
  return areWithinBounds(claims) ? claims : undefined;
}

function encodeScope(scope: Scope): number {
  switch (scope.kind) {
    case 'all':
      return SCOPE_ALL;
    case 'eu':
      return SCOPE_EU;
    case 'country':
      return scope.country.charCodeAt(0) * 256 + scope.country.charCodeAt(1);
  }
}

function decodeScope(code: number): Scope | undefined {
  if (code === SCOPE_ALL) return { kind: 'all' };
  if (code === SCOPE_EU) return { kind: 'eu' };
  const country = parseCountryCode(String.fromCharCode(code >> 8, code & 0xff));
  return country === undefined ? undefined : { kind: 'country', country };
}

/**
 * Texts, each behind its length in two bytes, up to exactly the last byte; undefined if they do not end there. Nearly
 * always all are ASCII, of which every byte is a character: then one call decodes them instead of six.
 */
function splitTexts(bytes: Buffer): readonly string[] | undefined {
  const latin1 = bytes.toString('latin1', TEXTS_OFFSET);
  const isAscii = !BEYOND_ASCII.test(latin1);
  const texts: string[] = [];
  let offset = TEXTS_OFFSET;
  while (offset + 2 <= bytes.length) {
    const start = offset + 2;
    offset = start + bytes.readUInt16BE(offset);
    const text = isAscii
      ? latin1.slice(start - TEXTS_OFFSET, offset - TEXTS_OFFSET)
      : decodeUtf8(bytes.subarray(start, offset));
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return offset === bytes.length ? texts : undefined;
}
