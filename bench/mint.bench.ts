// Minting, against its floor: one HMAC-SHA256 over the bytes that the MAC covers.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { createHmac, randomBytes } from 'node:crypto';
import { nextClaims } from '../src/redirect/next-hop.ts';
import { mintToken } from '../src/redirect/token.ts';
import { present } from '../test/redirect/builders.ts';
import { keyringOf, POSITIVE } from '../test/redirect/vectors.ts';
import { type Measured, report } from './report.ts';

const DOMAIN = 'hivenet-router/redirect-token/v2\0';

function minting(vector: (typeof POSITIVE)[number], atMost: number): Measured {
  const { claims, text, secretId } = vector;
  const keyring = keyringOf(secretId);
  const { key } = keyring.signing;
  const message = Buffer.from(DOMAIN + text.slice(0, -44));
  const run = () => mintToken(claims, keyring);
  const floor = () => createHmac('sha256', key).update(message).digest('base64url');
  assert.equal(run(), text);
  assert.equal(floor(), text.slice(-43));
  return { name: `mint, ${text.length} characters`, run, floor, atMost };
}

/** All that a redirect pays: claims with a fresh token ID, then the token. */
function redirecting(vector: (typeof POSITIVE)[number], atMost: number): Measured {
  const { claims } = vector;
  const { floor } = minting(vector, atMost);
  const keyring = keyringOf(vector.secretId);
  const leg = { here: claims.origin, target: claims.target, nowMs: claims.issuedMs, lifetimeMs: claims.lifetimeMs };
  const run = () => {
    const next = nextClaims(claims, { hops: 0, origin: undefined }, { ...leg, random: randomBytes });
    return next === undefined ? undefined : mintToken(next, keyring);
  };
  assert.equal(run()?.length, vector.text.length);
  return { name: `claims, token ID and mint, ${vector.text.length} characters`, run, floor, atMost };
}

const [typical, , , largest] = POSITIVE;
await report('mint', [minting(present(typical), 8), redirecting(present(typical), 12), minting(present(largest), 6)]);
