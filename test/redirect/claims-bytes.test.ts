import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { CLAIMS_MAX_BYTES, decodeClaims, encodeClaims } from '../../src/redirect/claims-bytes.ts';
import { anyClaims, bytesOf, claims, present, siteId } from './builders.ts';
import { POSITIVE } from './vectors.ts';

describe('encodeClaims()', () => {
  for (const vector of POSITIVE) {
    it(`writes the bytes of ${vector.name} (4.5)`, () => {
      assert.equal(present(bytesOf(vector.claims)).toString('hex'), vector.bytes);
    });
  }

  it('writes nothing for a field out of bounds (D-45)', () => {
    assert.equal(bytesOf(claims({ keyId: 'k'.repeat(256) })), undefined);
  });

  it('needs no more room than it says, and leaves nothing of what stood there (4.5)', () => {
    const longest = POSITIVE.map((vector) => Buffer.from(vector.bytes, 'hex').length);
    assert.equal(Math.max(...longest), CLAIMS_MAX_BYTES);
    for (const { claims: written, bytes } of POSITIVE) {
      const used = Buffer.alloc(CLAIMS_MAX_BYTES, 0xff);
      assert.equal(used.toString('hex', 0, encodeClaims(written, used)), bytes);
    }
  });
});

describe('decodeClaims()', () => {
  for (const vector of POSITIVE) {
    it(`reads the bytes of ${vector.name} (4.5)`, () => {
      assert.deepEqual(decodeClaims(Buffer.from(vector.bytes, 'hex')), vector.claims);
    });
  }

  it('reads back what was written (P-01)', () =>
    fc.assert(
      fc.property(anyClaims(), (written) => {
        assert.deepEqual(decodeClaims(present(bytesOf(written))), written);
      }),
      { numRuns: 300 },
    ));

  it('accepts one spelling only: changed bytes are refused or mean exactly themselves (P-01)', () =>
    fc.assert(
      fc.property(anyClaims(), fc.nat(), fc.integer({ min: 1, max: 255 }), (written, place, change) => {
        const bytes = present(bytesOf(written));
        const index = place % bytes.length;
        bytes.writeUInt8(bytes.readUInt8(index) ^ change, index);
        const read = decodeClaims(bytes);
        if (read !== undefined) assert.deepEqual(bytesOf(read), bytes);
      }),
      { numRuns: 2_000 },
    ));

  it('refuses every shorter and every longer run of bytes', () => {
    for (const { bytes } of POSITIVE) {
      const whole = Buffer.from(bytes, 'hex');
      for (let size = 0; size < whole.length; size += 1) assert.equal(decodeClaims(whole.subarray(0, size)), undefined);
      for (const rest of [[0], [0, 0], [0, 1, 0x61]]) {
        assert.equal(decodeClaims(Buffer.concat([whole, Buffer.from(rest)])), undefined);
      }
    }
  });

  it('refuses an origin or a target that is no site ID (D-52)', () => {
    for (const name of ['origin', 'target'] as const) {
      const bytes = present(bytesOf(claims({ [name]: siteId('site-no-1') })));
      assert.equal(decodeClaims(bytes)?.[name], 'site-no-1');
      bytes.write('site no 1', bytes.indexOf('site-no-1'));
      assert.equal(decodeClaims(bytes), undefined, name);
    }
  });

  it('reads bytes that lie within a larger buffer', () => {
    const bytes = present(bytesOf(claims()));
    const larger = new Uint8Array(bytes.length + 20);
    larger.set(bytes, 7);
    assert.deepEqual(decodeClaims(Buffer.from(larger.buffer, 7, bytes.length)), claims());
  });
});
