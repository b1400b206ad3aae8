// The hash of a received body and the HMAC of a token, each against the barest call of the same primitive.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { createHmac, hash } from 'node:crypto';
import { ReceivedBody } from '../src/http/received-body.ts';
import { keyring, SECRET_K1 } from '../test/redirect/builders.ts';
import { KIB, MIB } from './bodies.ts';
import { type Measured, report } from './report.ts';

const SIZES = [
  ['1 KiB', KIB],
  ['32 KiB', 32 * KIB],
  ['256 KiB', 256 * KIB],
  ['1 MiB', MIB],
  ['10 MiB', 10 * MIB],
] as const;

function hashing([size, bytes]: (typeof SIZES)[number]): Measured {
  const body = new Uint8Array(bytes).fill(97);
  const run = () => new ReceivedBody(body, undefined).hash();
  const floor = () => hash('sha256', body, 'hex');
  assert.equal(run(), floor());
  return { name: `SHA-256 of a body of ${size}`, run, floor, atMost: 2 };
}

function signing(): Measured {
  const { key } = keyring().signing;
  const message = Buffer.alloc(250, 'a');
  const run = () => createHmac('sha256', key).update(message).digest('base64url');
  const floor = () => createHmac('sha256', SECRET_K1).update(message).digest('base64url');
  assert.equal(run(), floor());
  return { name: 'HMAC of 250 bytes, key as the keyring holds it', run, floor, atMost: 2 };
}

await report('Hashes', [...SIZES.map(hashing), signing()]);
