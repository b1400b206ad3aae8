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

const CHECK_LINE = "  if (!secret.verifies(text)) return fault('signature');\n";

const CHECK: readonly Mutant[] = mutantsOf(FILE, TESTS, {
  'no MAC is compared': [CHECK_LINE, ''],
  'claims are read before their MAC': [
    CHECK_LINE,
    `  if (decodeClaims(Buffer.from(text.slice(secretIdEnd + 1, -44), 'base64url')) === undefined) return fault('malformed');\n${CHECK_LINE}`,
  ],
  'an unknown secret ID means the first secret': [
    'keyring.byId.get(text.slice(SECRET_ID_START, secretIdEnd))',
    'keyring.byId.get(text.slice(SECRET_ID_START, secretIdEnd)) ?? keyring.signing',
  ],
  'only the first secret verifies': [
    'keyring.byId.get(text.slice(SECRET_ID_START, secretIdEnd))',
    'text.slice(SECRET_ID_START, secretIdEnd) === keyring.signing.id ? keyring.signing : undefined',
  ],
  'an unknown secret ID is malformed': [
    "if (secret === undefined) return fault('signature')",
    "if (secret === undefined) return fault('malformed')",
  ],
  'another MAC is malformed': ["(text)) return fault('signature')", "(text)) return fault('malformed')"],
  'signed claims that do not decode are a bad signature': [
    "undefined ? fault('malformed')",
    "undefined ? fault('signature')",
  ],
  'claims have several spellings': ['decodeBase64url(claimsText)', "Buffer.from(claimsText, 'base64url')"],
  'the last secret signs': [
    'keyring.signing.mint(claims)',
    '([...keyring.byId.values()].at(-1) ?? keyring.signing).mint(claims)',
  ],
});

const SECRET_FILE = 'src/redirect/token-secret.ts';
const SECRET_TESTS = ['test/redirect/token-secret.test.ts', ...TESTS];

const COMPARE = 'timingSafeEqual(signature, this.#expected)';

const MEMORY: readonly Mutant[] = mutantsOf(SECRET_FILE, SECRET_TESTS, {
  'MACs are compared in a time that tells where they differ': [COMPARE, 'signature.equals(this.#expected)'],
  'four spellings of one MAC are the same': [
    COMPARE,
    "timingSafeEqual(Buffer.from(signature.toString(), 'base64url'), Buffer.from(this.#expected.toString(), 'base64url'))",
  ],
  'the MAC of the last token is expected': ["this.#expected.write(this.#signatureOf(signed), 'latin1');", ''],
  'the last token is checked': ["this.#token.write(token, 'latin1');", ''],
  'the claims of the last token are signed': ["this.#token.write(text, this.#head.length, 'latin1');", ''],
  'the first length of a token is the one of all': [
    'const known = this.#parts[characters]',
    'const known = this.#parts.find(Boolean)',
  ],
  'the last character before the signature is not signed': ['signatureAt - 1)', 'signatureAt - 2)'],
});

/** Some bytes of the claims blanked out of what is signed, for mints and checks alike. */
function blanked(fill: string): readonly [string, string] {
  const text = 'signed.toString().slice(MAC_DOMAIN.length + this.#head.length)';
  const bytes = `((bytes: Buffer) => ${fill})(Buffer.from(${text}, 'base64url')).toString('base64url')`;
  return ['.update(signed)', `.update(MAC_DOMAIN + this.#head + ${bytes})`];
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

const COVERED: readonly Mutant[] = mutantsOf(SECRET_FILE, SECRET_TESTS, {
  'the MAC has no domain': ['.update(signed)', '.update(signed.subarray(MAC_DOMAIN.length))'],
  'the domain of the MAC has no end': ['/v2\\0', '/v2'],
  'the MAC leaves out the version': ['.update(signed)', ".update(signed.toString().replace('\\0v2.', '\\0'))"],
  'the MAC leaves out the secret ID': ['.update(signed)', ".update(signed.toString().replace(/\\.[^.]+\\./, '.'))"],
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
  'no secret is a keyring': [
    "signing === undefined ? fault('no secret') : ok({ signing, byId })",
    'ok({ signing: signing as never, byId })',
  ],
  'an empty entry of the variable is passed over': [
    "readKeyring(text.split(',')",
    "readKeyring(text.split(',').filter((entry) => entry !== '')",
  ],
  'every blank of Unicode is trimmed': ["text.replace(OUTER_WHITE_SPACE, '')", 'text.trim()'],
});

export const TOKEN: readonly Mutant[] = [...FORM, ...CHECK, ...MEMORY, ...COVERED, ...SECRETS];
