// Makes token.json: the token vectors of redirect-requirements 4.5 and 4.6, by node:crypto alone and none of our code,
// so that the codec in src/redirect is not its own judge. Run: node test/vectors/make-token.mjs > test/vectors/token.json

import { createHash, createHmac } from 'node:crypto';

const PATHS = ['/v1/chat/completions', '/v1/messages', '/v1/messages/count_tokens', '/v1/embeddings', '/v1/rerank'];
const DOMAIN = 'hivenet-router/redirect-token/v2\0';
const SECRETS = { k1: '0123456789abcdef0123456789abcdef', k2: 'second-secret-for-rotation-tests-0002' };
SECRETS['k-16_characters_'] = SECRETS.k1;
const BODY = '{"model":"auto","messages":[{"role":"user","content":"hi"}]}';

const sha256 = (text) => createHash('sha256').update(text).digest('hex');
const uint = (value, size) => Buffer.from(value.toString(16).padStart(2 * size, '0'), 'hex');
/** A text behind its length; takes bytes as well, for texts that are not UTF-8. */
const field = (text) => Buffer.concat([uint(Buffer.from(text).length, 2), Buffer.from(text)]);
const scopeBytes = (scope) =>
  ({ all: uint(0, 2), EU: uint(1, 2) })[scope] ?? Buffer.from(scope.replace('country:', ''), 'latin1');

function claimsBytes(claims) {
  return Buffer.concat([
    uint(claims.flags ?? 0, 1),
    uint(claims.endpointCode ?? PATHS.indexOf(claims.endpoint) + 1, 1),
    uint(claims.hop, 1),
    scopeBytes(claims.scope),
    uint(claims.issuedMs, 6),
    uint(claims.lifetimeMs, 4),
    Buffer.from(claims.tokenId + claims.bodyHash, 'hex'),
    ...[claims.requestId, claims.clientRequestId, claims.origin, claims.target, claims.keyId, claims.model].map(field),
  ]);
}

const mac = (message, secret) => createHmac('sha256', secret).update(message).digest('base64url');
/** `signed` with its right MAC, whatever it is: what is wrong with it is then for the reader to see. */
const sign = (signed, secret = SECRETS.k1) => `${signed}.${mac(DOMAIN + signed, secret)}`;
const token = (bytes, secretId = 'k1') =>
  sign(`v2.${secretId}.${Buffer.from(bytes).toString('base64url')}`, SECRETS[secretId]);

// 4.5 Positive vectors

const T1 = {
  endpoint: PATHS[0],
  hop: 1,
  scope: 'country:FR',
  issuedMs: Date.parse('2026-11-03T12:00:00Z'),
  lifetimeMs: 60_000,
  tokenId: '000102030405060708090a0b0c0d0e0f',
  bodyHash: sha256(BODY),
  requestId: '8b9e4a6d-dfb4-4b95-bada-319e7e5b878a',
  clientRequestId: '',
  origin: 'site-fr-1',
  target: 'site-fr-2',
  keyId: 'key-abc123',
  model: 'llama-3-70b',
};
const CLIENT_ID = '018F6B1E-7C1A-7000-8000-0123456789AB';

/** `signature` is the one printed in 4.5: it covers the whole text, so it proves that this script reads 4.1 and 4.2 right. */
const POSITIVE = [
  {
    name: 'T1 chat, one country, no client ID',
    secretId: 'k1',
    claims: T1,
    signature: 'bvDwYUGvNTABGFm-MkknhGUhrEM1-il3Hzes2lOFK4s',
  },
  {
    name: 'T2 messages, second hop, all, client ID in upper case',
    secretId: 'k2',
    claims: {
      ...T1,
      endpoint: PATHS[1],
      hop: 2,
      scope: 'all',
      target: 'site-de-1',
      clientRequestId: CLIENT_ID,
      tokenId: 'ff'.repeat(16),
    },
    signature: 'Jhf3d_0y8SFUBGeWhVb52vNlaVEZtg_nxIqRFAPFpV8',
  },
  {
    name: 'T3 rerank, EU, auth mode none, model outside ASCII',
    secretId: 'k1',
    claims: {
      ...T1,
      endpoint: PATHS[4],
      scope: 'EU',
      target: 'site-de-1',
      keyId: '',
      model: 'bge-é-reranker',
      bodyHash: sha256(''),
    },
    signature: 'ZNk0WbWtytIeduz2XHlOQ1aCBTZS9MpdEfwKMzzqZl8',
  },
  {
    name: 'T4 maximum',
    secretId: 'k-16_characters_',
    claims: {
      ...T1,
      clientRequestId: CLIENT_ID,
      origin: 'a'.repeat(64),
      target: 'b'.repeat(64),
      keyId: 'k'.repeat(255),
      model: 'm'.repeat(256),
    },
  },
  {
    name: 'T5 minimum',
    secretId: 'k1',
    claims: { ...T1, origin: 'a', target: 'b', keyId: '', model: 'm' },
    signature: 'edTnoJJ5QL3EzUrqo26lhhjRnEkQ1KjfNheVLhKoDoM',
  },
].map(({ name, secretId, claims, signature }) => {
  const bytes = claimsBytes(claims);
  const text = token(bytes, secretId);
  if (signature !== undefined && !text.endsWith(`.${signature}`)) throw new Error(`${name}: not the printed signature`);
  return { name, secretId, claims, bytes: bytes.toString('hex'), text };
});

// 4.6 Negative vectors, each one step away from T1

const T1_BYTES = claimsBytes(T1);
const T1_TEXT = token(T1_BYTES);
const [, , T1_CLAIMS, T1_SIGNATURE] = T1_TEXT.split('.');
const T1_SIGNED = `v2.k1.${T1_CLAIMS}`;
const altered = (change) => token(claimsBytes({ ...T1, ...change }));
const lastChanged = (text, character) => text.slice(0, -1) + character;
const lengthPastEnd = Buffer.from(T1_BYTES);
lengthPastEnd[T1_BYTES.length - T1.model.length - 1] += 1;

const MALFORMED = {
  'empty text': '',
  junk: 'junk',
  'prefix v1': sign(`v1.k1.${T1_CLAIMS}`),
  'prefix v3': sign(`v3.k1.${T1_CLAIMS}`),
  'prefix V2': sign(`V2.k1.${T1_CLAIMS}`),
  'three parts': T1_SIGNED,
  'five parts': `${T1_TEXT}.${T1_SIGNATURE}`,
  '"=" after the signature': `${T1_TEXT}=`,
  'trailing space': `${T1_TEXT} `,
  'trailing line feed': `${T1_TEXT}\n`,
  '"+" in the claims': sign(lastChanged(T1_SIGNED, '+')),
  'secret ID of 17 characters': `v2.${'k'.repeat(17)}.${T1_CLAIMS}.${T1_SIGNATURE}`,
  'empty secret ID': `v2..${T1_CLAIMS}.${T1_SIGNATURE}`,
  'claims of 151 characters': `v2.k1.${T1_CLAIMS.slice(0, 151)}.${T1_SIGNATURE}`,
  'claims of 1,101 characters': `v2.k1.${'A'.repeat(1101)}.${T1_SIGNATURE}`,
  'signed: trailing 00': token(Buffer.concat([T1_BYTES, uint(0, 1)])),
  'signed: one byte short': token(T1_BYTES.subarray(0, -1)),
  'signed: length past the end': token(lengthPastEnd),
  'signed: flags 01': altered({ flags: 0x01 }),
  'signed: flags 80': altered({ flags: 0x80 }),
  'signed: endpoint 0': altered({ endpointCode: 0 }),
  'signed: endpoint 6': altered({ endpointCode: 6 }),
  'signed: hop 0': altered({ hop: 0 }),
  'signed: hop 3': altered({ hop: 3 }),
  'signed: scope 00 02': altered({ scope: '\x00\x02' }),
  'signed: scope "fr"': altered({ scope: 'fr' }),
  'signed: scope "F1"': altered({ scope: 'F1' }),
  'signed: lifetime 0': altered({ lifetimeMs: 0 }),
  'signed: lifetime 3,600,001 ms': altered({ lifetimeMs: 3_600_001 }),
  'signed: request ID "not-a-uuid"': altered({ requestId: 'not-a-uuid' }),
  'signed: request ID empty': altered({ requestId: '' }),
  'signed: request ID of 35 characters': altered({ requestId: T1.requestId.slice(0, 35) }),
  'signed: client ID with CR LF': altered({ clientRequestId: 'x\r\ny' }),
  'signed: origin is the target': altered({ origin: T1.target }),
  'signed: site "a/b"': altered({ target: 'a/b' }),
  'signed: key ID of 256 bytes': altered({ keyId: 'k'.repeat(256) }),
  'signed: model empty': altered({ model: '' }),
  'signed: model of 257 bytes': altered({ model: 'm'.repeat(257) }),
  'signed: model c3 28': altered({ model: Buffer.from([0xc3, 0x28]) }),
  'signed: model c0 af': altered({ model: Buffer.from([0xc0, 0xaf]) }),
};

const SIGNATURE = {
  'unknown secret ID': `v2.k9.${T1_CLAIMS}.${T1_SIGNATURE}`,
  "secret ID k2 with k1's MAC": `v2.k2.${T1_CLAIMS}.${T1_SIGNATURE}`,
  'one character of the claims changed (model llama-3-70a)': `${lastChanged(T1_SIGNED, 'h')}.${T1_SIGNATURE}`,
  'last character of the signature s to t, the same bytes': lastChanged(T1_TEXT, 't'),
  'MAC without the domain prefix': `${T1_SIGNED}.${mac(T1_SIGNED, SECRETS.k1)}`,
  'MAC over the claims instead of the text': `${T1_SIGNED}.${mac(T1_BYTES, SECRETS.k1)}`,
};

const labelled = (texts, reason) => Object.entries(texts).map(([name, text]) => ({ name, reason, text, times: 1 }));
/** `text` is to be repeated `times`, so that 100 kB need not stand in the file. */
const NEGATIVE = [
  ...labelled(MALFORMED, 'malformed'),
  { name: '100 kB', reason: 'malformed', text: 'A', times: 100_000 },
  ...labelled(SIGNATURE, 'signature'),
];
if (NEGATIVE.length !== 47) throw new Error(`4.6 has 47 vectors, not ${NEGATIVE.length}`);
const unlike = new Set(NEGATIVE.map(({ text }) => text));
if (unlike.size !== 47 || unlike.has(T1_TEXT)) throw new Error('Two vectors are the same, or one is T1 itself');

const secrets = Object.entries(SECRETS).map(([id, secret]) => `${id}:${secret}`);
const vectors = { secretsFile: secrets.join('\n'), body: BODY, positive: POSITIVE, negative: NEGATIVE };
console.log(JSON.stringify(vectors, undefined, 2));
