// Reading the model from a body and refusing what is to be refused, against its floor: what every engine does with the
// same bytes, decoding and `JSON.parse`.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { complete } from '../src/lib/steps.ts';
import { readInferenceRequest } from '../src/routing/inference-request.ts';
import { chatBody, KIB, MIB } from './bodies.ts';
import { type Measured, report } from './report.ts';

const MODEL = 'llama-3-70b';

function reading(name: string, body: Buffer, bound: Partial<Measured> = { atMost: 2.5 }): Measured {
  const run = () => complete(readInferenceRequest(body));
  const read = run();
  assert.ok(read.ok && read.value.model === MODEL);
  const twice = Buffer.concat([body.subarray(0, -1), Buffer.from(',"model":"other"}')]);
  assert.equal(complete(readInferenceRequest(twice)).ok, false);
  const broken = Buffer.from(body);
  broken[body.length - 3] = 0x0a;
  assert.equal(complete(readInferenceRequest(broken)).ok, false);
  const floor = (): unknown => JSON.parse(body.toString());
  return { name, run, floor, ...bound };
}

const LONG_TEXT = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'a'.repeat(MIB) }] });
const VECTORS = JSON.stringify({
  model: MODEL,
  input: Array.from({ length: 120_000 }, (_, index) => index / 7),
  s: '',
});

await report('Model and stream from a body', [
  reading('chat, 1 KiB', chatBody(KIB)),
  reading('chat, 16 KiB', chatBody(16 * KIB)),
  reading('chat, 128 KiB', chatBody(128 * KIB)),
  reading('chat, 1 MiB', chatBody(MIB), { target: 'body1m' }),
  reading('one text, 1 MiB', Buffer.from(LONG_TEXT)),
  reading(`numbers, ${(VECTORS.length / MIB).toFixed(1)} MiB`, Buffer.from(VECTORS)),
]);
