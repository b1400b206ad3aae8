// Minting, against its floor: the hash of the body, one HMAC-SHA256 over the bytes that the MAC covers, and base64url of
// the claims.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { createHmac, hash, randomBytes } from 'node:crypto';
import { ReceivedBody } from '../src/http/received-body.ts';
import { nextClaims } from '../src/redirect/next-hop.ts';
import { mintToken } from '../src/redirect/token.ts';
import { claims, keyring, present } from '../test/redirect/builders.ts';
import { keyringOf, POSITIVE } from '../test/redirect/vectors.ts';
import { chatBody, KIB } from './bodies.ts';
import { type Measured, report } from './report.ts';
import type { TargetId } from './targets.ts';

const DOMAIN = 'hivenet-router/redirect-token/v2\0';

/** The least that signing these claims costs. */
function signingFloor(text: string, ring: ReturnType<typeof keyring>) {
  const { key } = ring.signing;
  const bytes = Buffer.from(present(text.split('.')[2]), 'base64url');
  const message = Buffer.from(DOMAIN + text.slice(0, -44));
  const floor = () => bytes.toString('base64url') + createHmac('sha256', key).update(message).digest('base64url');
  assert.ok(floor().endsWith(text.slice(-43)));
  return floor;
}

/** What a redirect pays for a body: its hash, and a token that says it. */
function withBody(size: string, bytes: number, target?: TargetId): Measured {
  const [ring, plain] = [keyring(), claims()];
  const body = chatBody(bytes);
  const run = () => mintToken({ ...plain, bodyHash: new ReceivedBody(body, undefined).hash() }, ring);
  const made = claims({ bodyHash: hash('sha256', body, 'hex') });
  const text = present(mintToken(made, ring));
  assert.equal(run(), text);
  const sign = signingFloor(text, ring);
  const floor = () => hash('sha256', body, 'hex') + sign();
  return { name: `body of ${size}: hash and mint`, run, floor, ...(target === undefined ? { atMost: 2 } : { target }) };
}

/** The token alone. */
function minting(vector: (typeof POSITIVE)[number], atMost: number): Measured {
  const ring = keyringOf(vector.secretId);
  const run = () => mintToken(vector.claims, ring);
  assert.equal(run(), vector.text);
  const floor = signingFloor(vector.text, ring);
  return { name: `mint, ${vector.text.length} characters`, run, floor, atMost };
}

/** Claims with a fresh token ID, then the token. */
function redirecting(vector: (typeof POSITIVE)[number], atMost: number): Measured {
  const { claims, text } = vector;
  const ring = keyringOf(vector.secretId);
  const sign = signingFloor(text, ring);
  const floor = () => randomBytes(16).toString('hex') + sign();
  const leg = { here: claims.origin, target: claims.target, nowMs: claims.issuedMs, lifetimeMs: claims.lifetimeMs };
  const run = () => {
    const next = nextClaims(claims, { hops: 0, origin: undefined }, { ...leg, random: randomBytes });
    return next === undefined ? undefined : mintToken(next, ring);
  };
  assert.equal(run()?.length, text.length);
  return { name: `claims, token ID and mint, ${text.length} characters`, run, floor, atMost };
}

const [typical, , , largest] = POSITIVE;
await report('Mint', [
  withBody('1 KiB', KIB, 'mint1k'),
  withBody('32 KiB', 32 * KIB),
  withBody('256 KiB', 256 * KIB, 'mint256k'),
  minting(present(typical), 4),
  minting(present(largest), 4),
  redirecting(present(typical), 4),
]);
