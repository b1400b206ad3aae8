// Each claim: on its way into the bytes, out of them, within its bounds, and into the next redirect.

import { type Mutant, mutantsOf } from '../mutant.ts';

const BYTES_TESTS = ['test/redirect/claims-bytes.test.ts', 'test/redirect/token.test.ts'];

const WRITTEN: readonly Mutant[] = mutantsOf('src/redirect/claims-bytes.ts', BYTES_TESTS, {
  'flags are written': ['writeUInt8(FLAGS_NONE, 0)', 'writeUInt8(1, 0)'],
  'the path is not written': ['ENDPOINT_PATHS.indexOf(claims.endpoint) + 1', '1'],
  'the hop is not written': ['claims.hop', '1'],
  'the scope is not written': ['encodeScope(claims.scope)', 'SCOPE_ALL'],
  'the EU is written as everywhere': ['return SCOPE_EU', 'return SCOPE_ALL'],
  'the time of issue is written in seconds': ['claims.issuedMs', 'claims.issuedMs - (claims.issuedMs % 1000)'],
  'the lifetime is not written': ['claims.lifetimeMs', '60_000'],
  'the token ID is not written': ['writeHex(claims.tokenId,', "writeHex('0'.repeat(32),"],
  'the body hash is not written': ['writeHex(claims.bodyHash,', "writeHex('0'.repeat(64),"],
  'the request ID is not written': [
    'TEXTS_OFFSET, claims.requestId',
    "TEXTS_OFFSET, '8b9e4a6d-dfb4-4b95-bada-319e7e5b878b'",
  ],
  'the client request ID is not written': ["claims.clientRequestId ?? ''", "''"],
  'the origin is not written': ['end, claims.origin', "end, 'origin'"],
  'the target is not written': ['end, claims.target', "end, 'target'"],
  'the key ID is not written': ['end, claims.keyId', "end, ''"],
  'the model is not written': ['end, claims.model', "end, 'm'"],
  'claims out of bounds are written': ['if (!areWithinBounds(claims)) return undefined;', ''],
});

const READ: readonly Mutant[] = mutantsOf('src/redirect/claims-bytes.ts', BYTES_TESTS, {
  'flags are ignored': [' || bytes[0] !== FLAGS_NONE', ''],
  'bytes may end before the texts': ['bytes.length < TEXTS_OFFSET || ', ''],
  'an unknown path is one': [
    'ENDPOINT_PATHS[bytes.readUInt8(1) - 1]',
    "ENDPOINT_PATHS[bytes.readUInt8(1) - 1] ?? '/v1/rerank'",
  ],
  'hop 0 is read': ['(hop !== 1 &&', '(hop !== 0 && hop !== 1 &&'],
  'hop 3 is read': ['hop !== 2)', 'hop !== 2 && hop !== 3)'],
  'hop 2 is not read': ['(hop !== 1 && hop !== 2)', 'hop !== 1'],
  'a scope that nobody knows is everywhere': [
    'SCOPES.get(bytes.readUInt16BE(3))',
    "(SCOPES.get(bytes.readUInt16BE(3)) ?? { kind: 'all' } as const)",
  ],
  'the EU is read as everywhere': ["  { kind: 'eu' },\n", ''],
  'the time of issue is not read': ['bytes.readUIntBE(5, 6)', '0 * bytes.readUIntBE(5, 6)'],
  'the lifetime is not read': ['bytes.readUInt32BE(11)', '60_000'],
  'the token ID is not read': ['hex.slice(0, TOKEN_ID_DIGITS)', "'0'.repeat(32)"],
  'the body hash is not read': ['hex.slice(TOKEN_ID_DIGITS)', "'0'.repeat(64)"],
  'the origin is any text': ['origin = parseSiteId(texts.nextAscii())', 'origin = texts.nextAscii() as never'],
  'the target is any text': ['target = parseSiteId(texts.nextAscii())', 'target = texts.nextAscii() as never'],
  'origin and target change places': [
    ['const origin =', 'const target ='],
    ['const target =', 'const origin ='],
  ],
  'an empty client request ID is one': ['clientRequestId || undefined', 'clientRequestId'],
  'the bounds do not bind a reader': ['areWithinBounds(claims) ? claims : undefined', 'claims'],
  'bytes may follow the last text': ['if (!texts.isAtEnd) return undefined;', ''],
  'a key ID is read as if it were ASCII': ['keyId = texts.nextUtf8()', 'keyId = texts.nextAscii()'],
  'a model is read as if it were ASCII': ['model = texts.nextUtf8()', 'model = texts.nextAscii()'],
});

const HEX: readonly Mutant[] = mutantsOf('src/redirect/claims-bytes.ts', ['test/redirect/claims.test.ts'], {
  'a token ID is any text': [
    'if (!writeHex(claims.tokenId, bytes, TOKEN_ID_OFFSET, BODY_HASH_OFFSET)) return undefined;',
    'writeHex(claims.tokenId, bytes, TOKEN_ID_OFFSET, BODY_HASH_OFFSET);',
  ],
  'a body hash is any text': [
    'if (!writeHex(claims.bodyHash, bytes, BODY_HASH_OFFSET, TEXTS_OFFSET)) return undefined;',
    'writeHex(claims.bodyHash, bytes, BODY_HASH_OFFSET, TEXTS_OFFSET);',
  ],
  'hex digits may be upper case': [
    'indexOf(String.fromCharCode(code))',
    'indexOf(String.fromCharCode(code).toLowerCase())',
  ],
  'hex digits may be more': ['digits.length === 2 * (end - start)', 'digits.length >= 2 * (end - start)'],
  'the last hex digit may be any': ['seen |= high | low', 'seen |= high'],
  'hex digits beyond ASCII are zeros': [
    'const low = HEX_VALUES[digits.charCodeAt(place + 1)] ?? NO_DIGIT',
    'const low = HEX_VALUES[digits.charCodeAt(place + 1)] ?? 0',
  ],
});

const TEXTS: readonly Mutant[] = mutantsOf('src/redirect/text-fields.ts', BYTES_TESTS, {
  'texts are read as if they were ASCII': [') > ASCII_LAST)', ') > 0xff)'],
  'a text need not be UTF-8': [
    'return decodeUtf8(this.#bytes.subarray(start, this.#at))',
    "return decodeUtf8(this.#bytes.subarray(start, this.#at)) ?? '\\u{fffd}'",
  ],
  'a length has one byte': ['start + 256 * (this.#bytes[this.#at] ?? 0) +', 'start +'],
});

const BOUNDS: readonly Mutant[] = mutantsOf(
  'src/redirect/claims.ts',
  ['test/redirect/claims.test.ts', 'test/redirect/claims-bytes.test.ts', 'test/redirect/token.test.ts'],
  {
    'a lifetime of 1 h and 1 ms is taken': ['LIFETIME_MAX_MS = 3_600_000', 'LIFETIME_MAX_MS = 3_600_001'],
    'a lifetime of 1 h is refused': ['LIFETIME_MAX_MS = 3_600_000', 'LIFETIME_MAX_MS = 3_599_999'],
    'a lifetime of nothing is taken': ['claims.lifetimeMs, 1,', 'claims.lifetimeMs, 0,'],
    'a lifetime of 1 ms is refused': ['claims.lifetimeMs, 1,', 'claims.lifetimeMs, 2,'],
    'a time of issue beyond its bytes is taken': ['2 ** 48 - 1;', '2 ** 48;'],
    'the last time of issue is refused': ['2 ** 48 - 1;', '2 ** 48 - 2;'],
    'a time of issue before 1970 is taken': ['claims.issuedMs, 0,', 'claims.issuedMs, -1,'],
    'half a millisecond is taken': ['Number.isInteger(value) && ', ''],
    'a request ID is any text': ['isUuid(claims.requestId)', 'true'],
    'a client request ID is any text': ['isUuid(claims.clientRequestId)', 'true'],
    'a token may lead back to its origin': ['claims.origin !== claims.target', 'true'],
    'a key ID of 256 bytes is taken': ['KEY_ID_MAX_BYTES = 255', 'KEY_ID_MAX_BYTES = 256'],
    'a key ID of 255 bytes is refused': ['KEY_ID_MAX_BYTES = 255', 'KEY_ID_MAX_BYTES = 254'],
    'an empty key ID is refused': ['claims.keyId, 0,', 'claims.keyId, 1,'],
    'a model of 257 bytes is taken': ['MODEL_MAX_BYTES = 256', 'MODEL_MAX_BYTES = 257'],
    'a model of 256 bytes is refused': ['MODEL_MAX_BYTES = 256', 'MODEL_MAX_BYTES = 255'],
    'an empty model is taken': ['claims.model, 1,', 'claims.model, 0,'],
    'texts are measured in characters': ['Buffer.byteLength(text)', 'text.length'],
    'a short text may have characters of four bytes each': ['3 * text.length <= max', '2 * text.length <= max'],
    'two lone surrogates are one key ID': [' && text.isWellFormed()', ''],
    'two paths change places on the wire': [
      ["'/v1/embeddings'", "'/v1/rerank'"],
      ["'/v1/rerank'", "'/v1/embeddings'"],
    ],
  },
);

/** The bounds of the lifetime, told from those of other settings by its help. */
const LIFETIME = lifetimeWithin('1ms', '1h');

function lifetimeWithin(least: string, most: string): string {
  return `durationWithin('${least}', '${most}'),\n    example: '60s',\n    help: 'How long a redirect token`;
}

const SETTING: readonly Mutant[] = mutantsOf('src/config/settings.ts', ['test/config/read-redirect.test.ts'], {
  'a lifetime of nothing may be set': [LIFETIME, lifetimeWithin('0s', '1h')],
  'a lifetime of 1 ms may not be set': [LIFETIME, lifetimeWithin('2ms', '1h')],
  'a lifetime above 1 h may be set': [LIFETIME, lifetimeWithin('1ms', '61m')],
  'a lifetime of 1 h may not be set': [LIFETIME, lifetimeWithin('1ms', '59m')],
});

const NEXT: readonly Mutant[] = mutantsOf(
  'src/redirect/next-hop.ts',
  ['test/redirect/next-hop.test.ts', 'test/http/redirect.test.ts', 'test/http/loop-guard.test.ts'],
  {
    'a third redirect is made': ['if (passage.hops === 2) return undefined;', ''],
    'a second redirect says hop 1': ['passage.hops === 0 ? 1 : 2', '1'],
    'a first redirect says hop 2': ['passage.hops === 0 ? 1 : 2', '2'],
    'a second redirect forgets the first origin': ['passage.origin ?? leg.here', 'leg.here'],
    'a redirect widens its scope': ['request.scope', "{ kind: 'all' }"],
    'a token is issued at another time': ['leg.nowMs', '0'],
    'a token has another lifetime': ['lifetimeMs: leg.lifetimeMs', 'lifetimeMs: 1'],
    'all tokens have one ID': ['leg.random(TOKEN_ID_BYTES)', 'new Uint8Array(TOKEN_ID_BYTES)'],
    'half of a token ID is not random': ['leg.random(TOKEN_ID_BYTES)', '[...leg.random(8), 0, 0, 0, 0, 0, 0, 0, 0]'],
    'a token forgets the client request ID': ['request.clientRequestId', 'undefined'],
    'a token forgets the request ID': ['request.requestId', "'00000000-0000-4000-8000-000000000000'"],
    'a token forgets the key ID': ['request.keyId', "''"],
    'a token forgets the model': ['request.model', "'other'"],
    'a token forgets the path': ['request.endpoint', "'/v1/rerank'"],
    'a token forgets the body': ['request.bodyHash', "'0'.repeat(64)"],
  },
);

const UUIDS: readonly Mutant[] = mutantsOf(
  'src/lib/uuid.ts',
  ['test/lib/uuid.test.ts', 'test/http/request-ids.test.ts'],
  {
    'text may stand before a UUID': ['/^[0-9A-Fa-f]', '/[0-9A-Fa-f]'],
    'text may stand behind a UUID': ['{12}$/', '{12}/'],
    'a UUID in upper case is none': ['-[0-9A-Fa-f]{12}', '-[0-9a-f]{12}'],
    'a UUID needs no hyphens': ['(?:-[0-9A-Fa-f]{4})', '(?:-?[0-9A-Fa-f]{4})'],
    'a fresh UUID has no version': ['-4${hex.slice(13, 16)}', '-${hex.slice(12, 16)}'],
    'a fresh UUID has no variant': ['${variant}${hex.slice(17, 20)}', '${hex.slice(16, 20)}'],
  },
);

const UTF8: readonly Mutant[] = mutantsOf('src/lib/utf8.ts', ['test/lib/utf8.test.ts'], {
  'texts are written as if they were ASCII': ['code > ASCII_LAST', 'false'],
  'a text is as long as its characters': [
    'ENCODER.encodeInto(text, bytes.subarray(start)).written',
    'ENCODER.encodeInto(text, bytes.subarray(start)).read',
  ],
});

const BASE64URL: readonly Mutant[] = mutantsOf('src/lib/base64url.ts', ['test/lib/base64url.test.ts'], {
  'junk is passed over': [
    "bytes.write(text, 'base64url') === bytes.length ? bytes : undefined",
    "bytes.write(text, 'base64url') < 0 ? undefined : bytes",
  ],
  'spare bits are passed over': ['(last & spareBits) !== 0', 'false'],
  'a text may have 4n + 1 characters': ['[0, undefined, ', '[0, 0b111111, '],
});

export const CLAIMS: readonly Mutant[] = [
  ...WRITTEN,
  ...READ,
  ...HEX,
  ...TEXTS,
  ...BOUNDS,
  ...SETTING,
  ...NEXT,
  ...UUIDS,
  ...UTF8,
  ...BASE64URL,
];
