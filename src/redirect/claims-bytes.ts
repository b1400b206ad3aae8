// The claims as bytes (redirect-requirements 4.2): big-endian, fixed order, every claim has one spelling. Binary, since a
// token travels in a URL, and since offsets leave no room for the duplicate names and number forms of JSON (T-16).

import type { Buffer } from 'node:buffer';
import { COUNTRY_CODES } from '../site/country.ts';
import type { Scope } from '../site/scope.ts';
import { parseSiteId } from '../site/site.ts';
import { areWithinBounds, ENDPOINT_PATHS, type RedirectClaims } from './claims.ts';
import { TextReader, writeText } from './text-fields.ts';

/** Most bytes that claims take. */
export const CLAIMS_MAX_BYTES = 786;

const FLAGS_NONE = 0;
const SCOPE_ALL = 0;
const SCOPE_EU = 1;
const TOKEN_ID_OFFSET = 15;
const TOKEN_ID_DIGITS = 32;
const BODY_HASH_OFFSET = 31;
const TEXTS_OFFSET = 63;
const NO_DIGIT = 0x10;

/**
 * Writes the claims to the front of `bytes`, which has room for {@link CLAIMS_MAX_BYTES}, and returns how many they take:
 * 114 at least. Undefined when a field is out of bounds: then no token can be made (D-45).
 */
export function encodeClaims(claims: RedirectClaims, bytes: Buffer): number | undefined {
  if (!areWithinBounds(claims)) return undefined;
  bytes.writeUInt8(FLAGS_NONE, 0);
  bytes.writeUInt8(ENDPOINT_PATHS.indexOf(claims.endpoint) + 1, 1);
  bytes.writeUInt8(claims.hop, 2);
  bytes.writeUInt16BE(encodeScope(claims.scope), 3);
  bytes.writeUIntBE(claims.issuedMs, 5, 6);
  bytes.writeUInt32BE(claims.lifetimeMs, 11);
  if (!writeHex(claims.tokenId, bytes, TOKEN_ID_OFFSET, BODY_HASH_OFFSET)) return undefined;
  if (!writeHex(claims.bodyHash, bytes, BODY_HASH_OFFSET, TEXTS_OFFSET)) return undefined;
  let end = writeText(bytes, TEXTS_OFFSET, claims.requestId);
  end = writeText(bytes, end, claims.clientRequestId ?? '');
  end = writeText(bytes, end, claims.origin);
  end = writeText(bytes, end, claims.target);
  end = writeText(bytes, end, claims.keyId);
  return writeText(bytes, end, claims.model);
}

/**
 * The claims, or undefined unless `bytes` are exactly what `encodeClaims` writes for them. For bytes whose MAC has
 * verified: nothing else is worth reading (D-28).
 */
export function decodeClaims(bytes: Buffer): RedirectClaims | undefined {
  if (bytes.length < TEXTS_OFFSET || bytes[0] !== FLAGS_NONE) return undefined;
  const endpoint = ENDPOINT_PATHS[bytes.readUInt8(1) - 1];
  const hop = bytes.readUInt8(2);
  const scope = SCOPES.get(bytes.readUInt16BE(3));
  if (endpoint === undefined || (hop !== 1 && hop !== 2) || scope === undefined) return undefined;
  const texts = new TextReader(bytes, TEXTS_OFFSET);
  const requestId = texts.nextAscii();
  const clientRequestId = texts.nextAscii();
  const origin = parseSiteId(texts.nextAscii());
  const target = parseSiteId(texts.nextAscii());
  const keyId = texts.nextUtf8();
  const model = texts.nextUtf8();
  if (origin === undefined || target === undefined || keyId === undefined || model === undefined) return undefined;
  if (!texts.isAtEnd) return undefined;
  const hex = bytes.toString('hex', TOKEN_ID_OFFSET, TEXTS_OFFSET);
  const claims: RedirectClaims = {
    endpoint,
    hop,
    scope,
    issuedMs: bytes.readUIntBE(5, 6),
    lifetimeMs: bytes.readUInt32BE(11),
    tokenId: hex.slice(0, TOKEN_ID_DIGITS),
    bodyHash: hex.slice(TOKEN_ID_DIGITS),
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

const ALL_SCOPES: readonly Scope[] = [
  { kind: 'all' },
  { kind: 'eu' },
  ...COUNTRY_CODES.map((country) => ({ kind: 'country', country }) as const),
];

/** By the two bytes that stand for it. */
const SCOPES: ReadonlyMap<number, Scope> = new Map(ALL_SCOPES.map((scope) => [encodeScope(scope), scope]));

/** What a lower-case hex digit stands for, by its character; {@link NO_DIGIT} for all others. */
const HEX_VALUES = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = '0123456789abcdef'.indexOf(String.fromCharCode(code));
  return value === -1 ? NO_DIGIT : value;
});

/** Fills the bytes from `start` to before `end`. False unless `digits` are lower-case hex digits, two for each of them. */
function writeHex(digits: string, bytes: Buffer, start: number, end: number): boolean {
  let seen = digits.length === 2 * (end - start) ? 0 : NO_DIGIT;
  for (let at = start, place = 0; at < end; at += 1, place += 2) {
    const high = HEX_VALUES[digits.charCodeAt(place)] ?? NO_DIGIT;
    const low = HEX_VALUES[digits.charCodeAt(place + 1)] ?? NO_DIGIT;
    bytes[at] = (high << 4) | low;
    seen |= high | low;
  }
  return seen < NO_DIGIT;
}
