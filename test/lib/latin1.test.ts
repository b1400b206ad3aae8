import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { latin1Text } from '../../src/lib/latin1.ts';

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte);

describe('latin1Text()', () => {
  it('is one character for each byte, whatever it is', () => {
    const text = latin1Text(EVERY_BYTE);
    assert.deepEqual(
      Array.from({ length: text.length }, (_, at) => text.charCodeAt(at)),
      [...EVERY_BYTE],
    );
  });

  it('begins and ends where it is told to, and no later than the bytes do', () => {
    const bytes = EVERY_BYTE.subarray(0x40);
    assert.equal(latin1Text(bytes, 1, 4), 'ABC');
    assert.equal(latin1Text(bytes, 0xbf, 1_000), 'ÿ');
    assert.equal(latin1Text(bytes, 4, 4), '');
  });
});
