// The hash of a received body against the barest call of the same primitive. The HMAC of a token is the floor of mint and
// verify.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { ReceivedBody } from '../src/http/received-body.ts';
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

await report('Hashes', SIZES.map(hashing));
