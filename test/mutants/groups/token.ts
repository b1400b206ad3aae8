// The text of a token, its MAC, and the secrets behind it (product page, "The redirect token", check 1).

import { type Mutant, mutantsOf } from '../mutant.ts';

const FILE = 'src/redirect/token.ts';
const TESTS = ['test/redirect/token.test.ts'];

const FORM: readonly Mutant[] = mutantsOf(FILE, TESTS, {
  'any version is read': ['/^v2', '/^v[0-9]'],
  'a token may begin with other text': ['/^v2', '/v2'],
  'a secret ID may be empty': ['{1,16}', '{0,16}'],
  'a secret ID may have 17 characters': ['{1,16}', '{1,17}'],
  'a secret ID of 16 characters is refused': ['{1,16}', '{1,15}'],
  'claims of 151 characters are taken': ['{152,', '{151,'],
  'claims of 152 characters are refused': ['{152,', '{153,'],
  'claims of 1,101 characters are taken': [',1100}', ',1101}'],
  'claims of 1,100 characters are refused': [',1100}', ',1099}'],
  'a signature of 42 characters is taken': ['{43}$/', '{42,43}$/'],
  'a token may go on behind its signature': ['{43}$/', '{43}/'],
});

const COMPARE_LINE = "  if (!isSameSignature(signature, signatureOf(signed, key))) return fault('signature');\n";
const COMPARE = "timingSafeEqual(Buffer.from(shown, 'latin1'), Buffer.from(expected, 'latin1'))";

const CHECK: readonly Mutant[] = mutantsOf(FILE, TESTS, {
  'no MAC is compared': [COMPARE_LINE, ''],
  'MACs are compared in a time that tells where they differ': [COMPARE, 'shown === expected'],
  'four spellings of one MAC are the same': [
    COMPARE,
    "timingSafeEqual(Buffer.from(shown, 'base64url'), Buffer.from(expected, 'base64url'))",
  ],
  'claims are read before their MAC': [
    COMPARE_LINE,
    `  if (decodeClaims(Buffer.from(signed.slice(secretIdEnd + 1), 'base64url')) === undefined) return fault('malformed');\n${COMPARE_LINE}`,
  ],
  'an unknown secret ID means the first secret': [
    'keyring.byId.get(secretId)',
    'keyring.byId.get(secretId) ?? keyring.signing.key',
  ],
  'only the first secret verifies': [
    'keyring.byId.get(secretId)',
    'secretId === keyring.signing.id ? keyring.signing.key : undefined',
  ],
  'an unknown secret ID is malformed': [
    "if (key === undefined) return fault('signature')",
    "if (key === undefined) return fault('malformed')",
  ],
  'another MAC is malformed': ["key))) return fault('signature')", "key))) return fault('malformed')"],
  'signed claims that do not decode are a bad signature': [
    "undefined ? fault('malformed')",
    "undefined ? fault('signature')",
  ],
  'claims have several spellings': ['decodeBase64url(claimsText)', "Buffer.from(claimsText, 'base64url')"],
  'the last secret signs': [
    'signatureOf(signed, keyring.signing.key)',
    'signatureOf(signed, [...keyring.byId.values()].at(-1) ?? keyring.signing.key)',
  ],
});

/** The signed text with some of its claims' bytes blanked out, for mints and checks alike. */
function blanked(fill: string): readonly [string, string] {
  const claims = "Buffer.from(text, 'base64url')";
  return [
    'MAC_DOMAIN + signed',
    `MAC_DOMAIN + signed.replace(/[^.]+$/, (text) => ((bytes) => ${fill})(${claims}).toString('base64url'))`,
  ];
}

function withoutBytes(start: number, end: number): readonly [string, string] {
  return blanked(`bytes.fill(0, ${start}, ${end})`);
}

/** Of the six texts behind byte 63, each with its length in two bytes. */
function withoutText(index: number): readonly [string, string] {
  const start = Array.from({ length: index }).reduce<string>((at) => `next(${at})`, '63');
  return blanked(
    `((next) => bytes.fill(0, ${start}, next(${start})))((at: number) => at + 2 + bytes.readUInt16BE(at))`,
  );
}

const COVERED: readonly Mutant[] = mutantsOf(FILE, TESTS, {
  'the MAC has no domain': ['MAC_DOMAIN + signed', 'signed'],
  'the domain of the MAC has no end': ['/v2\\0', '/v2'],
  'the MAC leaves out the version': ['MAC_DOMAIN + signed', "MAC_DOMAIN + signed.replace('v2.', '')"],
  'the MAC leaves out the secret ID': ['MAC_DOMAIN + signed', "MAC_DOMAIN + signed.replace(/\\.[^.]+\\./, '.')"],
  'the MAC leaves out the flags': withoutBytes(0, 1),
  'the MAC leaves out the path': withoutBytes(1, 2),
  'the MAC leaves out the hop': withoutBytes(2, 3),
  'the MAC leaves out the scope': withoutBytes(3, 5),
  'the MAC leaves out the time of issue': withoutBytes(5, 11),
  'the MAC leaves out the lifetime': withoutBytes(11, 15),
  'the MAC leaves out the token ID': withoutBytes(15, 31),
  'the MAC leaves out the body hash': withoutBytes(31, 63),
  'the MAC leaves out the request ID': withoutText(0),
  'the MAC leaves out the client request ID': withoutText(1),
  'the MAC leaves out the origin': withoutText(2),
  'the MAC leaves out the target': withoutText(3),
  'the MAC leaves out the key ID': withoutText(4),
  'the MAC leaves out the model': withoutText(5),
});

const SECRETS: readonly Mutant[] = mutantsOf('src/redirect/keyring.ts', ['test/redirect/keyring.test.ts'], {
  'a secret of 31 bytes is taken': ['SECRET_MIN_BYTES = 32', 'SECRET_MIN_BYTES = 31'],
  'a secret of 32 bytes is refused': ['SECRET_MIN_BYTES = 32', 'SECRET_MIN_BYTES = 33'],
  'a secret is measured in characters': ['bytes.length <', 'secret.length <'],
  'a secret ID may have 17 characters': ['{1,16}', '{1,17}'],
  'a secret ID may hold anything': ['!SECRET_ID.test(id)', "id === ''"],
  'the last of two secrets of one ID counts': ['else if (byId.has(secret.value.id))', 'else if (false)'],
  'a byte order mark is part of an ID or a secret': ['text.startsWith(BYTE_ORDER_MARK)', 'false'],
  'a secret ends at its second colon': ['text.slice(colon + 1)', "(text.split(':')[1] ?? '')"],
  'a secret may have lost bytes': ['secret.includes(REPLACEMENT_CHARACTER) ||', ''],
  'a lone surrogate may stand in a secret': [' || !secret.isWellFormed()', ''],
  'no secret is a keyring': ["if (first === undefined) return fault('no secret');", ''],
  'an empty entry of the variable is passed over': [
    "readKeyring(text.split(',')",
    "readKeyring(text.split(',').filter((entry) => entry !== '')",
  ],
  'every blank of Unicode is trimmed': ["text.replace(OUTER_WHITE_SPACE, '')", 'text.trim()'],
});

export const TOKEN: readonly Mutant[] = [...FORM, ...CHECK, ...COVERED, ...SECRETS];
