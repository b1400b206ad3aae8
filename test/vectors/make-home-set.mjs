// Makes home-set.json (redirect-requirements 5.4): node test/vectors/make-home-set.mjs > test/vectors/home-set.json
// Written from the description of the hash alone, with node:crypto and none of the router's code.

import { createHash } from 'node:crypto';

const FIVE_SITES = ['site-de-1', 'site-es-1', 'site-fr-1', 'site-fr-2', 'site-us-1'];
const THIRTY_SITES = Array.from({ length: 30 }, (_, index) => `site-${index}`);
const SESSIONS = ['', 'conv-1', 'conv-2', 'conv-3', 'conv-4', '\u00e9'].map((text) =>
  Buffer.from(text).toString('hex'),
);

const QUESTIONS = [
  ['key-abc123', 'llama-3-70b', FIVE_SITES],
  ['key-abc123', 'bge-m3', FIVE_SITES],
  ['', 'llama-3-70b', FIVE_SITES],
  ['ab', 'c', FIVE_SITES],
  ['a', 'bc', FIVE_SITES],
  ['key-é', '模型', FIVE_SITES],
  ['key-abc123', 'llama-3-70b', ['site-fr-1', 'site-us-1']],
  ['key-abc123', 'llama-3-70b', ['site-fr-1']],
  ['key-abc123', 'llama-3-70b', []],
  ['key-abc123', 'llama-3-70b', THIRTY_SITES],
];

function lengthPrefixed(bytes) {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function digest(purpose, ...parts) {
  const prefix = Buffer.from(`hivenet-router/${purpose}/v1\0`);
  return createHash('sha256')
    .update(Buffer.concat([prefix, ...parts.map(lengthPrefixed)]))
    .digest();
}

function byDigestDescending(one, other) {
  return Buffer.compare(other.digest, one.digest);
}

const cases = QUESTIONS.map(([keyId, model, sites]) => {
  const candidates = sites.map((site) => ({
    site,
    digest: digest('home', ...[keyId, model, site].map((text) => Buffer.from(text))),
  }));
  const home = candidates
    .toSorted(byDigestDescending)
    .slice(0, 2)
    .map(({ site }) => site);
  const sessions = SESSIONS.map((session) => {
    if (home.length < 2) return { session, order: home.join(' ') };
    const bits = digest('session', Buffer.from(keyId), Buffer.from(session, 'hex'), Buffer.from(home[0]));
    const order = bits[0] & 0x80 ? home.toReversed() : home;
    return { session, digest: bits.toString('hex'), order: order.join(' ') };
  });
  const digests = Object.fromEntries(candidates.map(({ site, digest }) => [site, digest.toString('hex')]));
  return { keyId, model, digests, home: home.join(' '), sessions };
});

const about = 'Sessions and digests in hex. Made by test/vectors/make-home-set.mjs';
console.log(JSON.stringify({ about, cases }, null, 2));
