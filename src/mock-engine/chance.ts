// Chance that repeats: the same seed gives the same numbers, so that answers, vectors and failures are the same in every
// run of a test or demo.

import { createHash } from 'node:crypto';

/**
 * An endless row of numbers in [0, 1): xorshift32 (Marsaglia 2003) from the SHA-256 of the seed. For mocks, not for
 * secrets.
 */
export function seededNumbers(seed: string): () => number {
  // Zero is the one state that xorshift never leaves.
  let state = createHash('sha256').update(seed).digest().readUInt32BE(0) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
